"""Builds the chip's benches with Icarus or Verilator, and runs programs on the chip."""

import collections
import os
import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
SIMULATORS = ("icarus", "verilator")
PROGRAMS = {"icarus": "iverilog", "verilator": "verilator", "yosys": "yosys"}


class Failed(Exception):
    """A tool failed; the text is what it printed."""


def is_installed(tool):
    return shutil.which(PROGRAMS[tool]) is not None


def rtl():
    """The chip's files, the package first."""
    return sorted(HERE.glob("rtl/*.sv"), key=lambda path: (path.name != "ga2.sv", path.name))


def run(command, **options):
    """Runs a command; returns all that it printed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{command[0]} failed ({done.returncode}):\n{done.stdout[-4000:]}")
    return done.stdout


def build(simulator, top, benches, folder, *flags):
    """Compiles the bench `top`, made of these files of bench/ and the chip; returns the command that runs it. A warning
    of either compiler is a failure. `flags` are Verilator's."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = rtl() + [HERE / "bench" / name for name in benches]
    if simulator == "icarus":
        program = folder / f"{top}.vvp"
        printed = run(["iverilog", "-g2012", "-Wall", "-s", top, "-o", program, *files])
        if printed:
            raise Failed(f"iverilog warns:\n{printed}")
        return ["vvp", program]
    environment = dict(os.environ)
    if shutil.which("ccache"):
        environment["OBJCACHE"] = "ccache"
    # That a bench leaves bits unread is no fault.
    run(["verilator", "--binary", "--timing", "-Wall", "-Wno-UNUSEDSIGNAL", "-O3", *flags, "--top-module", top,
         "--Mdir", folder / top, "-o", top, *files], env=environment)
    return [folder / top / top]


def build_chip(simulator, folder):
    return build(simulator, "chip_bench", ["external_memory.sv", "chip_bench.sv"], folder, "--trace")


def build_units(simulator, folder):
    units = sorted(path.relative_to(HERE / "bench") for path in HERE.glob("bench/units/*.sv"))
    return build(simulator, "unit_benches", ["external_memory.sv", *units], folder)


Result = collections.namedtuple("Result", "end counters scratchpad external")
Result.__doc__ = """What a program left: how it stopped (`halted at 14`), the five counters, and of both memories the
words that are not 0, by address."""


def read_results(path):
    """What chip_bench.sv writes, by the name of the case."""
    results = {}
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        kind, rest = line.split(" ", 1)
        if kind == "case":
            name = rest
        elif kind in ("s", "e"):
            address, word = rest.split()
            memory = results[name].scratchpad if kind == "s" else results[name].external
            memory[int(address)] = word
        elif kind == "counters":
            results[name] = Result(end, tuple(int(count) for count in rest.split()), {}, {})
        else:
            end = line
    return results


def size_in_bench(name):
    """A size that the bench of the whole chip has."""
    text = (HERE / "bench" / "chip_bench.sv").read_text(encoding="ascii")
    return int(re.search(rf"localparam int {name} = (\d+);", text).group(1))


def run_cases(command, folder, cases, result, stalls=0, waves=None):
    """Runs the cases that the file `cases` lists on a bench that build_chip made."""
    arguments = [f"+folder={folder}", f"+cases={cases}", f"+result={result}"]
    if stalls:
        arguments.append(f"+stalls={stalls}")
    if waves:
        arguments.append(f"+waves={waves}")
    run([*command, *arguments])
    return read_results(result)
