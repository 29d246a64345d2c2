"""The judged models (tests/models/judged_models.h) as IREE runs them, against the oracle: the decision head with exact
GELU passes the gate in every form of writing and with tanh GELU fails it; the encoder of two segments takes its types.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import exported  # noqa: E402
import tensor_file  # noqa: E402

GATE = 5e-5  # on the decision's outputs, and on hidden states of order 1
KEPT = ["--keep-fused", "gelu,layer_norm,softmax,attention"]
FORMS = {"inline": [], "composites": KEPT, "no chlo": ["--no-chlo"], "constants inline": ["--constants", "inline"]}


class Case:
    """A judged model as model_cases wrote it."""

    def __init__(self, driver, folder, name):
        self._driver, self._folder, self._name = driver, folder, name
        data = tensor_file.read_safetensors(folder / f"{name}.data.safetensors")
        self._wanted = data.pop("result")
        self.inputs = data

    def program(self, options):
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            return exported.Exported(exported.export(
                self._driver, self._folder / f"{self._name}.tir", pathlib.Path(scratch) / "program",
                "--parameters", self._folder / f"{self._name}.safetensors", *options))

    def difference(self, program, **changed):
        """The largest difference of a result from the oracle's, by need on other inputs than its."""
        inputs = {**self.inputs, **changed}
        # In the order of the graph's inputs, which is that of their names here.
        found = program(*(inputs[name] for name in sorted(inputs)))
        return float(np.abs(found.astype(np.float64) - self._wanted).max())


class Findings:
    def __init__(self):
        self.failures = 0

    def expect(self, words, error, good, before):
        print(f"{words}: {error:.3g}{'' if good else ' FAILED'}, {time.monotonic() - before:.1f} s", flush=True)
        self.failures += not good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default=ROOT / "build/release/bin/capra")
    parser.add_argument("--cases", default=ROOT / "build/release/bin/model_cases", help="model_cases")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        subprocess.run([arguments.cases, folder], check=True)
        findings = Findings()
        decision = Case(arguments.driver, folder, "decision_head")
        for form in ("inline", "composites", "no chlo"):
            before = time.monotonic()
            error = decision.difference(decision.program(FORMS[form]))
            findings.expect(f"decision head, exact, {form}", error, error <= GATE, before)
        before = time.monotonic()
        error = decision.difference(decision.program(["--approximate", "gelu=tanh"]))
        findings.expect(f"decision head, tanh, which must be above {GATE}", error, error > GATE, before)
        segments = Case(arguments.driver, folder, "two_segments")
        for form, options in FORMS.items():
            before = time.monotonic()
            program = segments.program(options)
            error = segments.difference(program)
            findings.expect(f"two segments, {form}", error, error <= GATE, before)
            error = segments.difference(program, token_types=np.zeros_like(segments.inputs["token_types"]))
            findings.expect("the same as one segment, which must be above 0.1", error, error > 0.1, before)
    return 1 if findings.failures else 0


if __name__ == "__main__":
    sys.exit(main())
