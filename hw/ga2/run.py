#!/usr/bin/env python3
"""Runs one program on the chip and prints how it ended, the five counters and, if asked, the memories.

The program is a file of 128-bit instructions, one a line in hexadecimal; external memory is one of 32-bit words."""

import argparse
import pathlib
import shutil
import tempfile

import simulation


def count_lines(path):
    """Lines that hold a word; `//` begins a comment."""
    return sum(1 for line in path.read_text(encoding="ascii").splitlines() if line.split("//")[0].strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--external", type=pathlib.Path, help="external memory; without it there is none")
    parser.add_argument("--simulator", choices=simulation.SIMULATORS, default="icarus")
    parser.add_argument("--stalls", type=int, default=0, metavar="SEED", help="the external memory stalls at random")
    parser.add_argument("--waves", type=pathlib.Path, metavar="FILE", help="write a VCD")
    parser.add_argument("--memories", action="store_true", help="print every word that is not 0")
    parser.add_argument("--build", type=pathlib.Path, metavar="FOLDER", help="compile there, and keep it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        case = scratch / "program"
        case.mkdir()
        shutil.copy(arguments.program, case / "program.hex")
        words = 0
        if arguments.external:
            shutil.copy(arguments.external, case / "external.hex")
            words = count_lines(arguments.external)
        instructions = count_lines(arguments.program)
        for path, count, least, size in ((arguments.program, instructions, 1, "PROGRAM_WORDS"),
                                         (arguments.external, words, 0, "EXTERNAL_WORDS")):
            most = simulation.size_in_bench(size)
            if not least <= count <= most:
                parser.error(f"{path} has {count} lines; {least} to {most} are needed")
        cases = scratch / "cases.txt"
        cases.write_text(f"program {instructions} {words}\n", encoding="ascii")
        command = simulation.build_chip(arguments.simulator, arguments.build or scratch / "build")
        waves = arguments.waves.resolve() if arguments.waves else None
        results = simulation.run_cases(command, scratch, cases, scratch / "result.txt", arguments.stalls, waves)
    result = results["program"]
    print(result.end)
    for name, count in zip(("total", "mm", "dma", "vec", "n_inst"), result.counters):
        print(f"{name:7}{count}")
    if arguments.memories:
        for name, memory in (("spad", result.scratchpad), ("ext", result.external)):
            for address, word in memory.items():
                print(f"{name}[{address}] {word}")


if __name__ == "__main__":
    main()
