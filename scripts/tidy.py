#!/usr/bin/env python3
"""Runs clang-tidy-19 over the files of a build within a time budget.

Files changed most recently come first, so a short budget is spent where faults are likely; the output
says how many files were looked at and how many were not.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def changed_last(files):
    """Files by the time of their last commit, newest first."""
    log = subprocess.run(["git", "log", "--format=", "--name-only", "-n", "200"], cwd=ROOT,
                         capture_output=True, text=True, check=False).stdout.split("\n")
    age = {}
    for name in log:
        if name:
            age.setdefault(name, len(age))
    return sorted(files, key=lambda f: (age.get(f, len(age)), f))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="a configured build folder made with clang")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds; unbounded by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", help="only these, paths from the root")
    arguments = parser.parse_args()
    program = shutil.which("clang-tidy-19")
    if program is None:
        sys.exit("clang-tidy-19 is not installed")

    database = pathlib.Path(arguments.build) / "compile_commands.json"
    if not database.is_file():
        sys.exit(f"{database} is not there: run cmake --preset clang -DCAPRA_TESTS=ON first")
    commands = json.loads(database.read_text())
    files = set()
    for command in commands:
        path = pathlib.Path(command["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(ROOT / "build"):
            relative = path.relative_to(ROOT)
            if relative.parts[0] in ("capra", "models", "tools"):
                files.add(str(relative))
    if arguments.files:
        files &= set(arguments.files)
    waiting = changed_last(files)
    total, failed, done, lock = len(waiting), 0, 0, threading.Lock()
    deadline = time.monotonic() + arguments.budget

    def work():
        nonlocal failed, done
        while True:
            with lock:
                if not waiting or time.monotonic() > deadline:
                    return
                file = waiting.pop(0)
            result = subprocess.run([program, "--quiet", "-p", arguments.build, file], cwd=ROOT,
                                    capture_output=True, text=True, check=False)
            with lock:
                done += 1
                if result.returncode != 0:
                    failed += 1
                    print(result.stdout + "".join(
                        line + "\n" for line in result.stderr.splitlines() if "error" in line), flush=True)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for future in [pool.submit(work) for _ in range(arguments.jobs)]:
            future.result()
    print(f"clang-tidy: {done} of {total} files looked at, {failed} with findings")
    sys.exit(1 if failed or done == 0 else 0)


if __name__ == "__main__":
    main()
