"""capra ga2 compile, run, asm and disasm on every golden graph, field by field."""

import re

import driver
from ga2_golden import Ga2Test, golden, golden_names, path_of

RUNS = [name for name in golden_names() if not name.startswith("refuse_")]
REFUSALS = [name for name in golden_names() if name.startswith("refuse_")]
# Numbers of which the files ask 12 digits; all others are compared as they are.
NEAR = ("outputs", "float_outputs", "rel_error")
# The cycles of each instruction, as docs/ga2.md has them.
CYCLES = {
    "LD": lambda f: 11 + f["len"],
    "ST": lambda f: 4 + f["len"],
    "MM": lambda f: 7 + f["M"] * f["K"] + f["K"] * f["N"] + f["M"] * f["N"] + f["K"] + f["M"] + f["N"],
    "RQ": lambda f: 4 + f["len"],
    "SM": lambda f: 49 + 3 * f["len"],
    "VADD": lambda f: 4 + 2 * f["len"],
    "AMAX": lambda f: 5 + f["len"],
    "UNPACK": lambda f: 4 + 9 * f["len"],
    "HALT": lambda f: 2,
}


def cycles(listing):
    total = 0
    for line in listing:
        mnemonic, *fields = line.split()
        total += CYCLES[mnemonic]({name: int(value) for name, value in (one.split("=") for one in fields)})
    return total


class GoldenTest(Ga2Test):
    def test_all_files_are_there(self):
        self.assertEqual((len(RUNS), len(REFUSALS)), (60, 20))

    def test_every_field_of_every_golden_graph(self):
        for name in RUNS:
            with self.subTest(graph=name):
                found = self.document("ga2", "compile", path_of(name))
                for key, entry in golden(name)["expected"].items():
                    value = entry["value"]
                    self.assertIn(key, found)
                    if key in ("ranges", "scale"):
                        self.assertEqual(list(found[key]), list(value))
                        for node, number in value.items():
                            self.assertLessEqual(abs(found[key][node] - number), 1e-12 * abs(number), (key, node))
                    elif key in NEAR:
                        self.assert_near(found[key], value, key)
                    elif key == "cycles":
                        self.assertEqual(found[key], cycles(found["listing"]))
                        if value is not None:  # UNPACK is in no published total
                            self.assertEqual(found[key], value)
                        if entry.get("by_op") is not None:
                            self.assertEqual(found["cycles_by_op"], entry["by_op"])
                    else:
                        self.assertEqual(found[key], value, key)
                self.assertEqual(found["counters"]["total"], found["cycles"])

    def test_every_refusal(self):
        for name in REFUSALS:
            with self.subTest(graph=name):
                expected = golden(name)["expected"]
                done = self.run_driver("ga2", "compile", path_of(name), code=driver.BAD)
                self.assertEqual(done.stdout, b"")
                message = re.match(r"error\[([a-z-]+)\]: (.*)\n", done.stderr)
                self.assertEqual(message.group(2), expected["message"]["value"])
                self.assertIn("\n  help: ", done.stderr)
                self.assertIn(f"{message.group(1)}: ", self.out("explain", message.group(1)))

    def test_outputs_and_counters_of_every_golden_graph(self):
        for name in RUNS:
            with self.subTest(graph=name):
                found = self.document("ga2", "run", path_of(name))
                expected = golden(name)["expected"]
                self.assert_near(found["outputs"], expected["outputs"]["value"], "outputs")
                self.assertEqual(found["cycles"], cycles(expected["listing"]["value"]))
                counters = found["counters"]
                self.assertEqual(counters["n_inst"], expected["instr_count"]["value"] - 1)
                self.assertEqual(counters["total"], counters["mm"] + counters["dma"] + counters["vec"] +
                                 2 * (counters["n_inst"] + 1))

    def test_every_golden_listing_comes_back(self):
        for name in RUNS:
            with self.subTest(graph=name):
                listing = golden(name)["expected"]["listing"]["value"]
                words = self.document("ga2", "asm", self.write("a.lst", "\n".join(listing)))["words"]
                for word in words:
                    self.assertRegex(word, r"^[0-9a-f]{32}$")
                back = self.document("ga2", "disasm", self.write("a.hex", "\n".join(words)))["listing"]
                self.assertEqual(back, listing)


if __name__ == "__main__":
    driver.main()
