"""Runs an example and compares what it prints with the committed text."""

import argparse
import difflib
import os
import pathlib
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--program", required=True)
parser.add_argument("--expected", required=True, type=pathlib.Path)
parser.add_argument("--checkpoint", action="store_true", help="the folder of all-MiniLM-L6-v2 is its argument")
parser.add_argument("arguments", nargs="*", help="of the program")
arguments = parser.parse_args()

command = [arguments.program, *arguments.arguments]
if arguments.checkpoint:
    cache = os.environ.get("CAPRA_CACHE") or pathlib.Path.home() / ".cache" / "capra"
    command.append(os.environ.get("CAPRA_TEST_MODEL") or str(pathlib.Path(cache, "models", "all-MiniLM-L6-v2")))
done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
expected = arguments.expected.read_text(encoding="utf-8")
sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), done.stdout.splitlines(True), "expected", "printed"))
sys.exit(done.returncode or done.stdout != expected)
