"""Random graphs, written by random_cases: jaxlib verifies the programs, and IREE computes each element within the
interval that bounds of the single ops, carried through the graph, leave for it. A module that does not compile is
halved until the graph is found. In the place of a graph that is listed another is judged."""

import argparse
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import iree_program  # noqa: E402
import jaxlib_module  # noqa: E402
import tensor_file  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Unsupported:
    """What IREE does not compile: its message, the cause, and seeds whose graphs fail the test once they compile."""
    message: str
    cause: str
    seeds: tuple


UNSUPPORTED = (
    Unsupported("failed to legalize operation 'arith.truncf' that was explicitly marked illegal",
                "what depends on sizes alone is computed on the host, whose machine has no 16-bit floats",
                (1236, 4410)),
    Unsupported("LLVM Translation failed for operation: builtin.unrealized_conversion_cast",
                "a gather from a slice that skips along its last axis reads vectors with gaps, which are not lowered",
                (1923, 4127)))
# Graphs in the place of those that are listed have seeds from here on, behind the first seed.
FURTHER_SEEDS = 2_000_000


class Module:
    """Graphs of one module, and their data."""

    def __init__(self, path):
        self.text = path.with_suffix(".mlir").read_text(encoding="utf-8")
        self.rows = json.loads(path.read_text(encoding="utf-8"))
        self._tensors = tensor_file.read_safetensors(path.with_suffix(".safetensors"))
        self._functions = {}
        for function in re.findall(r"^  func\.func .*?^  \}\n", self.text, re.M | re.S):
            self._functions.setdefault(re.search(r"@(random\d+)", function).group(1), []).append(function)

    def part(self, rows):
        return "module {\n" + "".join("".join(self._functions[row["name"]]) for row in rows) + "}\n"

    def operands(self, row):
        return [self._tensors[name] for name in row["operands"]]

    def difference(self, row, found):
        """Words and how many elements are bound; and how many there are."""
        if len(found) != len(row["results"]):
            return f"{len(found)} results", 0, 0
        bound, every = 0, 0
        for name, values in zip(row["results"], found):
            low, known = self._tensors[name + ".low"], self._tensors[name + ".known"]
            high = self._tensors.get(name + ".high", low)
            if values.shape != low.shape:
                return f"{name}: shape {values.shape}, wanted {low.shape}", bound, every
            bound, every = bound + int(known.sum()), every + known.size
            exact = name + ".high" not in self._tensors
            values = values.astype(low.dtype) if exact else values.astype(np.float64)
            outside = known & ((values != low) if exact else ~((low <= values) & (values <= high)))
            if outside.any():
                at = np.flatnonzero(outside.ravel())[0]
                return (f"{name}[{at}] is {values.ravel()[at]!r}, wanted {low.ravel()[at]!r} to {high.ravel()[at]!r} "
                        f"({outside.sum()} of {known.size})"), bound, every
        return None, bound, every


def listed_entry(row):
    seed = int(row["name"].removeprefix("random"))
    return next((entry for entry in UNSUPPORTED if seed in entry.seeds), None)


class Judge:
    def __init__(self, cases):
        self._cases, self._flags = cases, None
        self._jaxlib = jaxlib_module.Jaxlib()
        self.failures, self.passed, self.listed, self.bound, self.every = [], 0, 0, 0, 0

    @property
    def judged(self):
        return self.passed + len(self.failures)

    def judge_seeds(self, first, graphs):
        """Graphs from a first seed on; the names of all that were judged or are listed."""
        names = set()
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            done = subprocess.run([self._cases, folder, str(first), str(graphs)], check=False, stdout=subprocess.PIPE,
                                  text=True)
            print(done.stdout, end="", flush=True)
            if done.returncode:
                sys.exit("random_cases failed")
            self._flags = iree_program.flags_of(folder / "iree.flags")
            for path in sorted(folder.glob("*.json"), key=lambda one: int(one.stem.removeprefix("module"))):
                before = time.monotonic()
                module = Module(path)
                self._jaxlib.verify(module.text)
                self._judge(module, module.rows)
                print(f"{path.stem}: {len(module.rows)} graphs, {time.monotonic() - before:.1f} s", flush=True)
                names.update(row["name"] for row in module.rows)
        return names

    def _judge(self, module, rows):
        try:
            program = iree_program.Program(iree_program.compile_text(module.part(rows), self._flags))
        except iree_program.CompileError as error:
            if len(rows) == 1:
                entry = next((entry for entry in UNSUPPORTED if entry.message in str(error)), None)
                if entry and listed_entry(rows[0]) in (None, entry):
                    self.listed += 1
                    print(f"  {rows[0]['name']}: {entry.cause}")
                else:
                    self._fail(rows[0], f"does not compile: {error}")
                return
            middle = len(rows) // 2
            self._judge(module, rows[:middle])
            self._judge(module, rows[middle:])
            return
        for row in rows:
            if listed_entry(row):
                self._fail(row, "compiles, but is listed as one that does not; take its seed out of UNSUPPORTED")
                continue
            try:
                found = program.results(row["name"], *module.operands(row))
            except Exception as error:  # of any type: a failure of the runtime is a finding
                self._fail(row, f"does not run: {str(error)[:300]}")
                continue
            words, bound, every = module.difference(row, found)
            self.bound, self.every = self.bound + bound, self.every + every
            if words:
                self._fail(row, words)
            else:
                self.passed += 1

    def few_are_listed(self):
        return self.listed <= 0.05 * self.passed

    def _fail(self, row, words):
        self.failures.append(f"{row['name']}: {words}\n{row['graph']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=ROOT / "build/release/bin/random_cases", help="random_cases")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--also", type=int, nargs="*", default=(), help="seeds of graphs that failed once, or are listed")
    arguments = parser.parse_args()
    judge = Judge(arguments.cases)
    asked = arguments.graphs + len(arguments.also)
    judge.judge_seeds(arguments.first, arguments.graphs)
    for seed in arguments.also:
        if f"random{seed}" not in judge.judge_seeds(seed, 1):
            sys.exit(f"the graph of seed {seed} was left out, but is asked for by its number")
    further = FURTHER_SEEDS + arguments.first
    while judge.judged < asked and judge.few_are_listed():
        missing = asked - judge.judged
        judge.judge_seeds(further, missing)
        further += missing
    for failure in judge.failures:
        print(failure)
    print(f"{judge.passed} graphs agree, {judge.listed} are listed, {len(judge.failures)} do not; "
          f"{judge.bound} of {judge.every} elements are bound")
    most = judge.bound > 0.6 * judge.every
    return 0 if judge.judged >= asked and not judge.failures and most and judge.few_are_listed() else 1


if __name__ == "__main__":
    sys.exit(main())
