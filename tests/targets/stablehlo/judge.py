"""Outside judges of written programs: jaxlib parses and verifies them, IREE compiles and runs them, and the numbers are
compared with the double-precision oracle. Needs a Python with iree-base-compiler, iree-base-runtime and jaxlib.

  judge.py ops FOLDER [OP...]   the cases that program_cases wrote
  judge.py encoder PROGRAM      a MiniLM that `capra export` wrote, against tests/golden/minilm
"""

import json
import pathlib
import re
import struct
import sys

import iree.compiler
import iree.runtime
import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import chlo, stablehlo
from jaxlib.mlir._mlir_libs import _jax_mlir_ext

ROOT = pathlib.Path(__file__).resolve().parents[3]
DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "BOOL": np.bool_,
          **{f"{sign}{bits}": np.dtype(f"{name}{bits}") for sign, name in (("I", "int"), ("U", "uint"))
             for bits in (8, 16, 32, 64)}}
# Most relative and absolute difference, and most units in the last place, by dtype. Narrow floats are added in f32, so
# a sum that cancels is off by units of f32.
BOUNDS = {"f64": (1e-12, 1e-12, 0), "f32": (1e-5, 1e-5, 0), "f16": (0, 1e-6, 2), "bf16": (0, 1e-6, 2)}
# What IREE does not compile, by its message.
UNSUPPORTED = {"undefined symbol: tanh": "llvm-cpu has no tanh of f64"}
ENCODER_BOUND = 2e-6  # on normalized vectors


def read_safetensors(path):
    data = path.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    notes = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = np.frombuffer(data[8 + size + begin:8 + size + end], DTYPES[entry["dtype"]])
        tensors[name] = raw.reshape(entry["shape"])
    return tensors, notes


def functions(text):
    """Case to its functions: the public one and its bodies."""
    cases = {}
    for function in re.findall(r"^  func\.func .*?^  \}\n", text, re.M | re.S):
        cases.setdefault(re.search(r"@(case\d+)", function).group(1), []).append(function)
    return cases


def module_of(cases, names):
    return "module {\n" + "".join(function for name in names for function in cases[name]) + "}\n"


class Verifier:
    def __init__(self):
        self.context = ir.Context()
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        self.context.append_dialect_registry(registry)
        self.context.load_all_available_dialects()
        stablehlo.register_dialect(self.context)
        chlo.register_dialect(self.context)

    def verify(self, text):
        with self.context, ir.Location.unknown():
            ir.Module.parse(text).operation.verify()


def compile_text(text, flags):
    return iree.compiler.compile_str(text, input_type="stablehlo", extra_args=flags)


def flags_of(folder):
    """What the folder says, without the option that the Python interface sets itself."""
    return [flag for flag in (folder / "iree.flags").read_text().split() if not flag.startswith("--iree-input-type")]


def compiled(cases, names, flags, failures):
    """Pairs of names and program; a module that does not compile is halved until the case is found."""
    try:
        return [(names, compile_text(module_of(cases, names), flags))]
    except iree.compiler.CompilerToolError as error:
        if len(names) == 1:
            found = re.search(r"error: (.*)", str(error))
            if found and found.group(1) in UNSUPPORTED:
                print(f"  {names[0]}: {UNSUPPORTED[found.group(1)]}")
                return []
            failures.append(f"{names[0]}: does not compile: {found.group(1)[:300] if found else str(error)[:300]}")
            return []
        middle = len(names) // 2
        return compiled(cases, names[:middle], flags, failures) + compiled(cases, names[middle:], flags, failures)


def load(program, device="local-sync", parameters=None):
    config = iree.runtime.Config(device)
    modules = [iree.runtime.create_hal_module(config.vm_instance, config.device)]
    if parameters is not None:
        index = iree.runtime.ParameterIndex()
        index.load(str(parameters))
        modules.insert(0, iree.runtime.create_io_parameters_module(config.vm_instance,
                                                                   index.create_provider(scope="model")))
    modules.append(iree.runtime.VmModule.copy_buffer(config.vm_instance, program))
    context = iree.runtime.SystemContext(vm_modules=modules, config=config)
    return context.modules.module


def ulp(dtype, values):
    digits, least = {"f16": (11, -24), "bf16": (8, -133)}[dtype]
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.floor(np.log2(np.abs(values)))
    exponents = np.where(np.isfinite(exponents), exponents, -1000)
    return np.ldexp(1.0, np.maximum(exponents - digits + 1, least).astype(int))


def difference(dtype, found, wanted, scale):
    """Words, or nothing. Bounds are relative to scale: the result, or the sum of the magnitudes added."""
    if found.shape != wanted.shape:
        return f"shape {found.shape}, wanted {wanted.shape}"
    if dtype not in BOUNDS:
        return None if np.array_equal(found, wanted) else f"{found.ravel()[:8]}, wanted {wanted.ravel()[:8]}"
    with np.errstate(over="ignore"):
        overflows = np.isinf(wanted.astype(found.dtype)) & np.isfinite(wanted)
    wanted = np.where(overflows, np.copysign(np.inf, wanted), wanted).astype(np.float64)
    found = found.astype(np.float64)
    relative, absolute, units = BOUNDS[dtype]
    scale = np.where(np.isfinite(scale), np.abs(scale), 0)
    allowed = absolute + relative * scale
    if units:
        allowed = absolute + units * ulp(dtype, scale)
    with np.errstate(invalid="ignore"):
        good = (found == wanted) | (np.isnan(found) & np.isnan(wanted)) | (np.abs(found - wanted) <= allowed)
    if good.all():
        return None
    worst = np.flatnonzero(~good.ravel())[0]
    return f"[{worst}] is {found.ravel()[worst]!r}, wanted {wanted.ravel()[worst]!r} ({(~good).sum()} of {good.size})"


def judge_op(folder, name, verifier):
    text = (folder / f"{name}.mlir").read_text()
    tensors, notes = read_safetensors(folder / f"{name}.safetensors")
    failures = []
    verifier.verify(text)
    cases = functions(text)
    for names, program in compiled(cases, list(cases), flags_of(folder), failures):
        module = load(program)
        for case in names:
            operands = []
            for i in range(16):
                if f"{case}.x{i}" in tensors:
                    operands.append(tensors[f"{case}.x{i}"])
            signature = cases[case][0].split("\n")[0].strip()
            try:
                found = module[case](*operands).to_host()
            except Exception as error:  # a failure of the runtime is a finding, whatever its type
                failures.append(f"{case}: {signature}: does not run: {str(error)[:200]}")
                continue
            words = difference(notes[case], np.asarray(found), tensors[f"{case}.result"],
                               tensors[f"{case}.scale"])
            if words:
                failures.append(f"{case}: {signature}: {words}")
    return len(cases), failures


def judge_ops(folder, names):
    verifier = Verifier()
    total, wrong = 0, 0
    for path in sorted(folder.glob("*.mlir")):
        if names and path.stem not in names:
            continue
        count, failures = judge_op(folder, path.stem, verifier)
        total, wrong = total + count, wrong + len(failures)
        print(f"{path.stem}: {count} cases, {len(failures)} differ", flush=True)
        for failure in failures:
            print(f"  {failure}")
    print(f"{total} cases verified by jaxlib and run by IREE, {wrong} differ from the oracle")
    return 1 if wrong or not total else 0


def judge_encoder(folder):
    text = (folder / "model.mlir").read_text()
    report = json.loads((folder / "report.json").read_text())
    archive = folder / "model.irpa"
    program = compile_text(text, flags_of(folder))
    module = load(program, parameters=archive if archive.exists() else None)
    golden = ROOT / "tests" / "golden" / "minilm"
    wanted = read_safetensors(golden / "embeddings.safetensors")[0]["embeddings"]
    texts = json.loads((golden / "texts.json").read_text())
    shape = report["inputs"][0]["type"]
    fixed = re.fullmatch(r"\w+\[(\d+)\]", shape)
    worst, compared = 0.0, 0
    for row in texts:
        ids = np.array(row["token_ids"], np.int32)
        if fixed and len(ids) != int(fixed.group(1)):
            continue
        hidden = module[report["function"]](ids).to_host().astype(np.float64)
        pooled = hidden.mean(axis=0)
        worst = max(worst, np.abs(pooled / np.linalg.norm(pooled) - wanted[row["id"]]).max())
        compared += 1
    print(f"{folder}: {compared} texts, embeddings within {worst:.3g} of golden/minilm")
    return 0 if compared and worst <= ENCODER_BOUND else 1


def main(arguments):
    if len(arguments) >= 2 and arguments[0] == "ops":
        return judge_ops(pathlib.Path(arguments[1]), arguments[2:])
    if len(arguments) == 2 and arguments[0] == "encoder":
        return judge_encoder(pathlib.Path(arguments[1]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
