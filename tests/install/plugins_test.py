"""Installs a build into a scratch folder, builds the plugins of the examples against what is there, and runs graphs by them."""

import argparse
import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
for name in ("build", "source", "compiler", "cmake", "generator"):
    parser.add_argument("--" + name, required=True)
arguments = parser.parse_args()

LINE = ("GELU_APPROX_LEGALIZED node=encoder.layer.0.activation: gelu(approximate=false) -> "
        "gelu(approximate=true) [my-dsp has no erf kernel] maxAbsError=4.8E-4")
X = (-3.5, -0.5, 1.25, 3.6)
MAX_ABS_ERROR = 4.8e-4
ROUNDING = 1e-6


def run(*command, code=0):
    print("+", " ".join(map(str, command)), flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def exact(x):
    return 0.5 * x * math.erfc(-x / math.sqrt(2))


def tanh_form(x):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def values(text):
    return [float(number) for number in re.search(r"^y = f32\[4\] \[(.*)\]$", text, re.M).group(1).split(", ")]


def largest_difference(found, function):
    return max(abs(y - function(0.75 * x)) for x, y in zip(X, found))


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    prefix, source, build = scratch / "prefix", scratch / "source", scratch / "build"
    run(arguments.cmake, "--install", arguments.build, "--prefix", prefix)
    shutil.copytree(arguments.source, source)
    run(arguments.cmake, "-S", source, "-B", build, "-G", arguments.generator, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}", "-DCMAKE_BUILD_TYPE=Release")
    run(arguments.cmake, "--build", build)
    capra = prefix / "bin" / "capra"
    dsp, npu = ("--plugin", build / "my_dsp.so"), ("--plugin", build / "my_npu.so")
    gelu, erf = source / "gelu.tir", source / "erf.tir"
    data = ("--input", f"x=f32[4] [{', '.join(map(str, X))}]")

    listed = [row["name"] for row in json.loads(run(capra, "targets", *dsp, *npu, "--json").stdout)]
    assert listed == sorted(listed) and {"cpu", "interp", "my-dsp", "my-npu"} <= set(listed), listed
    ops = {row["name"]: row["targets"] for row in json.loads(run(capra, "ops", *dsp, *npu, "--json").stdout)}
    assert ops["gelu"]["my-npu"] == "kept" and ops["silu"]["my-npu"] == "decomposed", ops
    assert ops["erf"]["my-dsp"] == "refused" and ops["gelu"]["my-dsp"] == "native", ops

    # my-dsp computes the tanh form and says so; the exact form is as far away as the note says.
    done = run(capra, "run", gelu, *data, *dsp, "--target", "my-dsp")
    assert done.stderr == f"note: {LINE}\n", done.stderr
    found = values(done.stdout)
    assert largest_difference(found, tanh_form) < ROUNDING, found
    assert ROUNDING < largest_difference(found, exact) < MAX_ABS_ERROR, found
    legal = run(capra, "graph", gelu, *dsp, "--target", "my-dsp", "--stage", "legal").stdout
    assert ('!{legalizedFrom = "gelu(approximate=false)", maxAbsError = 0.00048, '
            'reason = "my-dsp has no erf kernel"}') in legal, legal
    refused = run(capra, "run", erf, *data, *dsp, "--target", "my-dsp", code=2).stderr
    assert refused.startswith("error[op-not-legal]: target my-dsp has no row for erf(f32[4])"), refused
    assert "at: head.erf" in refused, refused

    # my-npu keeps gelu as one op and computes the exact form, as the cpu does, to the bit.
    legal = run(capra, "graph", gelu, *npu, "--target", "my-npu", "--stage", "legal").stdout
    assert legal.count("gelu ") == 1 and " erf " not in legal, legal
    silu = scratch / "silu.tir"
    silu.write_text(gelu.read_text(encoding="utf-8").replace("gelu %s {approximate = false}", "silu %s"), encoding="utf-8")
    legal = run(capra, "graph", silu, *npu, "--target", "my-npu", "--stage", "legal").stdout
    assert " silu " not in legal and " exp " in legal, legal
    on_npu = run(capra, "run", gelu, *data, *npu, "--target", "my-npu")
    on_cpu = run(capra, "run", gelu, *data)
    assert on_npu.stdout == on_cpu.stdout and on_npu.stderr == on_cpu.stderr == "", on_npu
    assert largest_difference(values(on_cpu.stdout), exact) < ROUNDING

    # Refusals that a user meets.
    for command, error in (
            (("run", gelu, *data, "--target", "my-dsp"), "target-unknown"),
            (("run", gelu, *data, *dsp, *dsp), "target-name-taken"),
            (("targets", "--plugin", gelu), "plugin-not-loadable"),
            (("targets", "--plugin", scratch / "none.so"), "file-not-found")):
        message = run(capra, *command, code=2).stderr
        assert message.startswith(f"error[{error}]: "), message
    print("my-dsp and my-npu were built against", prefix, "and run by its driver")
