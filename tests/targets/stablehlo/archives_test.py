"""Archives of IREE's form have the bytes that IREE's own writer gives, on sizes around its alignments and on the real
checkpoint; the data come from safetensors files, of the checkpoint from the other form of its archive. Equal weights are loaded
once, and IREE finds them under the key of each."""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import iree.runtime
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "judges"))
import iree_program  # noqa: E402

# (name, dtype, shape): empty, scalar, just below, at and above 64 bytes, names of odd lengths and characters.
TENSORS = [("w", "F32", [3, 5]), ("nothing", "F32", [0, 7]), ("scalar", "F64", []), ("é weight/β", "I64", [8]),
           ("a.b.c", "BF16", [31]), ("flag", "BOOL", [65]), ("u8", "U8", [63]), ("half", "F16", [64, 33]),
           ("x" * 300, "I32", [1])]
BYTES = {"F32": 4, "F64": 8, "I64": 8, "BF16": 2, "BOOL": 1, "U8": 1, "F16": 2, "I32": 4}


def read_safetensors(path):
    contents = path.read_bytes()
    size = struct.unpack("<Q", contents[:8])[0]
    header = json.loads(contents[8:8 + size])
    header.pop("__metadata__", None)
    return {name: contents[8 + size:][slice(*entry["data_offsets"])] for name, entry in header.items()}


def write_safetensors(path, tensors):
    header, data = {}, b""
    # Widest first, so that every tensor is aligned.
    for name, dtype, shape in sorted(tensors, key=lambda tensor: -BYTES[tensor[1]]):
        size = BYTES[dtype]
        for extent in shape:
            size *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += bytes(i % 2 if dtype == "BOOL" else (31 * i + len(name)) % 251 for i in range(size))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def graph_of(tensors):
    lines = ["graph @f {"]
    for i, (name, dtype, shape) in enumerate(tensors):
        dtype = "bool" if dtype == "BOOL" else dtype.lower()
        lines.append(f'  %w{i} = parameter {{path = "{name}"}} : {dtype}[{", ".join(map(str, shape))}]')
    lines += [f'  output %w{i} {{name = "y{i}"}}' for i in range(len(tensors))]
    return "\n".join(lines) + "\n}\n"


def export(driver, folder, subject, *arguments):
    done = subprocess.run([driver, "export", subject, *arguments, "--output", folder, "--json"], capture_output=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{subject}: {done.stderr.decode()}")
    return [row["name"] for row in json.loads(done.stdout)["parameters"]]


def compare(folder, keys, weights):
    data = read_safetensors(weights)
    index = iree.runtime.ParameterIndex()
    for key in keys:
        index.add_buffer(key, data[key])
    theirs = folder / "theirs.irpa"
    index.create_archive_file(str(theirs))
    ours = (folder / "model.irpa").read_bytes()
    print(f"{folder.name}: {len(keys)} parameters, {len(ours)} bytes")
    if not keys or ours != theirs.read_bytes():
        return f"{folder.name}: the archive of {len(keys)} parameters is not the one that IREE writes"
    return None


# Two weights with the same data, which the program loads once, and a program of the same model with one of them.
TIED = """graph @first {
  %x = input {name = "x"} : f32[3, 4]
  %w = parameter {path = "embed.weight"} : f32[4, 4]
  %v = parameter {path = "head.weight"} : f32[4, 4]
  %a = matmul %x %w
  %b = sub %a %x
  %c = matmul %b %v
  output %c {name = "y"}
}
"""
HEAD = """graph @second {
  %x = input {name = "x"} : f32[3, 4]
  %v = parameter {path = "head.weight"} : f32[4, 4]
  %y = matmul %x %v
  output %y {name = "y"}
}
"""


def run_tied(driver, scratch):
    """Whole numbers, so that products and sums are exact in any order."""
    weight = np.arange(-8, 8, dtype=np.float32).reshape(4, 4)
    operand = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
    header = json.dumps({key: {"dtype": "F32", "shape": [4, 4], "data_offsets": [at, at + 64]}
                         for at, key in ((0, "embed.weight"), (64, "head.weight"))}).encode()
    header += b" " * (-len(header) % 8)
    weights = scratch / "tied.safetensors"
    weights.write_bytes(struct.pack("<Q", len(header)) + header + 2 * weight.tobytes())
    wanted = {"first": (operand @ weight - operand) @ weight, "second": operand @ weight}
    failures = []
    for form in ("irpa", "safetensors"):
        programs = {}
        for name, text in (("first", TIED), ("second", HEAD)):
            graph = scratch / f"{name}.tir"
            graph.write_text(text, encoding="utf-8")
            folder = scratch / f"{name}-{form}"
            export(driver, folder, graph, "--parameters", weights, "--weights", form)
            programs[name] = iree_program.compile_text((folder / "model.mlir").read_text(encoding="utf-8"),
                                                       iree_program.flags_of(folder / "iree.flags"))
        for name, binary in programs.items():
            archive = scratch / f"first-{form}" / f"model.{form}"
            found = iree_program.Program(binary, parameters=archive)(name, operand)
            print(f"{name} with {archive.parent.name}/{archive.name}: {'equal' if np.array_equal(found, wanted[name]) else found}")
            if not np.array_equal(found, wanted[name]):
                failures.append(f"{name} computes other numbers with the archive of the whole model ({form})")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", default=ROOT / "build/release/bin/capra")
    driver = parser.parse_args().driver
    cache = os.environ.get("CAPRA_CACHE") or pathlib.Path.home() / ".cache" / "capra"
    model = pathlib.Path(os.environ.get("CAPRA_TEST_MODEL") or pathlib.Path(cache, "models", "all-MiniLM-L6-v2"))
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        weights = write_safetensors(scratch / "w.safetensors", TENSORS)
        failures = []
        for count in range(1, len(TENSORS) + 1):
            graph = scratch / f"first{count}.tir"
            graph.write_text(graph_of(TENSORS[:count]), encoding="utf-8")
            folder = graph.with_suffix("")
            failures.append(compare(folder, export(driver, folder, graph, "--parameters", weights), weights))
        keys = export(driver, scratch / "model", model)
        export(driver, scratch / "other", model, "--weights", "safetensors")
        failures.append(compare(scratch / "model", keys, scratch / "other" / "model.safetensors"))
        failures += run_tied(driver, scratch)
    failures = [words for words in failures if words]
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
