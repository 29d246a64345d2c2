"""docs/generated is what `capra docs` writes today, no file more or less; the conformance results it shows are there for
each op and each dtype that the op's record allows."""

import json
import pathlib
import subprocess
import tempfile

from repository import main

CONFORMANCE = pathlib.Path("tests", "targets", "stablehlo", "conformance.json")


def missing_results(results, driver):
    listed = subprocess.run([driver, "ops", "--json"], capture_output=True, text=True, check=True).stdout
    ops = {row["name"]: set(row["dtypes"]) for row in json.loads(listed)}
    for op in sorted(set(results) - set(ops)):
        yield f"{CONFORMANCE}: {op} is no op"
    for op, dtypes in ops.items():
        for dtype in sorted(dtypes - set(results.get(op, {}))):
            yield f"{CONFORMANCE}: no result of {op} on {dtype}"


def check(repository, arguments):
    conformance = repository.root / CONFORMANCE
    yield from missing_results(json.loads(conformance.read_text(encoding="utf-8"))["ops"], arguments.driver)
    committed = repository.root / "docs" / "generated"
    with tempfile.TemporaryDirectory() as scratch:
        fresh = pathlib.Path(scratch) / "generated"
        done = subprocess.run([arguments.driver, "docs", "--conformance", conformance, "--output", fresh],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            yield f"capra docs failed: {done.stderr.strip()}"
            return
        written = {p.relative_to(fresh) for p in fresh.rglob("*") if p.is_file()}
        present = {p.relative_to(committed) for p in committed.rglob("*") if p.is_file()}
        if not written:
            yield "capra docs wrote nothing"
        for path in sorted(written - present):
            yield f"docs/generated/{path}: missing"
        for path in sorted(present - written):
            yield f"docs/generated/{path}: written by nothing"
        for path in sorted(written & present):
            if (fresh / path).read_bytes() != (committed / path).read_bytes():
                yield f"docs/generated/{path}: stale"


if __name__ == "__main__":
    main(check, driver="the capra program to ask")
