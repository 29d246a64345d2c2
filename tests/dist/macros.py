"""A macro is one of the three that everybody may use, or belongs to one file, which undefines it."""

import re

from repository import main, without_comments

# With what they are made of.
SHARED = {
    "capra/base/diagnostic.h": {"CAPRA_CHECK"},
    "capra/base/result.h": {"CAPRA_TRY", "CAPRA_ASSIGN", "CAPRA_ASSIGN_", "CAPRA_CONCAT", "CAPRA_CONCAT_"},
    # Which half of a kernel header is compiled: asked with #if, once for each instruction set.
    "capra/targets/cpu/kernels/vec.h": {"CAPRA_ISA_PORTABLE"},
}
# Guards of what is included once for each instruction set, and the settings of that library.
OTHER = re.compile(r"(?:HWY_\w+|CAPRA_\w+_H_)")
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(define|undef)[ \t]+(\w+)", re.M)


def check(repository, _):
    folders = ("capra", "models", "tools", "tests", "bench", "examples", "python")
    for path in repository.files(*folders, suffixes={".h", ".cc", ".inc", ".in"}):
        open_macros = {}
        text = without_comments(repository.text(path))
        for match in DIRECTIVE.finditer(text):
            kind, name = match.groups()
            if kind == "undef":
                open_macros.pop(name, None)
            elif name not in SHARED.get(str(path), ()) and not OTHER.fullmatch(name):
                open_macros[name] = text.count("\n", 0, match.start()) + 1
        for name, line in open_macros.items():
            yield f"{path}:{line}: {name} is not undefined at the end of the file"


if __name__ == "__main__":
    main(check)
