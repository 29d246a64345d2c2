"""Every .cc is named in a CMakeLists.txt above it, so nothing is left out of the build in silence;
every source file opens by saying what is in it."""

import os
import re

from repository import main


def check(repository, _):
    named = set()
    for path in repository.files():
        if path.name == "CMakeLists.txt":
            for word in re.findall(r"[\w./${}-]+\.cc(?!\w)", repository.text(path)):
                _, from_root, below = word.rpartition("${PROJECT_SOURCE_DIR}/")
                named.add(os.path.normpath(below if from_root else path.parent / word))
    for path in repository.files("capra", "models", "tools", "tests", "bench", "python", suffixes={".cc"}):
        if "consumer" not in path.parts and path.name != "replay.cc" and str(path) not in named:
            yield f"{path}: no CMakeLists.txt names it"
    for path in repository.files("capra", "models", "tools", "tests", "bench", suffixes={".h", ".cc"}):
        if not repository.text(path).startswith(("//", "/*")):
            yield f"{path}: the first line does not say what is here"


if __name__ == "__main__":
    main(check)
