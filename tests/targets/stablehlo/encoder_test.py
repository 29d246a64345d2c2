"""all-MiniLM-L6-v2 as IREE runs it, against the double-precision vectors of tests/golden/minilm: a program of any
length on all 44 texts, and programs of one length on the texts that have it. --every crosses forms of ops, places of
constants and lengths.
"""

import argparse
import itertools
import json
import os
import pathlib
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import exported  # noqa: E402
import tensor_file  # noqa: E402

GOLDEN = ROOT / "tests" / "golden" / "minilm"
BOUND = 2e-6  # on normalized vectors
FORMS = {
    "inline": [],
    "composites": ["--keep-fused", "gelu,layer_norm,softmax,attention,linear"],
    "kept attention": ["--keep-fused", "attention"],
    "no chlo": ["--no-chlo"],
}
PLACES = ("external", "inline", "threshold:4096")
LENGTHS = ("dynamic", "2", "8", "12", "512")
FEW = [("inline", "external", "dynamic"), ("composites", "external", "12"), ("inline", "inline", "8")]


def checkpoint():
    cache = os.environ.get("CAPRA_CACHE") or pathlib.Path.home() / ".cache" / "capra"
    return pathlib.Path(os.environ.get("CAPRA_TEST_MODEL") or pathlib.Path(cache, "models", "all-MiniLM-L6-v2"))


def worst_of(program, length, texts, wanted):
    """The number of texts compared, and the largest difference of a value of their vectors."""
    count, worst = 0, 0.0
    for row in texts:
        ids = np.array(row["token_ids"], np.int32)
        if length not in ("dynamic", str(len(ids))):
            continue
        pooled = program(ids).astype(np.float64).mean(axis=0)
        worst = max(worst, np.abs(pooled / np.linalg.norm(pooled) - wanted[row["id"]]).max())
        count += 1
    return count, worst


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default=ROOT / "build/release/bin/capra")
    parser.add_argument("--every", action="store_true")
    arguments = parser.parse_args()
    model = checkpoint()
    if not model.is_dir():
        return f"{model} is missing: run scripts/get_model.sh"
    texts = json.loads((GOLDEN / "texts.json").read_text(encoding="ascii"))
    wanted = tensor_file.read_safetensors(GOLDEN / "embeddings.safetensors")["embeddings"]
    failures = 0
    for form, place, length in itertools.product(FORMS, PLACES, LENGTHS) if arguments.every else FEW:
        before = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            folder = exported.export(arguments.driver, model, pathlib.Path(scratch) / "program", *FORMS[form],
                                     "--constants", place, "--length", length)
            program = exported.Exported(folder)
            count, worst = worst_of(program, length, texts, wanted)
        good = worst <= BOUND and count == (len(texts) if length == "dynamic" else max(count, 1))
        failures += not good
        print(f"length {length}, {form}, constants {place}: {count} texts within {worst:.3g}"
              f"{'' if good else ' FAILED'}, {time.monotonic() - before:.1f} s", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
