"""Runs encoder_hashes on every instruction set and compares the lines.

  bit_matrix_test.py --program PROGRAM --mode small|small-all|checkpoint|checkpoint-all|neon
                     [--cross BUILD_FOLDER]

small: 2 layers, lengths 1 to 80 and every 13th up to 512, 1, 2, 3 and 8 threads; and 1, 17 and 65 tokens on
portable with the C library's fused multiply-add switched off. small-all: every length. checkpoint: a real
checkpoint at 1, 17 and 65 tokens on portable, AVX2 and AVX-512; checkpoint-all: every length on AVX2 and
AVX-512. neon builds the library for 64-bit Arm in BUILD_FOLDER and runs both encoders under qemu-user
(neon-all: every length of the small one). The checkpoint is in $CAPRA_TEST_MODEL, else where
scripts/get_model.sh puts it.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SMALL = "1-80," + ",".join(str(n) for n in range(93, 513, 13)) + ",512"
EVERY = "1-512"
SHORT = "1,17,65"
FMA_OFF = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-FMA_Usable"}


def lines(command, isa, extra=None):
    """The hashes, or None if this processor does not run the instruction set."""
    env = dict(os.environ, CAPRA_ISA=isa, **(extra or {}))
    done = subprocess.run([str(c) for c in command], env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} as {isa}: exit {done.returncode}\n{done.stderr}")
    if f"isa {isa}:" not in done.stderr:
        return None
    got = done.stdout.splitlines()
    if not got:
        sys.exit(f"{command} printed nothing")
    return got


def build_cross(folder):
    for tool in ("aarch64-linux-gnu-g++-12", "qemu-aarch64"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not installed (packages g++-12-aarch64-linux-gnu and qemu-user)")
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "--toolchain",
                 ROOT / "cmake/aarch64-linux-gnu.cmake", "-DCMAKE_BUILD_TYPE=Release"]
    for command in (configure, ["cmake", "--build", folder, "-j2", "--target", "encoder_hashes"]):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
    return pathlib.Path(folder) / "bin/encoder_hashes"


def has_fma(extra):
    """Whether the C library thinks that this processor has a fused multiply-add (CPUID 1, ecx bit 12)."""
    loader = "/lib64/ld-linux-x86-64.so.2"
    done = subprocess.run([loader, "--list-diagnostics"], env=dict(os.environ, **extra),
                          capture_output=True, text=True, check=True)
    line = next(x for x in done.stdout.splitlines() if x.startswith("x86.cpu_features.features[0x0].active[0x2]="))
    return bool(int(line.split("=")[1], 16) & 1 << 12)


class Comparison:
    def __init__(self):
        self.failed = False
        self.compared = 0

    def check(self, name, got, want):
        if got is None:
            print(f"{name}: this machine does not run it")
            return
        self.compared += 1
        wrong = [f"{a} / {b}" for a, b in zip(want, got) if a != b]
        if len(got) != len(want) or wrong:
            self.failed = True
            print(f"{name}: {len(wrong)} of {len(want)} lengths differ, the first: {wrong[:1]}")
        else:
            print(f"{name}: {len(got)} lengths, every bit equal")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--mode", required=True)
    parser.add_argument("--cross")
    args = parser.parse_args()
    result = Comparison()

    def compare(model, lengths, reference, others, threads=()):
        """Runs on `reference` (the first that this machine has) and compares the others with it."""
        want, name = None, None
        for name in reference:
            want = lines([args.program, model, lengths, *threads], name)
            if want is not None:
                break
        if want is None:
            sys.exit(f"this machine runs none of {reference}")
        print(f"{name}: {len(want)} lengths; eager, threads and batches bit-equal")
        for other in others:
            if other != name:
                result.check(other, lines([args.program, model, lengths, *threads], other), want)
        return want

    cache = os.environ.get("CAPRA_CACHE") or pathlib.Path.home() / ".cache/capra"
    checkpoint = os.environ.get("CAPRA_TEST_MODEL") or pathlib.Path(cache, "models/all-MiniLM-L6-v2")
    if not args.mode.startswith("small") and not pathlib.Path(checkpoint, "config.json").exists():
        sys.exit(f"there is no model in {checkpoint}; scripts/get_model.sh fetches one")
    if args.mode in ("small", "small-all"):
        lengths = SMALL if args.mode == "small" else EVERY
        compare("small", lengths, ["portable"], ["avx2", "avx512"], ["2", "3", "8"])
        if has_fma(FMA_OFF):
            sys.exit("the C library still uses fused multiply-adds; the tunable's name has changed")
        want = lines([args.program, "small", SHORT], "portable")
        result.check("portable without FMA", lines([args.program, "small", SHORT], "portable", FMA_OFF), want)
    elif args.mode == "checkpoint":
        compare(checkpoint, SHORT, ["portable"], ["avx2", "avx512"])
    elif args.mode == "checkpoint-all":
        compare(checkpoint, EVERY, ["avx512", "avx2"], ["avx2"])
    elif args.mode in ("neon", "neon-all"):
        cross = build_cross(args.cross)
        for model, lengths in (("small", SMALL if args.mode == "neon" else EVERY), (checkpoint, SHORT)):
            want = lines([args.program, model, lengths], "portable")
            got = lines(["qemu-aarch64", cross, model, lengths], "neon")
            if got is None:
                sys.exit("the cross-built program did not use NEON")
            result.check(f"neon, {pathlib.Path(model).name}", got, want)
    else:
        sys.exit(f"there is no mode {args.mode}")
    if result.compared == 0:
        sys.exit("nothing was compared: this machine runs one instruction set only")
    sys.exit(1 if result.failed else 0)


if __name__ == "__main__":
    main()
