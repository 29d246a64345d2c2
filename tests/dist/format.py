"""clang-format leaves every C++ file as it is."""

import os
import shutil
import subprocess

from repository import main


def check(repository, _):
    program = shutil.which("clang-format-19")
    if program is None:
        if os.environ.get("CI"):
            yield "clang-format-19 is not installed"
        else:
            print("skipped: no clang-format-19")
        return
    files = [str(p) for p in repository.files("capra", "models", "tools", "tests", "examples", "bench", "python",
                                             suffixes={".h", ".cc"})]
    for start in range(0, len(files), 50):
        done = subprocess.run([program, "--dry-run", *files[start:start + 50]], cwd=repository.root,
                              capture_output=True, text=True, check=False)
        wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines()
                        if "-Wclang-format-violations" in line})
        if done.returncode != 0 and not wrong:
            yield done.stderr.strip()
        for path in wrong:
            yield f"{path}: not formatted (clang-format-19 -i {path})"


if __name__ == "__main__":
    main(check)
