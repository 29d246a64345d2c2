"""Installs a build into a scratch folder, builds the example plugins against it, runs and exports graphs by them."""

import argparse
import json
import math
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
for name in ("build", "source", "compiler", "cmake", "generator"):
    parser.add_argument("--" + name, required=True)
arguments = parser.parse_args()

LINE = ("GELU_APPROX_LEGALIZED node=encoder.layer.0.activation: gelu(approximate=false) -> "
        "gelu(approximate=true) [my-dsp has no erf kernel] maxAbsError=4.8E-4")
REWRITTEN = {"node": "encoder.layer.0.activation", "from": "gelu(approximate=false)", "to": "gelu(approximate=true)",
             "reason": "my-dsp has no erf kernel", "max_abs_error": 4.8e-4}
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


def write_weights(path):
    weight, bias = struct.pack("<6f", 1, 2, 3, 4, 5, 6), struct.pack("<3f", 7, 8, 9)
    header = json.dumps({"layer.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
                         "layer.bias": {"dtype": "F32", "shape": [3], "data_offsets": [24, 36]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + weight + bias)


def exported(folder, *arguments):
    """The report, the text of the program, and the names of the files."""
    run(capra, "export", *arguments, "--output", folder)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report, (folder / "model.mlir").read_text(encoding="utf-8"), {path.name for path in folder.iterdir()}


def changes(report, stage):
    return {row["pass"]: row["effect"] for row in report["passes"] if row["stage"] == stage}


def main_function(text):
    return re.search(r"func\.func @.*?\n  }", text, re.S).group(0).splitlines()


def check_exports(gelu, erf, linear, weights):
    """Each hook of the two targets, by its effect on what stands in the folder; the base has none of these."""
    arguments = (linear, "--parameters", weights)
    plain, text, files = exported(scratch / "plain", *arguments)
    assert "model.irpa" in files and "composite" not in text and "chlo.erf" in text, text
    first = [line.split(" = ")[1].split()[0] for line in main_function(text) if " = " in line]
    assert first.index("stablehlo.dot_general") < len(first) - 1 - first[::-1].index("util.global.load"), first

    # Tape passes, granularity and compile flags of my-npu; constants as its base has them.
    report, text, files = exported(scratch / "npu", *arguments, *npu, "--target", "my-npu", "--verify-each")
    first = [line.split(" = ")[1].split()[0] for line in main_function(text) if " = " in line]
    assert first[:2] == ["util.global.load"] * 2 and first.count("util.global.load") == 2, first
    assert changes(report, "tape") == {"my-npu-parameters-first": "exact"}, report["passes"]
    assert report["kept_fused"] == [
        {"node": "layer.activation", "op": "gelu", "as": "skainet.gelu 1",
         "body": "skainet_gelu_approximate_false_dynx3xf32", "reason": "granularity of my-npu"}], report
    assert 'stablehlo.composite "skainet.gelu"' in text, text
    assert "func.func private @skainet_gelu_approximate_false_dynx3xf32" in text and "chlo.erf" in text, text
    flags = (scratch / "npu" / "iree.flags").read_text(encoding="utf-8").splitlines()
    assert flags == report["flags"] and "--iree-opt-level=O3" in flags, flags
    more = ["--iree-vm-bytecode-module-strip-source-map=true"]
    assert flags == [flag.replace("O2", "O3") for flag in plain["flags"]] + more, flags
    assert "model.irpa" in files and report["target"] == "my-npu", files

    # Dag passes, program passes and the placement of constants of my-dsp; compile flags as its base has them.
    report, text, files = exported(scratch / "dsp", *arguments, *dsp, "--target", "my-dsp", "--verify-each")
    assert "chlo." not in text and "stablehlo.tanh" in text and "composite" not in text, text
    assert changes(report, "graph")["gelu-tanh"] == "approximate", report["passes"]
    assert "model.irpa" not in files and "util.global" not in text, files
    assert report["flags"] == plain["flags"], report["flags"]
    report, text, _ = exported(scratch / "static", gelu, *dsp, "--target", "my-dsp")
    assert report["approximations"] == [REWRITTEN], report["approximations"]
    assert changes(report, "program") == {"my-dsp-constants-first": "exact"}, report["passes"]
    constants = re.findall(r"(%\w+) = stablehlo\.constant", text)
    second = re.findall(r"stablehlo\.(?:multiply|add) %\w+, (%\w+)", text)
    assert len(constants) == 5 and not set(constants) & set(second), text
    _, text, _ = exported(scratch / "second", gelu)
    assert set(re.findall(r"(%\w+) = stablehlo\.constant", text)) & set(
        re.findall(r"stablehlo\.(?:multiply|add) %\w+, (%\w+)", text)), text
    # What the command line says comes first.
    _, _, files = exported(scratch / "external", *arguments, *dsp, "--target", "my-dsp", "--constants", "external")
    assert "model.irpa" in files, files
    report, _, _ = exported(scratch / "flag", gelu, *npu, "--target", "my-npu", "--flag=--iree-opt-level=O1",
                            "--flag=--iree-strip-debug-ops")
    assert "--iree-opt-level=O1" in report["flags"] and "--iree-opt-level=O3" not in report["flags"], report["flags"]
    assert report["flags"][-1] == "--iree-strip-debug-ops", report["flags"]
    # A bare erf has no cheap substitute.
    for keep in ((), ("--keep-fused", "erf")):
        message = run(capra, "export", erf, *dsp, "--target", "my-dsp", *keep, "--output", scratch / "erf", code=2).stderr
        assert message.startswith("error[op-not-legal]: target my-dsp has no row for erf(f32[4])"), message
        assert "at: head.erf" in message and not (scratch / "erf").exists(), message


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
    assert listed == sorted(listed), listed
    assert {"cpu", "interp", "my-dsp", "my-dsp-sim", "my-npu", "my-npu-sim"} <= set(listed), listed
    ops = {row["name"]: row["targets"] for row in json.loads(run(capra, "ops", *dsp, *npu, "--json").stdout)}
    for target in ("my-npu", "my-npu-sim"):
        assert ops["gelu"][target] == "kept" and ops["silu"][target] == "decomposed", ops
    assert ops["erf"]["my-dsp"] == ops["erf"]["my-dsp-sim"] == "refused", ops
    assert ops["gelu"]["my-dsp"] == "decomposed" and ops["gelu"]["my-dsp-sim"] == "native", ops

    weights = scratch / "weights.safetensors"
    write_weights(weights)
    check_exports(gelu, erf, source / "linear.tir", weights)

    # my-dsp-sim computes the tanh form and says so; the exact form is as far away as the note says.
    done = run(capra, "run", gelu, *data, *dsp, "--target", "my-dsp-sim")
    assert done.stderr == f"note: {LINE}\n", done.stderr
    found = values(done.stdout)
    assert largest_difference(found, tanh_form) < ROUNDING, found
    assert ROUNDING < largest_difference(found, exact) < MAX_ABS_ERROR, found
    legal = run(capra, "graph", gelu, *dsp, "--target", "my-dsp-sim", "--stage", "legal").stdout
    assert ('!{legalizedFrom = "gelu(approximate=false)", maxAbsError = 0.00048, '
            'reason = "my-dsp has no erf kernel"}') in legal, legal
    refused = run(capra, "run", erf, *data, *dsp, "--target", "my-dsp-sim", code=2).stderr
    assert refused.startswith("error[op-not-legal]: target my-dsp-sim has no row for erf(f32[4])"), refused
    assert "at: head.erf" in refused, refused

    # my-npu-sim keeps gelu as one op and computes the exact form, as the cpu does, to the bit.
    legal = run(capra, "graph", gelu, *npu, "--target", "my-npu-sim", "--stage", "legal").stdout
    assert legal.count("gelu ") == 1 and " erf " not in legal, legal
    silu = scratch / "silu.tir"
    text = gelu.read_text(encoding="utf-8")
    silu.write_text(text.replace("gelu %s {approximate = false}", "silu %s"), encoding="utf-8")
    legal = run(capra, "graph", silu, *npu, "--target", "my-npu-sim", "--stage", "legal").stdout
    assert " silu " not in legal and " exp " in legal, legal
    on_npu = run(capra, "run", gelu, *data, *npu, "--target", "my-npu-sim")
    on_cpu = run(capra, "run", gelu, *data)
    assert on_npu.stdout == on_cpu.stdout and on_npu.stderr == on_cpu.stderr == "", on_npu
    assert largest_difference(values(on_cpu.stdout), exact) < ROUNDING

    # Refusals that a user meets.
    for command, error in (
            (("run", gelu, *data, "--target", "my-dsp-sim"), "target-unknown"),
            (("run", gelu, *data, *dsp, "--target", "my-dsp"), "target-not-executable"),
            (("export", gelu, *dsp, "--target", "my-dsp-sim", "--output", scratch / "sim"), "target-writes-nothing"),
            (("export", gelu, *dsp, "--target", "my-dsp", "--flag=a b", "--output", scratch / "sim"), "option-invalid"),
            (("run", gelu, *data, *dsp, *dsp), "target-name-taken"),
            (("targets", "--plugin", gelu), "plugin-not-loadable"),
            (("targets", "--plugin", scratch / "none.so"), "file-not-found")):
        message = run(capra, *command, code=2).stderr
        assert message.startswith(f"error[{error}]: "), message
    print("my-dsp and my-npu were built against", prefix, "and run by its driver")
