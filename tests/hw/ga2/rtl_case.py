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


def main(*options):
    """Runs the tests of the program; `options` are what it must be given."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    for option in options:
        parser.add_argument(f"--{option}", required=True)
    parser.parse_args(namespace=ARGUMENTS)
    unittest.main(argv=sys.argv[:1], verbosity=2)
