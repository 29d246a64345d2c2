"""Composites as another compiler takes them: jaxlib's stablehlo-legalize-composite-to-call makes calls of them, its
interpreter runs the result, and the numbers are compared with the double-precision oracle. The interpreter takes no
dynamic dims, and it is slow: larger results than MOST_ELEMENTS are left to IREE."""

import argparse
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import bounds  # noqa: E402
import jaxlib_module  # noqa: E402
import op_cases  # noqa: E402

MOST_ELEMENTS = 16384  # of any operand and of the result


def is_small(cases, row):
    return max(values.size for values in [cases.result(row), *cases.operands(row)]) <= MOST_ELEMENTS


def wrong(interpreter, cases, row):
    result = cases.result(row)
    operands = cases.operands(row)
    dtype = {"f16": "float16", "bf16": jaxlib_module.ml_dtypes.bfloat16, "f32": "float32"}.get(row["result"])
    try:
        found = interpreter.run(cases.functions(row), row["name"], operands, dtype or result.dtype, result.shape)
    except RuntimeError as error:
        return f"does not run: {error}"
    return bounds.difference(row["result"], found, result, cases.scale(row))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=ROOT / "build/release/bin/program_cases", help="program_cases")
    parser.add_argument("ops", nargs="*", help="default: all")
    arguments = parser.parse_args()
    expectations = op_cases.Expectations("jaxlib")
    failures, passed, listed, large = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as scratch, jaxlib_module.Interpreter() as interpreter:
        folder = pathlib.Path(scratch)
        ops = op_cases.write(arguments.cases, folder, every=False)
        ops = [op for op in ops if not arguments.ops or op in arguments.ops]
        for op in ops:
            cases = op_cases.OpCases(folder, op)
            ran = 0
            for row in cases.rows:
                if row["form"] != "composite":
                    continue
                if not is_small(cases, row):
                    large += 1
                    continue
                ran += 1
                entry = expectations.find(op, row)
                surprise = op_cases.surprise(op, row, entry, wrong(interpreter, cases, row))
                if surprise:
                    failures.append(surprise)
                elif entry is None:
                    passed += 1
                else:
                    listed += 1
            print(f"{op}: {ran} composites", flush=True)
            if ran == 0 and op != "constant":
                failures.append(f"{op}: no composite was interpreted")
    failures += expectations.unused(ops)
    for failure in failures:
        print(failure)
    print(f"{passed} composites agree with the oracle, {listed} are listed, {large} are too large, "
          f"{len(failures)} failures")
    return 1 if failures or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
