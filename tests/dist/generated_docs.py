"""docs/generated is what `capra docs` writes today, no file more or less."""

import pathlib
import subprocess
import tempfile

from repository import main


def check(repository, arguments):
    committed = repository.root / "docs" / "generated"
    with tempfile.TemporaryDirectory() as scratch:
        fresh = pathlib.Path(scratch) / "generated"
        done = subprocess.run([arguments.driver, "docs", "--output", fresh], capture_output=True, text=True,
                              check=False)
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
