"""erf and exact GELU as IREE computes them, on a dense grid, against the C library's double functions: the expansion of
chlo.erf and the sequence that --no-chlo writes. The latter also meets the gate of erf in jaxlib's interpreter, which
rounds each step to f32, on a strided grid of all floats. --draw writes the curve of docs/stablehlo.md.
"""

import argparse
import math
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import exported  # noqa: E402
import jaxlib_module  # noqa: E402

CURVE = ROOT / "docs" / "figures" / "erf_on_iree.svg"
COUNT = 1 << 20  # of numbers in [-6, 6]
FORMS = {"chlo.erf": [], "without chlo": ["--no-chlo"]}
# Most absolute error on [-6, 6]. A correctly rounded exact GELU is off by 2.4e-7; one by 0.5 x (1 + erf(x / sqrt(2)))
# with a perfect erf by 4.5e-7.
BOUNDS = {("erf", "chlo.erf"): 5e-7, ("erf", "without chlo"): 2e-7,
          ("gelu", "chlo.erf"): 2e-6, ("gelu", "without chlo"): 2e-6}
APART = 5e-7  # most difference of the two forms of erf
GRAPHS = {"erf": "erf %x", "gelu": "gelu %x {approximate = false}"}
REFERENCES = {"erf": math.erf, "gelu": lambda x: 0.5 * x * math.erfc(-x * math.sqrt(0.5))}
STRIDE = 1 << 20  # of the bits of floats in the interpreter


def program(driver, folder, op, count, options):
    text = folder / f"{op}.tir"
    text.write_text(f'graph @{op} {{\n  %x = input {{name = "x"}} : f32[{count}]\n  %y = {GRAPHS[op]} : f32[{count}]\n'
                    '  output %y {name = "y"}\n}\n', encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        return exported.Exported(exported.export(driver, text, pathlib.Path(scratch) / "program", *options))


def references(op, grid):
    return np.fromiter(map(REFERENCES[op], grid.astype(np.float64).tolist()), np.float64, len(grid))


def interpreted(driver, folder):
    """The largest error of erf in the interpreter, and the largest in units in the last place."""
    x = np.arange(0, 1 << 32, STRIDE, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = x[~np.isnan(x)]
    text = folder / "erf.tir"
    text.write_text(f'graph @erf {{\n  %x = input {{name = "x"}} : f32[{len(x)}]\n  %y = erf %x : f32[{len(x)}]\n'
                    '  output %y {name = "y"}\n}\n', encoding="utf-8")
    written = exported.export(driver, text, folder / "interpreted", "--no-chlo")
    lines = (written / "model.mlir").read_text(encoding="utf-8").splitlines(keepends=True)
    with jaxlib_module.Interpreter() as interpreter:
        y = interpreter.run("".join(lines[1:-1]), "erf", [x], np.float32, x.shape).astype(np.float64)
    exact = references("erf", x)
    error = np.abs(y - exact)
    units = np.ldexp(1.0, np.maximum(np.frexp(exact)[1] - 1, -126) - 23)
    return len(x), float(error.max()), float((error / units).max())


def curve(errors, grid, bins=300):
    """The largest error in each of `bins` parts of the grid, in units of 1e-7, as an SVG picture."""
    width, height, left, bottom, top = 720, 300, 50, 40, 4.0

    def x_of(x):
        return left + (x + 6) / 12 * (width - left - 10)

    def y_of(y):
        return height - bottom - min(y, top) / top * (height - bottom - 30)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
             'font-size="12">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for mark in range(0, int(top) + 1):
        parts.append(f'<path d="M{left} {y_of(mark):.1f}H{width - 10}" stroke="#ddd"/>'
                     f'<text x="{left - 8}" y="{y_of(mark) + 4:.1f}" text-anchor="end">{mark}e-7</text>')
    for mark in range(-6, 7, 2):
        parts.append(f'<text x="{x_of(mark):.1f}" y="{height - bottom + 18}" text-anchor="middle">{mark}</text>')
    edges = np.linspace(0, len(grid), bins + 1).astype(int)
    for place, (form, color) in enumerate((("chlo.erf", "#c0392b"), ("without chlo", "#2471a3"))):
        points = [f"{x_of((i + 0.5) / bins * 12 - 6):.1f},{y_of(errors[form][begin:end].max() * 1e7):.1f}"
                  for i, (begin, end) in enumerate(zip(edges[:-1], edges[1:]))]
        parts.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{color}"/>')
        parts.append(f'<text x="{left + 10}" y="{18 + 16 * place}" fill="{color}">{form}: within '
                     f'{errors[form].max():.1e}</text>')
    parts.append(f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">x; the largest absolute error of erf in '
                 'f32 on IREE</text></svg>')
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default=ROOT / "build/release/bin/capra")
    parser.add_argument("--draw", action="store_true")
    arguments = parser.parse_args()
    grid = np.linspace(-6, 6, COUNT).astype(np.float32)
    failures = 0
    found, errors = {}, {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for op in GRAPHS:
            exact = references(op, grid)
            for form, options in FORMS.items():
                found[op, form] = program(arguments.driver, folder, op, COUNT, options)(grid).astype(np.float64)
                errors[op, form] = np.abs(found[op, form] - exact)
                worst = float(errors[op, form].max())
                good = worst <= BOUNDS[op, form]
                failures += not good
                print(f"{op}, {form}: within {worst:.3g} at {grid[errors[op, form].argmax()]:.4f}"
                      f"{'' if good else ' FAILED'}", flush=True)
        apart = float(np.abs(found["erf", "chlo.erf"] - found["erf", "without chlo"]).max())
        failures += not apart <= APART
        print(f"erf, both forms: {apart:.3g} apart{'' if apart <= APART else ' FAILED'}")
        count, worst, units = interpreted(arguments.driver, folder)
        good = worst < 1e-7 and units <= 1.5
        failures += not good
        print(f"erf, without chlo, interpreted: {count} floats within {worst:.3g} and {units:.3g} ulp"
              f"{'' if good else ' FAILED'}")
    if arguments.draw:
        CURVE.parent.mkdir(exist_ok=True)
        CURVE.write_text(curve({form: errors["erf", form] for form in FORMS}, grid), encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
