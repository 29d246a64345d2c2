"""Installs a build into a scratch folder and builds a consumer project against what is there."""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
for name in ("build", "source", "compiler", "cmake", "generator"):
    parser.add_argument("--" + name, required=True)
arguments = parser.parse_args()


def run(*command):
    print("+", " ".join(map(str, command)), flush=True)
    subprocess.run(command, check=True)


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    prefix, source, build = scratch / "prefix", scratch / "source", scratch / "build"
    run(arguments.cmake, "--install", arguments.build, "--prefix", prefix)
    # The consumer is built from a copy, so that no path leads back into the repository.
    shutil.copytree(arguments.source, source)
    headers = sorted(p.relative_to(prefix / "include") for p in (prefix / "include").rglob("*.h"))
    assert headers, "no header was installed"
    # Every public header stands on its own: each is read once, in a translation unit of its own kind.
    with open(source / "every_header.cc", "w", encoding="utf-8") as file:
        file.writelines(f'#include "{header}"\n' for header in reversed(headers))
        file.write("int main() {}\n")
    run(arguments.cmake, "-S", source, "-B", build, "-G", arguments.generator, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}", "-DCMAKE_BUILD_TYPE=Release")
    run(arguments.cmake, "--build", build)
    model = os.environ.get("CAPRA_TEST_MODEL") or pathlib.Path(
        os.environ.get("CAPRA_CACHE") or pathlib.Path.home() / ".cache" / "capra", "models", "all-MiniLM-L6-v2")
    run(build / "consumer", model)
    run(build / "every_header")
    driver = prefix / "bin" / "capra"
    if driver.exists():
        run(driver, "ops")
    for folder, _, names in os.walk(prefix):
        for name in names:
            if name.endswith((".cmake", ".h")):
                text = pathlib.Path(folder, name).read_text(encoding="utf-8")
                assert arguments.build not in text, f"{name} names the build folder"
    print(f"{len(headers)} headers, consumer and driver run from {prefix}")
