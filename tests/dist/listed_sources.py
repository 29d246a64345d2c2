"""Every .cc is named in a CMakeLists.txt above it, so nothing is left out of the build in silence;
every source file opens by saying what is in it."""

import re

from repository import main


def check(repository, _):
    lists = {path: repository.text(path) for path in repository.files() if path.name == "CMakeLists.txt"}
    for path in repository.files("capra", "models", "tools", "tests", "python", suffixes={".cc"}):
        if "consumer" in path.parts or str(path) == "tests/fuzz/replay.cc":
            continue
        named = False
        for folder in path.parents:
            text = lists.get(folder / "CMakeLists.txt", "")
            relative = path.relative_to(folder).as_posix()
            if re.search(r"(?<![\w/])" + re.escape(relative) + r"(?![\w])", text):
                named = True
        if not named:
            yield f"{path}: no CMakeLists.txt names it"
    for path in repository.files("capra", "models", "tools", "tests", suffixes={".h", ".cc"}):
        if not repository.text(path).startswith(("//", "/*")):
            yield f"{path}: the first line does not say what is here"


if __name__ == "__main__":
    main(check)
