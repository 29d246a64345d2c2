"""The Python of the outside judges has every package of scripts/judges.txt in its version, and imports them."""

import argparse
import pathlib
import subprocess
import sys

WANTED = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "judges.txt"
ASK = """
import importlib.metadata
import sys
import iree.compiler, iree.runtime, jaxlib.mlir.ir, ml_dtypes, numpy, safetensors, tokenizers
for line in sys.stdin:
    name = line.split("==")[0]
    try:
        print(name + "==" + importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        print(name + "==none")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True)
    python = parser.parse_args().python
    wanted = [line for line in WANTED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    try:
        done = subprocess.run([python, "-c", ASK], input="\n".join(wanted), capture_output=True, text=True, check=False)
    except OSError as error:
        return f"no judges: {python}: {error.strerror}; run scripts/get_judges.sh"
    if done.returncode != 0:
        return f"{python} does not import the judges; run scripts/get_judges.sh\n{done.stderr}"
    wrong = [f"{line}, found {found}" for line, found in zip(wanted, done.stdout.split()) if line != found]
    if wrong:
        return f"{python} has other versions; run scripts/get_judges.sh\n" + "\n".join(wrong)
    print(done.stdout, end="")
    return None


if __name__ == "__main__":
    sys.exit(main())
