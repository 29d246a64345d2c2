"""The chip's source: no compiler warns about it, Yosys reads it and finds no latch and no net with two drivers, the
scratchpad stays a memory, and docs/ga2_chip.md has its cell counts (`--write` puts them there)."""

import pathlib
import re

import rtl_case
from rtl_case import ARGUMENTS, ROOT, simulation

PAGE = ROOT / "docs" / "ga2_chip.md"
TABLE = re.compile(r"(?<=<!-- cells -->\n).*?(?=<!-- end of cells -->)", re.S)
TOP = "ga2_chip"
SCRIPT = """read_verilog -sv {files}
hierarchy -check -top ga2_chip
proc; opt; memory -nomap; opt_clean
check -assert
select -assert-none t:$dlatch t:$adlatch t:$dlatchsr t:$sr
select -assert-count 1 scratchpad/t:$mem_v2
tee -q -o {statistics} stat -top ga2_chip"""


def synthesize(files, folder):
    """What Yosys counts; fails where it finds a fault."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "chip.ys"
    statistics = folder / "chip.stat"
    script.write_text(SCRIPT.format(files=" ".join(map(str, files)), statistics=statistics), encoding="ascii")
    simulation.run(["yosys", "-q", "-s", script])
    return statistics.read_text(encoding="utf-8")


def cells_by_module(statistics):
    """Name of a module, or of it with a parameter: its cells by type. Then the whole design as ``."""
    modules = {}
    for block in re.split(r"^=== ", statistics, flags=re.M)[1:]:
        name = block.split(" ===")[0]
        parametrized = re.fullmatch(r"\$paramod\\(\w+)\\(\w+)=s32'([01]+)", name)
        if parametrized:
            module, parameter, bits = parametrized.groups()
            name = f"{module} ({parameter} = {int(bits, 2)})"
        cells = re.findall(r"^ +(\S+) +(\d+)$", block[block.index("Number of cells"):], re.M)
        modules["" if name == "design hierarchy" else name] = {kind: int(count) for kind, count in cells}
    return modules


def table(modules):
    """The page's rows: cells of a module itself, without those of the modules in it."""
    names = {re.sub(r"\W.*", "", name) for name in modules}
    rows = ["| module | cells | of them registers | memories | adders, subtractors | multipliers | multiplexers |",
            "|---|---|---|---|---|---|---|"]

    def count(cells, *kinds):
        return sum(number for kind, number in cells.items() if re.fullmatch("|".join(kinds), kind))

    for name, cells in sorted(modules.items(), key=lambda entry: (entry[0] == "", entry[0])):
        own = {kind: number for kind, number in cells.items() if re.match(r"\$(?!paramod)", kind)}
        columns = [sum(own.values()), count(own, r"\$\w*dff\w*"), count(own, r"\$mem_v2"),
                   count(own, r"\$add", r"\$sub", r"\$neg", r"\$alu"), count(own, r"\$mul"), count(own, r"\$p?mux")]
        label = f"`{name}`" if name else "**the chip**"
        rows.append(f"| {label} | " + " | ".join(map(str, columns)) + " |")
    assert TOP in names
    return "\n".join(rows) + "\n"


class SourceTest(rtl_case.RtlTest):
    def test_verilator_does_not_warn(self):
        self.need("verilator")
        printed = simulation.run(["verilator", "--lint-only", "-Wall", "--top-module", TOP, *simulation.rtl()])
        self.assertEqual(printed, "")

    def test_icarus_does_not_warn(self):
        self.need("icarus")
        printed = simulation.run(["iverilog", "-g2012", "-Wall", "-t", "null", "-s", TOP, *simulation.rtl()])
        self.assertEqual(printed, "")

    def test_a_circuit_can_be_made(self):
        self.need("yosys")
        modules = cells_by_module(synthesize(simulation.rtl(), ARGUMENTS.scratch))
        self.assertEqual({re.sub(r"\W.*", "", name) for name in modules if name},
                         {path.stem for path in simulation.rtl()} - {"ga2"})
        self.assertEqual(TABLE.findall(PAGE.read_text(encoding="utf-8")), [table(modules)])

    def test_a_latch_and_two_drivers_are_found(self):
        self.need("yosys")
        file = "requantizer.sv"
        sign = "  assign negative = accumulator[31];\n"
        faults = {"Latch inferred": ("    else level = -{1'b0, clamped};\n", ""),
                  "conflicting driver": (sign, sign + "  assign negative = relu;\n")}
        for name, (old, new) in faults.items():
            with self.subTest(name):
                folder = pathlib.Path(ARGUMENTS.scratch) / "faulty"
                folder.mkdir(parents=True, exist_ok=True)
                text = (simulation.HERE / "rtl" / file).read_text(encoding="utf-8")
                self.assertEqual(text.count(old), 1)
                (folder / file).write_text(text.replace(old, new), encoding="utf-8")
                files = [folder / file if path.name == file else path for path in simulation.rtl()]
                with self.assertRaisesRegex(simulation.Failed, name):
                    synthesize(files, folder)


def write_table(folder):
    cells = table(cells_by_module(synthesize(simulation.rtl(), folder)))
    PAGE.write_text(TABLE.sub(lambda _: cells, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    rtl_case.main("scratch", write=write_table)
