"""jaxlib: parses and verifies StableHLO with chlo and composites, inlines composites by its own pass, and interprets.

Run as a program it is the process that interprets, because the interpreter ends its process at what it does not know:
each line of its input is a module as JSON text, each line of its output the result of @main or an error.
"""

import base64
import json
import subprocess
import sys

import ml_dtypes
import numpy as np
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import chlo, stablehlo
from jaxlib.mlir._mlir_libs import _jax_mlir_ext

# Composites become calls of their bodies; then chlo becomes what the interpreter knows.
PASSES = ("builtin.module(func.func(stablehlo-legalize-composite-to-call),inline,"
          "func.func(chlo-legalize-to-stablehlo))")
TYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1",
         **{f"{sign}int{bits}": f"{sign}i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}


class Jaxlib:
    def __init__(self):
        stablehlo.register_stablehlo_passes()
        self._context = ir.Context()
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        self._context.append_dialect_registry(registry)
        self._context.load_all_available_dialects()
        for register in (stablehlo.register_dialect, chlo.register_dialect, stablehlo.register_interpreter_dialect):
            register(self._context)

    def verify(self, text):
        """Throws what the parser or the verifier says."""
        with self._context, ir.Location.unknown():
            ir.Module.parse(text).operation.verify()

    def interpret(self, text):
        """The result of @main, its composites inlined. Ends the process at what the interpreter does not know."""
        with self._context, ir.Location.unknown():
            module = ir.Module.parse(text)
            passmanager.PassManager.parse(PASSES).run(module.operation)
            if "stablehlo.composite" in str(module):
                raise ValueError("a composite is left")
            return np.asarray(stablehlo.eval_module(module, [])[0])


class Interpreter:
    """Interprets static functions in a process of its own, a new one where it ended."""

    def __init__(self):
        self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process is not None:
            self._process.stdin.close()
            self._process.wait()

    def run(self, functions, name, operands, dtype, shape):
        """The function's result. `functions`: its text and that of its bodies; dtype and shape are the result's."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen([sys.executable, "-B", __file__], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self._process.stdin.write(json.dumps(_module(functions, name, operands, dtype, shape)) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            raise RuntimeError("the interpreter ended its process")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        values = np.frombuffer(base64.b64decode(answer["values"]), answer["dtype"]).reshape(answer["shape"])
        return values.astype(dtype)


def _module(functions, name, operands, dtype, shape):
    """A module whose @main calls the function on constants. bf16, which NumPy's buffers lack, is widened."""
    lines, values, types = [], [], []
    for operand in operands:
        lines.append(f"    %c{len(values)} = stablehlo.constant dense<{_elements(operand)}> : {_type(operand)}")
        values.append(f"%c{len(values)}")
        types.append(_type(operand))
    own = _type(np.empty(shape, dtype))
    lines.append(f"    %r = call @{name}({', '.join(values)}) : ({', '.join(types)}) -> {own}")
    returned, returned_type = "%r", own
    if dtype == ml_dtypes.bfloat16:
        returned, returned_type = "%w", _type(np.empty(shape, np.float32))
        lines.append(f"    %w = stablehlo.convert %r : ({own}) -> {returned_type}")
    lines.append(f"    return {returned} : {returned_type}")
    main = f"  func.func @main() -> {returned_type} {{\n" + "\n".join(lines) + "\n  }\n"
    return "module {\n" + main + functions + "}\n"


def _type(values):
    return f"tensor<{'x'.join([*map(str, values.shape), TYPES[values.dtype.name]])}>"


def _elements(values):
    if values.size == 0:
        return ""
    if values.dtype == np.bool_:
        return str(values.tolist()).lower()
    return '"0x' + values.tobytes().hex() + '"'


def main():
    jaxlib = Jaxlib()
    for line in sys.stdin:
        try:
            found = jaxlib.interpret(json.loads(line))
            answer = {"dtype": found.dtype.name, "shape": found.shape,
                      "values": base64.b64encode(found.tobytes()).decode()}
        except Exception as error:  # of any type: it is the answer
            answer = {"error": str(error)[:1000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
