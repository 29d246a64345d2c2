"""Soft limits: 500 lines a text file, 25 files a folder, 12 folders at the top; exceptions give a reason."""

import collections

from repository import main

EXCEPTIONS = "tests/dist/size_exceptions.txt"
MAX_LINES, MAX_FILES, MAX_FOLDERS = 500, 25, 12


def check(repository, _):
    exceptions = repository.read_list(EXCEPTIONS)
    needed = set()
    folders = collections.Counter()
    for path in repository.files():
        folders[str(path.parent)] += 1
        if "generated" not in path.parts and repository.is_text(path):
            lines = repository.text(path).count("\n")
            if lines > MAX_LINES:
                needed.add(str(path))
                if str(path) not in exceptions:
                    yield f"{path}: {lines} lines, {MAX_LINES} are where one stops and thinks"
    for folder, count in sorted(folders.items()):
        if count > MAX_FILES and "corpus" not in folder and "generated" not in folder:
            needed.add(folder)
            if folder not in exceptions:
                yield f"{folder}/: {count} files, {MAX_FILES} are where one stops and thinks"
    top = sorted({path.parts[0] for path in repository.files() if len(path.parts) > 1})
    visible = [name for name in top if not name.startswith(".")]
    if len(visible) > MAX_FOLDERS:
        yield f"{len(visible)} folders at the top, {MAX_FOLDERS} are the limit: {' '.join(visible)}"
    for name, reason in exceptions.items():
        if name not in needed:
            yield f"{EXCEPTIONS}: {name} needs no exception"
        if len(reason.split()) < 3:
            yield f"{EXCEPTIONS}: {name} has no reason"


if __name__ == "__main__":
    main(check)
