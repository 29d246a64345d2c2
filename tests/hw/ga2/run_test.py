"""hw/ga2/run.py as docs/ga2_chip.md calls it: a graph from `capra ga2 compile` on the chip, and what it refuses."""

import pathlib
import subprocess
import sys

import rtl_case
from rtl_case import ARGUMENTS, ROOT

GRAPH = ROOT / "tests" / "golden" / "ga2" / "example_a.json"


class RunTest(rtl_case.RtlTest):
    def setUp(self):
        self.folder = pathlib.Path(ARGUMENTS.scratch)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program, self.external = self.folder / "program.hex", self.folder / "external.hex"
        subprocess.run([ARGUMENTS.driver, "ga2", "compile", GRAPH, "--output", self.program, "--memory", self.external],
                       check=True, stdout=subprocess.DEVNULL)

    def run_program(self, *arguments, code):
        done = subprocess.run([sys.executable, "-B", ROOT / "hw/ga2/run.py", *arguments], text=True, check=False,
                              capture_output=True)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="ascii")
        return path

    def test_a_graph_runs(self):
        self.need("icarus")
        printed = self.run_program(self.program, "--external", self.external, "--memories", code=0)
        # The published counters and outputs.
        self.assertIn("halted at 14\ntotal  484\nmm     204\ndma    159\nvec    91\nn_inst 14\n", printed)
        levels = [14, 12, 3, 14, -56, 62, 7, 24]
        for address, level in enumerate(levels, 104):
            self.assertIn(f"\next[{address}] {level % 2 ** 32:08x}\n", printed)

    def test_another_end_than_halt_is_1(self):
        self.need("icarus")
        self.assertNotIn("halted", self.run_program(self.write("illegal.hex", "f" + "0" * 31 + "\n"), code=1))

    def test_refusals(self):
        self.assertIn("this program uses external memory: give --external", self.run_program(self.program, code=2))
        self.assertIn("No such file", self.run_program(self.folder / "none.hex", code=2))
        self.assertIn("No such file", self.run_program(self.program, "--external", self.folder / "none.hex", code=2))
        self.assertIn("listing.lst:1: instructions of 32 hexadecimal digits are needed",
                      self.run_program(self.write("listing.lst", "HALT\n"), code=2))


if __name__ == "__main__":
    rtl_case.main("driver", "scratch")
