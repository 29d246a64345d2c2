"""Kernels leak no weak symbols: the linker could otherwise pick a copy compiled for a newer CPU."""

import subprocess
import sys

from repository import main


def check(_, arguments):
    done = subprocess.run(["nm", "--defined-only", "--print-file-name", arguments.archive],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield done.stderr.strip()
        return
    symbols = 0
    for line in done.stdout.splitlines():
        fields = line.split()
        if len(fields) < 3:
            continue
        symbols += 1
        where, kind, name = fields[0], fields[-2], fields[-1]
        if kind in "VvWw" and not name.startswith("DW.ref."):
            yield f"{where.split(':')[-2]}: weak symbol {name}"
    if symbols == 0:
        yield f"{arguments.archive}: no symbols at all"
    print(f"{symbols} symbols", file=sys.stderr)


if __name__ == "__main__":
    main(check, archive="the static library to look into")
