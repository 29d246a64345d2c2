"""safetensors files as NumPy arrays, with the dtypes that NumPy lacks."""

import json
import struct

import ml_dtypes
import numpy as np

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "BOOL": np.bool_,
          **{f"{sign}{bits}": np.dtype(f"{name}{bits}") for sign, name in (("I", "int"), ("U", "uint"))
             for bits in (8, 16, 32, 64)}}


def read_safetensors(path):
    data = path.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = np.frombuffer(data[8 + size + begin:8 + size + end], DTYPES[entry["dtype"]])
        tensors[name] = raw.reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors):
    """`tensors`: f32 arrays by name."""
    header, offset = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + values.nbytes]}
        offset += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(v.tobytes() for v in tensors.values()))
