#!/usr/bin/env python3
"""Runs one program on the chip and prints how it ended, the five counters and, if asked, the memories. Ends with 1 where
the chip stopped otherwise than by HALT.

The program is a file of 128-bit instructions, one a line in hexadecimal; external memory is one of 32-bit words."""

import argparse
import pathlib
import re
import sys
import tempfile

import simulation


LOADS_AND_STORES = ("1", "2")  # the top digit of LD and ST


def read_words(parser, path, digits, what):
    """Lines that hold a word of so many hexadecimal digits; `//` and `#` begin a comment."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        parser.error(f"{path}: {getattr(error, 'strerror', None) or 'is no text'}")
    words = [re.sub(r"[ \t_]", "", re.split("//|#", line)[0]) for line in lines]
    for number, word in enumerate(words, 1):
        if word and not re.fullmatch(rf"[0-9a-fA-F]{{1,{digits}}}", word):
            parser.error(f"{path}:{number}: {what} of {digits} hexadecimal digits are needed, one a line; "
                         "capra ga2 asm makes words of a listing")
    return [word.lower().zfill(digits) for word in words if word]


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
    program = read_words(parser, arguments.program, 32, "instructions")
    instructions = len(program)
    external = read_words(parser, arguments.external, 8, "words") if arguments.external else []
    if not arguments.external and any(word.startswith(LOADS_AND_STORES) for word in program):
        parser.error("this program uses external memory: give --external")
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        case = scratch / "program"
        case.mkdir()
        (case / "program.hex").write_text("\n".join(program) + "\n", encoding="ascii")
        words = 0
        if arguments.external:
            (case / "external.hex").write_text("\n".join(external) + "\n", encoding="ascii")
            words = len(external)
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
    return 0 if result.end.startswith("halted") else 1


if __name__ == "__main__":
    sys.exit(main())
