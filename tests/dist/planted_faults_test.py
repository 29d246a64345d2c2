"""The checks of this folder find what they look for: each is run on a small tree with faults in it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

CLEAN = {
    ".clang-format": (HERE.parents[1] / ".clang-format").read_text(encoding="utf-8"),
    "CMakeLists.txt": "add_library(capra capra/base/diagnostic_codes.cc)\n",
    "capra/base/diagnostic_codes.cc": '// Codes.\nCode kCodes[] = {\n    {"file-not-found", "a file is missing"},\n};\n',
    "capra/base/CMakeLists.txt": "capra_sources(base diagnostic_codes.cc read.cc)\n",
    "capra/base/read.cc": '// Reads.\nint f() { return fail("file-not-found", "x"); }\n',
    "docs/diagnostics.md": "### `file-not-found`\nThe named file does not exist; check the folder's path.\n",
}

# Check, files to add or replace, the text a finding must have.
FAULTS = [
    ("include_order", {"capra/ir/a.h": "// A.\n#include \"capra/base/b.h\"\n"}, "is not a path"),
    ("include_order", {"capra/ir/a.h": "// A.\n#include \"capra/ops/b.h\"\n", "capra/ops/b.h": "// B.\n"},
     "ir may not include capra/ops/b.h"),
    ("include_order", {"capra/nn/a.h": "// A.\n#include \"models/b.h\"\n", "models/b.h": "// B.\n"},
     "the library may not include"),
    ("include_order", {"capra/interp/a.h": "// A.\n#include \"capra/passes/b.h\"\n",
                       "capra/passes/b.h": "// B.\n"}, "interp may not include"),
    ("include_order", {"capra/targets/c/a.cc": "// A.\n#include \"capra/targets/onnx/b.h\"\n",
                       "capra/targets/onnx/b.h": "// B.\n"}, "target c may not include"),
    ("include_order", {"capra/passes/a.cc": "// A.\nint on_avx512 = 1;\n"}, "may name a machine"),
    ("include_order", {"capra/mystery/a.cc": "// A.\n"}, "is no room"),
    ("include_order", {"capra/io/a.h": "// A.\n#include <nlohmann/json.hpp>\n"}, "not in a header"),
    ("include_order", {"tools/a.cc": "// A.\n#include <CLI/CLI.hpp>\n",
                       "tools/b.cc": "// B.\n#include <CLI/CLI.hpp>\n"}, "CLI is included by 2 files"),
    ("include_order", {"capra/base/a.h": "// A.\n#include <fmt/format.h>\n"}, "not in a header"),
    ("include_order", {"capra/targets/cpu/a.cc": "// A.\n#include <hwy/highway.h>\n"}, "belongs in"),
    ("diagnostic_codes", {"capra/io/a.cc": '// A.\nint g() { return fail("no-such-code", "x"); }\n'},
     "no-such-code is not in"),
    ("diagnostic_codes", {"capra/base/read.cc": "// Reads.\n"}, "file-not-found is used nowhere"),
    ("diagnostic_codes", {"docs/diagnostics.md": "# Diagnostics\n"}, "has no paragraph"),
    ("diagnostic_codes", {"docs/diagnostics.md": "### `file-not-found`\nNo.\n"}, "says too little"),
    ("sizes", {"capra/base/long.cc": "// Long.\n" * 501}, "501 lines"),
    ("sizes", {"capra/base/long.inc": "// Long.\n" * 501}, "501 lines"),
    ("sizes", {"tests/ops/long.tir": "# Long.\n" * 501}, "501 lines"),
    ("sizes", {f"capra/base/f{i}.h": "// F.\n" for i in range(26)}, "capra/base/: "),
    ("sizes", {f"top{i}/f.h": "// F.\n" for i in range(13)}, "folders at the top"),
    ("sizes", {"tests/dist/size_exceptions.txt": "capra/base/read.cc: a long reason here\n"},
     "needs no exception"),
    ("names", {"capra/base/string_utils.cc": "// S.\n"}, "the name says nothing"),
    ("names", {"capra/base/a.h": "// A.\nclass GraphManager {};\n"}, "type GraphManager"),
    ("names", {"capra/base/CamelCase.cc": "// A.\n"}, "snake_case"),
    ("macros", {"capra/base/a.cc": "// A.\n#define TWICE(x) x, x\n"}, "TWICE is not undefined"),
    ("macros", {"capra/base/a.inc": "#undef LATE\n#define LATE 1\n"}, "LATE is not undefined"),
    ("product_text", {"docs/a.md": "See /ro" + "ot/x for it.\n"}, "a path of one machine"),
    ("product_text", {"docs/a.md": "Fixed in issue #" + "12.\n"}, "an issue number"),
    ("product_text", {"capra/base/a.cc": "// TO" + "DO: finish.\n"}, "unfinished work"),
    ("product_text", {"capra/base/a.inc": "// TO" + "DO: finish.\n"}, "unfinished work"),
    ("product_text", {"docs/a.lock": "from pypi" + ".org\n"}, "a registry host"),
    ("product_text", {".github/a.yml": "# FIX" + "ME later\n"}, "unfinished work"),
    ("product_text", {"tests/fuzz/corpus/a": "/ro" + "ot/x\n"}, "a path of one machine"),
    ("product_text", {"tests/dist/product_text.py": "nothing\n"}, "needs no exception"),
    ("product_text", {"scripts/a.sh": "curl https://pypi" + ".org/simple\n"}, "a registry host"),
    ("listed_sources", {"capra/base/lost.cc": "// Lost.\n"}, "no CMakeLists.txt names it"),
    ("listed_sources", {"capra/base/a.h": "#pragma once\n"}, "first line"),
    ("format", {"capra/base/read.cc": "// Reads.\nint   f( )  {return 1;}\n"}, "not formatted"),
]


def run(check, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, "-B", HERE / f"{check}.py", "--root", folder],
                              capture_output=True, text=True, check=False)


class PlantedFaults(unittest.TestCase):
    def test_clean_tree_has_no_findings(self):
        for check in sorted({check for check, _, _ in FAULTS}):
            with self.subTest(check):
                done = run(check, CLEAN)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_each_fault_is_found(self):
        for check, files, expected in FAULTS:
            with self.subTest(check=check, fault=sorted(files)):
                done = run(check, CLEAN | files)
                if "skipped" in done.stdout:
                    continue
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(expected, done.stdout)


if __name__ == "__main__":
    unittest.main()
