"""Every op on every dtype: jaxlib verifies the modules, IREE compiles and runs them, and the numbers are compared with
the double-precision oracle. Cases that a judge does not take are listed in expectations.json; nothing else is left out.

What came out, by op and dtype, must be what conformance.json says; --write brings it up to date.
"""

import argparse
import importlib.metadata
import json
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import bounds  # noqa: E402
import iree_program  # noqa: E402
import jaxlib_module  # noqa: E402
import op_cases  # noqa: E402

# What Vulkan is asked: static calls on f32 and i32 whose values are all of these dtypes. Without a GPU's name the
# compiler has no f64, and loads and stores words: of narrower values that do not fill the last word the end is lost.
VULKAN_DTYPES = ("f32", "i32")
VULKAN_VALUES = ("f32", "i32", "i64", "u32", "u64", "ui32", "ui64")  # in the words of the records and of the dialect
WITHOUT_VULKAN = ("compare", "logical_and", "logical_not", "logical_or", "select")  # bool comes in or goes out
JUDGE = f"IREE {importlib.metadata.version('iree-base-compiler')}, llvm-cpu"
RESULTS = pathlib.Path(__file__).with_name("conformance.json")
DTYPES = ("f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool")


class Conformance:
    def __init__(self, judge, flags, device):
        self._judge, self._flags, self._device = judge, flags, device
        self._refusals = op_cases.Expectations("capra")
        self._expectations = op_cases.Expectations(judge)
        self.failures = []
        self.passed = 0
        self.listed = 0
        self._cells = {}  # op: {dtype: {"passed": whether some call did, kind: reasons}}

    def judge_op(self, cases, rows):
        """Cases that are listed are compiled one by one, and must fail; all others are one module."""
        op = cases.op
        for row in cases.refused:
            self._expect(op, row, self._refusals.find(op, row), row["error"])
        taken = []
        for row in rows:
            entry = self._expectations.find(op, row)
            if entry is None:
                taken.append(row)
            else:
                self._expect(op, row, entry, self._run(cases, [row])[row["name"]])
        if taken:
            found = self._run(cases, taken)
            for row in taken:
                if found[row["name"]] is None:
                    self.passed += 1
                    self._cell(op, row)["passed"] = True
                else:
                    self.failures.append(f"{op_cases.words(op, row)}: {found[row['name']]}")

    def _run(self, cases, rows):
        """What is wrong with each case, or None. A module that does not compile is halved until the case is found."""
        try:
            program = iree_program.compile_text(cases.module(rows), self._flags)
        except iree_program.CompileError as error:
            if len(rows) == 1:
                return {rows[0]["name"]: f"does not compile: {error}"}
            middle = len(rows) // 2
            return {**self._run(cases, rows[:middle]), **self._run(cases, rows[middle:])}
        loaded = iree_program.Program(program, self._device)
        return {row["name"]: self._compare(loaded, cases, row) for row in rows}

    @staticmethod
    def _compare(program, cases, row):
        try:
            found = program(row["name"], *cases.operands(row))
        except Exception as error:  # of any type: a failure of the runtime is a finding
            return f"does not run: {str(error)[:300]}"
        return bounds.difference(row["result"], found, cases.result(row), cases.scale(row))

    def _expect(self, op, row, entry, error):
        surprise = op_cases.surprise(op, row, entry, error)
        if surprise:
            self.failures.append(surprise)
        elif entry is not None:
            self.listed += 1
            reasons = self._cell(op, row).setdefault(entry["kind"], [])
            if entry["reason"] not in reasons:
                reasons.append(entry["reason"])

    def _cell(self, op, row):
        return self._cells.setdefault(op, {}).setdefault(row["dtype"], {})

    def finish(self, ops):
        """Adds entries that cover nothing to the failures."""
        self.failures += self._refusals.unused(ops) + self._expectations.unused(ops)

    def results(self, ops):
        table = {}
        for op in ops:
            cells = self._cells.get(op, {})
            table[op] = {dtype: _result(cells[dtype]) for dtype in DTYPES if dtype in cells}
        return table


def is_for_vulkan(cases, row):
    values = {row["result"]} | {jaxlib_module.TYPES[operand.dtype.name] for operand in cases.operands(row)}
    return row["form"] == "static" and row["dtype"] in VULKAN_DTYPES and values <= set(VULKAN_VALUES)


def _result(cell):
    reasons = {kind: cell[kind] for kind in op_cases.Expectations.KINDS if kind in cell}
    if cell.get("passed"):
        left_out = sum(reasons.values(), [])
        return {"result": "passed", **({"except": left_out} if left_out else {})}
    kind = "expected_to_fail" if "expected_to_fail" in reasons else "unsupported"
    return {"result": kind, "reason": "; ".join(sum(reasons.values(), []))}


def results_text(results):
    """JSON with one line an op and dtype."""
    ops = []
    for op, cells in results["ops"].items():
        lines = ",\n".join(f"      {json.dumps(dtype)}: {json.dumps(cell)}" for dtype, cell in cells.items())
        ops.append(f"    {json.dumps(op)}: {{\n{lines}\n    }}")
    return f'{{\n  "judge": {json.dumps(results["judge"])},\n  "ops": {{\n' + ",\n".join(ops) + "\n  }\n}\n"


def update(results, ops, all_ops, write):
    """Words about what conformance.json has otherwise than `results` of `ops` and the judge say. `write` brings it up to
    date; what another judge said of other ops it does not keep as this one's."""
    committed = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {"judge": JUDGE, "ops": {}}
    known = committed["ops"]
    stale = [op for op in ops if known.get(op) != results[op]] + sorted(known.keys() - set(all_ops))
    if committed["judge"] != JUDGE:
        left = sorted(set(known) & set(all_ops) - set(ops))
        if write and left:
            return [f"{RESULTS.name} is by {committed['judge']}, this is {JUDGE}; --write takes all ops at once"]
        stale.insert(0, f"its judge, {committed['judge']}, where this is {JUDGE}")
    if write and stale:
        merged = {op: results.get(op, known.get(op)) for op in all_ops if op in results or op in known}
        RESULTS.write_text(results_text({"judge": JUDGE, "ops": merged}), encoding="utf-8")
        return []
    return [f"{RESULTS.name} is stale on {one}; conformance_test.py --write brings it up to date" for one in stale]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=ROOT / "build/release/bin/program_cases", help="program_cases")
    parser.add_argument("--device", default="local-sync", choices=("local-sync", "vulkan"))
    parser.add_argument("--every", action="store_true", help="all calls, in all forms")
    parser.add_argument("--write", action="store_true", help="write conformance.json")
    parser.add_argument("ops", nargs="*", help="default: all")
    arguments = parser.parse_args()
    on_vulkan = arguments.device == "vulkan"
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        all_ops = op_cases.write(arguments.cases, folder, arguments.every)
        ops = [op for op in all_ops if not arguments.ops or op in arguments.ops]
        flags = iree_program.VULKAN_FLAGS if on_vulkan else iree_program.flags_of(folder / "iree.flags")
        conformance = Conformance("vulkan" if on_vulkan else "iree", flags, arguments.device)
        jaxlib = jaxlib_module.Jaxlib()
        for op in ops:
            before = time.monotonic()
            cases = op_cases.OpCases(folder, op)
            jaxlib.verify(cases.text)
            rows = [row for row in cases.rows if not on_vulkan or is_for_vulkan(cases, row)]
            if not rows and op not in WITHOUT_VULKAN:
                conformance.failures.append(f"{op}: no case is for vulkan")
            conformance.judge_op(cases, rows)
            print(f"{op}: {len(rows)} cases, {time.monotonic() - before:.1f} s", flush=True)
    conformance.finish(ops)
    failures = conformance.failures
    if not on_vulkan:
        failures += update(conformance.results(ops), ops, all_ops, arguments.write)
    for failure in failures:
        print(failure)
    print(f"{conformance.passed} cases agree with the oracle, {conformance.listed} are listed, "
          f"{len(failures)} failures")
    return 1 if failures or not conformance.passed else 0


if __name__ == "__main__":
    sys.exit(main())
