"""Runs isa_hashes on every instruction set and compares the lines.

  isa_test.py --program build/tests/isa_hashes --mode ci [--cross build/isa_aarch64]

x86: portable, AVX2 and AVX-512 as far as the processor has them; portable once more with the C
library's fused multiply-add switched off. --cross builds the program for 64-bit Arm in that folder
and runs it under qemu-user.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]


def lines(command, isa, extra=None):
    """The program's lines, or None if the machine has no such instruction set."""
    env = dict(os.environ, CAPRA_ISA=isa, **(extra or {}))
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode == 3:
        return None
    if done.returncode != 0 or f"isa_hashes: {isa}\n" not in done.stderr:
        sys.exit(f"{' '.join(command)} as {isa}: exit {done.returncode}\n{done.stderr}")
    return done.stdout.splitlines()


def build_cross(folder):
    for tool in ("aarch64-linux-gnu-g++-12", "qemu-aarch64"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed (packages g++-12-aarch64-linux-gnu and qemu-user)")
    source = ROOT / "tests/targets/cpu/kernels/aarch64"
    toolchain = ROOT / "cmake/aarch64-linux-gnu.cmake"
    configure = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", "--toolchain", toolchain,
                 "-DCMAKE_BUILD_TYPE=Release"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    for command in (configure, ["cmake", "--build", folder, "-j2"]):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
    return str(pathlib.Path(folder) / "isa_hashes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--mode", required=True)
    parser.add_argument("--cross")
    args = parser.parse_args()

    want = lines([args.program, args.mode], "portable")
    if not want:
        sys.exit("isa_hashes printed nothing")
    runs = {}
    if args.cross:
        program = build_cross(args.cross)
        runs["neon"] = lines(["qemu-aarch64", program, args.mode], "neon")
    else:
        runs["avx2"] = lines([args.program, args.mode], "avx2")
        runs["avx512"] = lines([args.program, args.mode], "avx512")
        if args.mode == "short":
            off = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-FMA_Usable"}
            runs["portable without FMA"] = lines([args.program, args.mode], "portable", off)

    failed = False
    for name, got in runs.items():
        if got is None:
            print(f"{name}: this machine does not run it")
            continue
        if got == want:
            print(f"{name}: {len(got)} results equal to portable's")
            continue
        failed = True
        for one, other in zip(want, got):
            if one != other:
                print(f"{name}: {other} where portable has {one}")
        if len(got) != len(want):
            print(f"{name}: {len(got)} lines for {len(want)}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
