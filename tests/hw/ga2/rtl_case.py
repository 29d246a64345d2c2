"""What the tests of the chip share: its tools must be there in CI, and where things are."""

import argparse
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "hw" / "ga2"))
import simulation  # noqa: E402

ARGUMENTS = argparse.Namespace()


class RtlTest(unittest.TestCase):
    maxDiff = 4000

    def need(self, *tools):
        for tool in tools:
            if not simulation.is_installed(tool):
                if os.environ.get("CI"):
                    self.fail(f"no {tool}; scripts/install_packages.sh --ci installs it")
                self.skipTest(f"no {tool} on this machine")


def main(*options, write=None):
    """Runs the tests of the program; `options` are what it must be given. `write`, where it is there, is called by
    --write in their place."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    for option in options:
        parser.add_argument(f"--{option}", required=not any(word.startswith("--write") for word in sys.argv))
    if write is not None:
        parser.add_argument("--write", metavar="FOLDER", help="write the table of the page; Yosys works in the folder")
    parser.parse_args(namespace=ARGUMENTS)
    if write is not None and ARGUMENTS.write:
        return write(ARGUMENTS.write)
    unittest.main(argv=sys.argv[:1], verbosity=2)
