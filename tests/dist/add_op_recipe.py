"""Adds an op to a copy of the tree exactly as CONTRIBUTING.md says, builds the copy, runs what is
generated for the op, and counts the files."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

from repository import Repository

OP = "softsign"
RESULTS = pathlib.Path("tests/targets/stablehlo/conformance.json")
NEW_FILE = re.compile(r"^New file `([^`]+)`[^\n]*:\n\n```\w*\n(.*?)^```$", re.M | re.S)
NEW_LINE = re.compile(r"^New line in `([^`]+)`, after `([^`]+)`:\n\n```\w*\n([^\n]+)\n```$", re.M)


def run(*command, cwd, check=True, **variables):
    print("+", " ".join(map(str, command)), flush=True)
    # A person at the keyboard, also when the test itself runs in CI.
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | variables
    done = subprocess.run(list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True,
                          check=False)
    if check and done.returncode != 0:
        sys.exit(f"exit {done.returncode}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}")
    return done


def expect(condition, text):
    if not condition:
        sys.exit(f"add_op_recipe: {text}")


def copy_tree(repository, tree):
    """Brings the copy up to date and keeps the times of files that are the same, for the build's sake."""
    wanted = {p for p in repository.files() if p.parts[0] != "build"}
    for path in [p for p in tree.rglob("*") if p.is_file()]:
        relative = path.relative_to(tree)
        if relative.parts[0] != "build" and relative not in wanted:
            path.unlink()
    for path in wanted:
        source, target = repository.root / path, tree / path
        if not target.exists() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("root", "scratch", "compiler", "cmake", "tokenizers", "judges"):
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    repository = Repository(arguments.root)
    tree = pathlib.Path(arguments.scratch) / "tree"
    tree.mkdir(parents=True, exist_ok=True)

    expect(not any(OP in str(p) for p in repository.files("capra", "tests", "docs")), f"{OP} exists already")
    page = repository.text("CONTRIBUTING.md")
    files, lines = NEW_FILE.findall(page), NEW_LINE.findall(page)
    expect(sorted(f for f, _ in files) ==
           [f"capra/ops/{OP}.cc", f"capra/ops/{OP}.h", f"tests/ops/{OP}.tir"],
           f"not 2 new files and 1 golden file: {[f for f, _ in files]}")
    expect(len(lines) == 2, f"not 2 lines: {lines}")

    copy_tree(repository, tree)
    before = {p: (tree / p).read_bytes() for p in Repository(tree).files() if p.parts[0] != "build"}
    for path, text in files:
        (tree / path).write_text(text, encoding="utf-8")
    for path, after, line in lines:
        text = (tree / path).read_text(encoding="utf-8")
        expect(text.count(f"\n{after}\n") == 1, f"{path} has no line {after!r}")
        (tree / path).write_text(text.replace(f"\n{after}\n", f"\n{after}\n{line}\n"), encoding="utf-8")

    build = tree / "build" / "release"
    run(arguments.cmake, "-S", tree, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}", "-DCAPRA_WERROR=ON", "-DCAPRA_TESTS=ON",
        f"-DCAPRA_TOKENIZERS={arguments.tokenizers}", cwd=tree)
    run(arguments.cmake, "--build", build, "--target", "capra_driver", "golden", "conformance_test",
        "program_cases", cwd=tree)

    # What a person does by hand: bless, look, and see that it holds.
    golden = tree / "tests" / "ops" / f"{OP}.tir"
    run(build / "bin" / "golden", "--bless", golden, cwd=tree)
    run(build / "bin" / "golden", golden, cwd=tree)
    blessed = golden.read_text(encoding="utf-8")
    for part in (f"= {OP} %x : f32[tokens, 4]", "= abs %", "= add %", "= div %", "y : f64[]"):
        expect(part in blessed, f"the blessed text lacks {part!r}:\n{blessed}")

    # What the record gives by itself.
    run(build / "bin" / "capra", "docs", "--conformance", RESULTS, cwd=tree)
    operator_page = tree / "docs" / "generated" / "ops" / f"{OP}.md"
    expect(operator_page.exists(), "no operator page was written")
    expect("x / (1 + |x|)" in operator_page.read_text(encoding="utf-8"), "the page lacks the formula")
    listed = run(build / "bin" / "capra", "ops", cwd=tree).stdout
    expect(OP in listed, "capra ops does not list it")
    conformance = run(build / "tests" / "conformance_test", f"--gtest_filter=*{OP}*", cwd=tree).stdout
    ran = re.search(r"\[  PASSED  \] (\d+) test", conformance)
    expect(ran and int(ran.group(1)) > 0, f"no conformance case ran for it:\n{conformance}")

    # Without a row in the StableHLO target it is written as its decomposition, and IREE agrees with the oracle.
    if arguments.judges != "OFF":
        judged = run(arguments.judges, "-B", tree / RESULTS.with_name("conformance_test.py"), "--cases",
                     build / "bin" / "program_cases", "--write", OP, cwd=tree,
                     PYTHONPATH=str(tree / "tests" / "judges")).stdout
        agree = re.search(r"(\d+) cases agree with the oracle, 0 are listed, 0 failures", judged)
        expect(agree and int(agree.group(1)) > 0, f"IREE ran no case of it:\n{judged}")
        expect(OP in (tree / RESULTS).read_text(encoding="utf-8"), f"{RESULTS} lacks its results")

    after = {p: (tree / p).read_bytes() for p in Repository(tree).files() if p.parts[0] != "build"}

    def by_hand(path):
        return not path.is_relative_to("docs/generated") and path != RESULTS

    new = sorted(str(p) for p in after.keys() - before.keys() if by_hand(p))
    edited = sorted(str(p) for p in before if p in after and before[p] != after[p] and by_hand(p))
    expect(new == sorted(f for f, _ in files), f"new files: {new}")
    expect(edited == ["capra/ops/CMakeLists.txt", "capra/ops/all_ops.cc"], f"edited files: {edited}")
    added = sum(after[pathlib.Path(p)].count(b"\n") - before[pathlib.Path(p)].count(b"\n") for p in edited)
    expect(added == 2, f"{added} lines were added to existing files")
    print(f"{len(new)} new files, {added} lines in {len(edited)} others, "
          f"{ran.group(1)} conformance cases, page and golden text as the record says")


if __name__ == "__main__":
    main()
