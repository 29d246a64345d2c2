"""Every diagnostic code in use is listed once, sorted; every listed one is used and documented."""

import re

from repository import main, without_comments

TABLE = "capra/base/diagnostic_codes.cc"
PAGE = "docs/diagnostics.md"
CODE = r'"([a-z][a-z0-9]*(?:-[a-z0-9]+)+)"'
# A code is the first argument of fail(), error() or the like, or the first member of a Diagnostic.
USE = re.compile(r"(?:\b\w*(?:fail|error|refuse)\w*\s*\(|\bDiagnostic\s*\w*\s*\{|\.code\s*=)\s*" + CODE)


def check(repository, _):
    listed = re.findall(r"^\s*\{" + CODE + r",", repository.text(TABLE), re.M)
    if listed != sorted(listed):
        yield f"{TABLE}: the codes are not sorted"
    for code in sorted({c for c in listed if listed.count(c) > 1}):
        yield f"{TABLE}: {code} is listed twice"
    used, literals = {}, set()
    for path in repository.files("capra", "models", "tools", "python", suffixes={".h", ".cc"}):
        if str(path) == TABLE:
            continue
        text = without_comments(repository.text(path))
        literals.update(re.findall(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+", text))
        for match in USE.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            used.setdefault(match.group(1), f"{path}:{line}")
    for code, where in sorted(used.items()):
        if code not in listed:
            yield f"{where}: {code} is not in {TABLE}"
    for code in listed:
        if code not in literals:
            yield f"{TABLE}: {code} is used nowhere"
    page = repository.text(PAGE) if (repository.root / PAGE).exists() else ""
    described = re.findall(r"^### `([^`]+)`$", page, re.M)
    for code in listed:
        if code not in described:
            yield f"{PAGE}: {code} has no paragraph"
    for code in described:
        if code not in listed:
            yield f"{PAGE}: {code} is no code"
    for code, body in re.findall(r"^### `([^`]+)`\n(.*?)(?=^#|\Z)", page, re.M | re.S):
        if len(body.split()) < 8:
            yield f"{PAGE}: the paragraph of {code} says too little"


if __name__ == "__main__":
    main(check)
