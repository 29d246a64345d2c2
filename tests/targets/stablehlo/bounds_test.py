"""The bounds that `capra export` publishes of each op: what IREE computes of a program of that op stays within them, on
grids and on long sums. References are numpy's in double precision, and the C library's erfc.
"""

import argparse
import json
import math
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import exported  # noqa: E402

COUNT = 1 << 18  # of numbers on a grid
RANDOM = np.random.default_rng(1)


class Case:
    """`inputs` are of f32. `reference` gives the result in double precision; and, where the bound is relative to the
    magnitudes that are added, their sum. `terms`: how many are added."""

    def __init__(self, name, call, inputs, reference, terms=0):
        self.name, self.call = name, call
        self.inputs = [np.asarray(values, np.float32) for values in inputs]
        self.reference, self.terms = reference, terms
        self.op = call.split()[0]

    def graph(self):
        lines = [f'  %x{i} = input {{name = "x{i}"}} : f32{list(values.shape)}\n'
                 for i, values in enumerate(self.inputs)]
        return f'graph @f {{\n{"".join(lines)}  %y = {self.call}\n  output %y {{name = "y"}}\n}}\n'

    def excess(self, found, row):
        """The largest error, absolute, in ulps, and as a part of what the row allows."""
        result = self.reference(*(values.astype(np.float64) for values in self.inputs))
        exact, magnitude = result if isinstance(result, tuple) else (result, result)
        error = np.abs(found.astype(np.float64) - exact)
        exponents = np.frexp(np.abs(magnitude))[1] - 1
        ulp = np.ldexp(1.0, np.maximum(exponents, -126) - 23)
        units = row["max_ulp"] + row["max_ulp_per_term"] * self.terms
        allowed = np.maximum(row["max_abs"], units * ulp)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(error == 0, 0, error / allowed)
        return error.max(), (error / ulp).max(), part.max()


def erfc(x):
    return np.fromiter(map(math.erfc, x.tolist()), np.float64, len(x))


def gelu(x):
    return 0.5 * x * erfc(-x * math.sqrt(0.5))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def layer_norm(x):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-12)


def attention(query, key, value):
    """Of [tokens, heads, head_dim]."""
    query, key, value = (x.swapaxes(0, 1) for x in (query, key, value))
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    return (softmax(scores) @ value).swapaxes(0, 1)


def with_magnitudes(reference):
    return lambda *operands: (reference(*operands), reference(*map(np.abs, operands)))


def grid(low, high):
    return np.linspace(low, high, COUNT)


def between(*shape):
    return RANDOM.uniform(0.5, 1, shape)


def normal(*shape):
    return RANDOM.normal(size=shape)


def sizes(least, most):
    """Of both signs and all orders."""
    values = 2.0 ** RANDOM.uniform(least, most, COUNT)
    return np.where(RANDOM.random(COUNT) < 0.5, -values, values)


WIDE, POSITIVE = sizes(-60, 60), np.abs(sizes(-120, 120))
PEAKS = np.where(np.arange(4096)[:, None] == 0, 9.0, normal(4096, 16))  # half of each sum is the first
OUTLIERS = np.concatenate([normal(512, 383) * 0.1, np.full((512, 1), 30.0)], 1)
SUM = with_magnitudes(lambda x: x.sum(0))
PRODUCT = with_magnitudes(np.matmul)
CASES = [
    Case("erf", "erf %x0", [grid(-6, 6)], lambda x: np.sign(x) * (1 - erfc(np.abs(x)))),
    Case("erfc", "erfc %x0", [grid(-6, 9)], erfc),
    Case("exp", "exp %x0", [grid(-87, 88)], np.exp),
    Case("exp near 0", "exp %x0", [grid(-1, 1)], np.exp),
    Case("log", "log %x0", [POSITIVE], np.log),
    Case("log near 1", "log %x0", [grid(0.5, 2)], np.log),
    Case("tanh", "tanh %x0", [grid(-10, 10)], np.tanh),
    Case("tanh, small", "tanh %x0", [sizes(-60, 4)], np.tanh),
    Case("sqrt", "sqrt %x0", [POSITIVE], np.sqrt),
    Case("rsqrt", "rsqrt %x0", [POSITIVE], lambda x: 1 / np.sqrt(x)),
    Case("add", "add %x0 %x1", [WIDE, RANDOM.permutation(WIDE)], np.add),
    Case("sub", "sub %x0 %x1", [WIDE, RANDOM.permutation(WIDE)], np.subtract),
    Case("mul", "mul %x0 %x1", [WIDE, RANDOM.permutation(WIDE)], np.multiply),
    Case("div", "div %x0 %x1", [WIDE, RANDOM.permutation(WIDE)], np.divide),
    Case("gelu", "gelu %x0 {approximate = false}", [grid(-6, 6)], gelu),
    Case("gelu, large", "gelu %x0 {approximate = false}", [grid(-40, 400)], gelu),
    Case("gelu tanh", "gelu %x0 {approximate = true}", [grid(-6, 6)], gelu_tanh),
    Case("gelu tanh, large", "gelu %x0 {approximate = true}", [grid(-40, 400)], gelu_tanh),
    Case("sigmoid", "sigmoid %x0", [grid(-80, 80)], sigmoid),
    Case("sigmoid near 0", "sigmoid %x0", [grid(-6, 6)], sigmoid),
    Case("silu", "silu %x0", [grid(-80, 80)], lambda x: x * sigmoid(x)),
    Case("silu near 0", "silu %x0", [grid(-6, 6)], lambda x: x * sigmoid(x)),
    Case("softmax", "softmax %x0 {axis = 1}", [normal(512, 512) * 3], softmax, 512),
    Case("softmax of columns", "softmax %x0 {axis = 0}", [PEAKS], lambda x: softmax(x.T).T, 4096),
    Case("softmax, peaked", "softmax %x0 {axis = 1}", [normal(512, 64) * 30], softmax, 64),
    Case("softmax, long", "softmax %x0 {axis = 1}", [normal(16, 16384)], softmax, 16384),
    Case("layer_norm", "layer_norm %x0 {eps = 1e-12}", [normal(512, 384)], layer_norm),
    Case("layer_norm, mean of 3", "layer_norm %x0 {eps = 1e-12}", [normal(512, 384) + 3], layer_norm),
    Case("layer_norm, outliers", "layer_norm %x0 {eps = 1e-12}", [OUTLIERS], layer_norm),
    Case("layer_norm, wide", "layer_norm %x0 {eps = 1e-12}", [normal(64, 8192)], layer_norm),
    Case("variance", "variance %x0 {axes = [1]}", [normal(512, 384)], lambda x: x.var(1), 384),
    Case("variance, mean of 3", "variance %x0 {axes = [1]}", [normal(64, 4096) + 3], lambda x: x.var(1), 4096),
    Case("variance of columns", "variance %x0 {axes = [0]}", [normal(4096, 64)], lambda x: x.var(0), 4096),
    Case("mean of columns", "mean %x0 {axes = [0]}", [between(512, 384)], with_magnitudes(lambda x: x.mean(0)), 512),
    Case("sum of columns", "sum %x0 {axes = [0]}", [between(4096, 64)], SUM, 4096),
    Case("sum of long columns", "sum %x0 {axes = [0]}", [between(65536, 8)], SUM, 65536),
    Case("sum of rows", "sum %x0 {axes = [1]}", [normal(64, 4096)], with_magnitudes(lambda x: x.sum(1)), 4096),
    Case("matmul", "matmul %x0 %x1", [between(64, 1536), between(1536, 64)], PRODUCT, 1536),
    Case("matmul, signed", "matmul %x0 %x1", [normal(64, 512), normal(512, 64)], PRODUCT, 512),
    Case("linear", "linear %x0 %x1", [between(64, 3072), between(64, 3072)],
         with_magnitudes(lambda x, weight: x @ weight.T), 3072),
    Case("attention", "attention %x0 %x1 %x2", [normal(128, 4, 32) for _ in range(3)], attention),
    Case("attention, long", "attention %x0 %x1 %x2", [normal(1024, 2, 64) for _ in range(3)], attention),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default=ROOT / "build/release/bin/capra")
    parser.add_argument("names", nargs="*", help="default: all")
    arguments = parser.parse_args()
    failures = 0
    bounded = set()  # ops of which something inexact is published
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for case in CASES:
            if arguments.names and case.name not in arguments.names:
                continue
            text = folder / "case.tir"
            text.write_text(case.graph(), encoding="utf-8")
            for options in [], ["--no-chlo"], ["--keep-fused", case.op]:
                if case.op == "erfc" and options == ["--no-chlo"]:
                    continue  # refused
                with tempfile.TemporaryDirectory(dir=folder) as written:
                    target = exported.export(arguments.driver, text, pathlib.Path(written) / "program", *options)
                    report = json.loads((target / "report.json").read_text(encoding="utf-8"))
                    rows = {row["op"]: row for row in report["budget"]["ops"]}
                    bounded.update(op for op, row in rows.items() if row["max_abs"] + row["max_ulp"] > 0)
                    row = rows[case.op]
                    found = exported.Exported(target)(*case.inputs)
                absolute, units, part = case.excess(found, row)
                words = "" if part <= 1 else "  BEYOND"
                failures += part > 1
                print(f"{case.name:22} {' '.join(options):12} error {absolute:9.3g} {units:9.3g} ulp; bound "
                      f"{row['max_abs']:.3g} or {row['max_ulp']:.3g} + {row['max_ulp_per_term']:.3g} a term: "
                      f"{part:.3g} of it{words}", flush=True)
    for op in sorted(bounded - {case.op for case in CASES}):
        print(f"{op}: has a bound and no case here")
        failures += 1
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
