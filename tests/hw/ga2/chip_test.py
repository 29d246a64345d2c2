"""Programs on the chip, in one of its simulators: every golden graph with and without reuse of buffers and with the fast
schedule, the published battery, random programs over all instructions (`--programs`), and some that the chip must
refuse. What they leave in both memories and the five counters are those of the compiler's simulator; cycle totals are
those of the golden files and of the publication as well."""

import json
import pathlib
import re
import sys

import rtl_case
from rtl_case import ARGUMENTS, ROOT, simulation

GOLDEN = ROOT / "tests" / "golden" / "ga2"
# Of random graphs that have no golden file.
PUBLISHED_CYCLES = {106: 2600, 107: 1503, 108: 1183, 109: 770, 110: 1080, 111: 1339}


class ChipTest(rtl_case.RtlTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(ARGUMENTS.scratch)
        cls.folder.mkdir(parents=True, exist_ok=True)
        cls.command = None
        if simulation.is_installed(ARGUMENTS.simulator):
            simulation.run([ARGUMENTS.cases, GOLDEN, cls.folder, ARGUMENTS.programs])
            cls.expected = simulation.read_results(cls.folder / "expected.txt")
            cls.command = simulation.build_chip(ARGUMENTS.simulator, cls.folder / "build")

    def setUp(self):
        self.need(ARGUMENTS.simulator)

    def run_cases(self, cases, result, **options):
        return simulation.run_cases(self.command, self.folder, cases, self.folder / result, **options)

    def test_programs_leave_what_the_simulator_leaves(self):
        found = self.run_cases(self.folder / "cases.txt", "found.txt")
        self.assertEqual(list(found), list(self.expected))
        for name, expected in self.expected.items():
            with self.subTest(name):
                self.assertEqual(found[name], expected)
        self.check_golden_cycles(found)

    def check_golden_cycles(self, found):
        published = 0
        for path in sorted(GOLDEN.glob("*.json")):
            cycles = json.loads(path.read_text(encoding="utf-8"))["expected"]
            cycles = cycles.get("cycles") if isinstance(cycles, dict) else None
            if cycles is None or cycles["value"] is None:
                continue
            published += cycles["mark"] == "published"
            self.assertEqual(found[path.stem].counters[0], cycles["value"], path.stem)
        self.assertEqual(published, 12)
        for seed, cycles in PUBLISHED_CYCLES.items():
            self.assertEqual(found[f"fresh_seed_{seed}"].counters[0], cycles, seed)

    def test_a_memory_that_stalls_changes_cycles_alone(self):
        lines = (self.folder / "cases.txt").read_text(encoding="ascii").splitlines(keepends=True)
        # Icarus is slow.
        lines = lines[::5 if ARGUMENTS.simulator == "icarus" else 1]
        some = self.folder / "some.txt"
        some.write_text("".join(lines), encoding="ascii")
        for seed in (1, 2):
            found = self.run_cases(some, f"stalled_{seed}.txt", stalls=seed)
            self.assertEqual(len(found), len(lines))
            for name, result in found.items():
                with self.subTest(name, seed=seed):
                    self.check_stalled(result, self.expected[name])

    def test_a_user_runs_one_program(self):
        waves = self.folder / "waves.vcd"
        waves.unlink(missing_ok=True)
        example = self.folder / "example_a"
        printed = simulation.run([sys.executable, "-B", simulation.HERE / "run.py", example / "program.hex",
                                  "--external", example / "external.hex", "--simulator", ARGUMENTS.simulator,
                                  "--memories", "--waves", waves, "--build", self.folder / "build"])
        expected = self.expected["example_a"]
        lines = printed.splitlines()
        self.assertEqual(lines[0], expected.end)
        self.assertEqual([line.split() for line in lines[1:6]],
                         [[name, str(count)] for name, count in
                          zip(("total", "mm", "dma", "vec", "n_inst"), expected.counters)])
        self.assertEqual(lines[6:], [f"spad[{address}] {word}" for address, word in expected.scratchpad.items()] +
                         [f"ext[{address}] {word}" for address, word in expected.external.items()])
        signals = set(re.findall(r"\$var \S+ +\d+ \S+ (\w+)", waves.read_text(encoding="ascii")))
        self.assertLessEqual({"clock", "program_counter", "count_total", "read_address", "sum_3"}, signals)

    def test_what_does_not_fit_is_refused(self):
        for name, option, lines in (("program", "program", 0), ("external", "--external", 8193)):
            path = self.folder / f"{name}_beyond.hex"
            path.write_text("00000000\n" * lines, encoding="ascii")
            program = path if option == "program" else self.folder / "example_a" / "program.hex"
            with self.assertRaisesRegex(simulation.Failed, f"{path} has {lines} lines; "):
                simulation.run([sys.executable, "-B", simulation.HERE / "run.py", program, "--external", path])

    def check_stalled(self, found, expected):
        self.assertEqual(found._replace(counters=()), expected._replace(counters=()))
        total, matrix, transfer, vector, instructions = found.counters
        self.assertEqual((matrix, vector, instructions), expected.counters[1:2] + expected.counters[3:])
        self.assertEqual(total - transfer, expected.counters[0] - expected.counters[2])
        # One cycle in four stalls: none of a short transfer may.
        slack = 1 if expected.counters[2] >= 100 else 0
        self.assertGreaterEqual(transfer, expected.counters[2] + slack)


if __name__ == "__main__":
    rtl_case.main("simulator", "cases", "programs", "scratch")
