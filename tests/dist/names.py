"""File and type names say what is in them: none of the words that could name anything."""

import re

from repository import main, without_comments

BANNED = re.compile(r"(?:^|_)(util|utils|helper|helpers|misc|common|manager|impl)(?:_|$)")
BANNED_TYPE = re.compile(r"(?:Util|Utils|Helper|Helpers|Misc|Common|Manager|Impl)(?![a-z])")
TYPE = re.compile(r"^\s*(?:template\s*<.*>\s*)?(?:class|struct|enum class|using)\s+(?:\[\[\w+\]\]\s+)?(\w+)", re.M)
# A term of art, not a container of leftovers.
ALLOWED = re.compile(r"common_?subexpressions?", re.IGNORECASE)


def check(repository, _):
    for path in repository.files():
        for part in path.with_suffix("").parts:
            if BANNED.search(ALLOWED.sub("x", part.lower())):
                yield f"{path}: the name says nothing"
        if path.parts[0] in ("capra", "models", "tools", "tests"):
            if path.suffix in (".h", ".cc", ".py") and not re.fullmatch(r"[a-z0-9_]+", path.stem):
                yield f"{path}: file names are snake_case"
    for path in repository.files("capra", "models", "tools", "tests", suffixes={".h", ".cc"}):
        for name in TYPE.findall(without_comments(repository.text(path))):
            if BANNED_TYPE.search(ALLOWED.sub("X", name)):
                yield f"{path}: type {name} says nothing"


if __name__ == "__main__":
    main(check)
