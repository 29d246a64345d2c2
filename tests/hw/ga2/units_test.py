"""The benches of the chip's modules, in one simulator, with the golden vectors of requantizer and softmax; the decoder
prints the words of the golden programs as their listings."""

import json
import pathlib
import re

import rtl_case
from rtl_case import ARGUMENTS, ROOT, simulation

GOLDEN = ROOT / "tests" / "golden" / "ga2"
# Modules that are tried as a part of another.
PARTS = {"operand_lane": "operand_lanes", "systolic_row": "systolic_array"}


def write_vectors(cases, vectors):
    """What the benches read; returns the listing that the decoder should print."""
    vectors.mkdir(parents=True, exist_ok=True)
    units = json.loads((GOLDEN / "units.json").read_text(encoding="utf-8"))["expected"]
    table = {"exponent_table.txt": [[weight] for weight in units["softmax_table"]["value"]],
             "requantizer.txt": [[one[key] for key in ("acc", "m", "s", "relu", "q")]
                                 for one in units["requant"]["value"]],
             "softmax.txt": [[len(one["row"]), *one["row"], *one["p"]] for one in units["softmax"]["value"]]}
    for name, lines in table.items():
        text = "".join(" ".join(map(str, line)) + "\n" for line in lines)
        (vectors / name).write_text(text, encoding="ascii")

    simulation.run([ARGUMENTS.cases, GOLDEN, cases, 0])
    listing, words, refused = [], [], []
    for line in (cases / "cases.txt").read_text(encoding="ascii").splitlines():
        name = line.split()[0]
        program = (cases / name / "program.hex").read_text(encoding="ascii").split()
        if name.startswith("illegal"):
            refused.append(program[-1])
        elif (GOLDEN / f"{name}.json").exists():
            words += program
            golden = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
            listing += golden["expected"]["listing"]["value"]
    (vectors / "decoder.hex").write_text("\n".join(words) + "\n", encoding="ascii")
    (vectors / "refused.hex").write_text("\n".join(refused) + "\n", encoding="ascii")
    return listing


class UnitsTest(rtl_case.RtlTest):
    def test_every_module_has_a_bench(self):
        benches = {path.stem.removesuffix("_bench") for path in simulation.HERE.glob("bench/**/*_bench.sv")}
        modules = {path.stem for path in simulation.rtl()} - {"ga2"}
        self.assertEqual({PARTS.get(name, name) for name in modules} - benches, {"ga2_chip"})  # chip_bench

    def test_the_benches_find_nothing(self):
        self.need(ARGUMENTS.simulator)
        folder = pathlib.Path(ARGUMENTS.scratch)
        listing = write_vectors(folder / "cases", folder / "vectors")
        command = simulation.build_units(ARGUMENTS.simulator, folder / "build")
        printed = simulation.run([*command, f"+vectors={folder / 'vectors'}", f"+listing={folder / 'listing.txt'}"])
        faults = dict(re.findall(r"^bench (\w+) (\d+)$", printed, re.M))
        self.assertEqual(set(re.findall(r"^  (\w+)_bench ", self.top(), re.M)),
                         {re.sub(r"_\d+$", "", name) for name in faults})
        self.assertEqual(set(faults.values()), {"0"}, printed)
        self.assertEqual((folder / "listing.txt").read_text(encoding="ascii").splitlines(), listing)

    def top(self):
        return (simulation.HERE / "bench" / "units" / "unit_benches.sv").read_text(encoding="utf-8")


if __name__ == "__main__":
    rtl_case.main("simulator", "cases", "scratch")
