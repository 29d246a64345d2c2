"""Runs the driver for the tests of this folder, and says what a right answer of any command looks like."""

import argparse
import array
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DONE, NO, BAD, INTERNAL = 0, 1, 2, 70
ERROR = re.compile(r"error\[([a-z0-9]+(?:-[a-z0-9]+)*)\]: \S.*\n  at: \S.*\n  help: \S.*\n")

_settings = argparse.Namespace(driver=None)


def main():
    """Runs the tests of the calling file; the driver's path is an argument."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    _, rest = parser.parse_known_args(namespace=_settings)
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)


def command(*arguments):
    return [_settings.driver, *map(os.fspath, map(_text, arguments))]


def plugin(name):
    """A plugin of tests/runtime/plugins, in the build that the driver is of."""
    return pathlib.Path(_settings.driver).resolve().parents[1] / "tests" / "plugins" / f"plugin_{name}.so"


def _text(argument):
    return argument if isinstance(argument, (str, bytes, os.PathLike)) else str(argument)


def checkpoint():
    """The folder of all-MiniLM-L6-v2, which scripts/get_model.sh makes."""
    cache = os.environ.get("CAPRA_CACHE") or pathlib.Path.home() / ".cache" / "capra"
    return pathlib.Path(os.environ.get("CAPRA_TEST_MODEL") or pathlib.Path(cache, "models", "all-MiniLM-L6-v2"))


# Debian's interpreter has Debian's packages (python3-jsonschema); another python3 may come before it on the PATH.
VALIDATOR = ["/usr/bin/python3", "-c", """
import json, sys
from jsonschema import Draft202012Validator
rules = json.load(open(sys.argv[1], encoding="utf-8"))
Draft202012Validator.check_schema(rules)
for error in Draft202012Validator(rules).iter_errors(json.load(sys.stdin)):
    print("/".join(map(str, error.absolute_path)), error.message[:300])
"""]


def broken_rules(document, schema):
    """What breaks the rules of the JSON schema in the file `schema`, one a line; empty: nothing."""
    done = subprocess.run([*VALIDATOR, schema], input=json.dumps(document), text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def closed(rules):
    """The rules of a schema with no other keys than those that each object names."""
    if isinstance(rules, list):
        return [closed(one) for one in rules]
    if not isinstance(rules, dict):
        return rules
    inner = {key: closed(value) for key, value in rules.items()}
    return {**inner, "additionalProperties": False} if rules.get("type") == "object" else inner


def broken_report_rules(report):
    """The same for a report.json, whose published form allows keys of later versions: here each must be documented."""
    rules = closed(json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8")))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "schema.json")
        path.write_text(json.dumps(rules), encoding="utf-8")
        return broken_rules(report, path)


class DriverTest(unittest.TestCase):
    """A scratch folder, and calls of the driver whose outcome is stated."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def write(self, name, contents):
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode("utf-8"))
        return path

    def run_driver(self, *arguments, code=DONE, stdin=b"", **keywords):
        """Runs the driver and requires exit code `code`."""
        keywords.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run(command(*arguments), input=stdin, stderr=subprocess.PIPE, check=False, **keywords)
        done.stderr = done.stderr.decode("utf-8", "replace")
        self.assertEqual(done.returncode, code, f"{arguments}: {done.stderr}")
        return done

    def out(self, *arguments, **keywords):
        return self.run_driver(*arguments, **keywords).stdout.decode("utf-8")

    def rows(self, *arguments, **keywords):
        """Rows of `embed` in its own format, JSON Lines."""
        return [json.loads(line) for line in self.out("embed", *arguments, **keywords).splitlines()]

    def document(self, *arguments, code=DONE, **keywords):
        """The one JSON document that --json gives."""
        return json.loads(self.out(*arguments, "--json", code=code, **keywords))

    def refused(self, *arguments, error, code=BAD, **keywords):
        """Runs a command that must fail in the stated form; returns the message. Notes may stand before it."""
        done = self.run_driver(*arguments, code=code, **keywords)
        message = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("note: "))
        self.assertRegex(message, "^" + ERROR.pattern + "$")
        self.assertEqual(ERROR.match(message).group(1), error, message)
        self.assertIn(f"{error}: ", self.out("explain", error), "a code that explain does not know")
        return message


def bits(values):
    """Floats as the bytes of f32."""
    return array.array("f", values).tobytes()


def read_npy(contents):
    """(shape, values) of an npy file, by the format's description (numpy.lib.format, version 1.0)."""
    if contents[:8] != b"\x93NUMPY\x01\x00":
        raise ValueError("not npy 1.0")
    size = struct.unpack("<H", contents[8:10])[0]
    header = contents[10:10 + size].decode("ascii")
    if (10 + size) % 64 or not header.endswith("\n"):
        raise ValueError("the header is not padded to 64 bytes")
    match = re.fullmatch(r"\{'descr': '<f4', 'fortran_order': False, 'shape': \((\d+), (\d+)\), \} *\n", header)
    if match is None:
        raise ValueError(header)
    shape = int(match.group(1)), int(match.group(2))
    values = array.array("f", contents[10 + size:])
    if len(values) != shape[0] * shape[1]:
        raise ValueError("the data do not fit the shape")
    return shape, values


def safetensors(tensors):
    """The bytes of a file with `tensors`: {name: (dtype, shape, bytes)}, largest element type first."""
    header, data = {}, b""
    for name, (dtype, shape, contents) in sorted(tensors.items(), key=lambda t: (t[1][0] != "F64", t[0])):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(contents)]}
        data += contents
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def read_safetensors(contents):
    """{name: (dtype, shape, bytes)}."""
    size = struct.unpack("<Q", contents[:8])[0]
    header = json.loads(contents[8:8 + size])
    header.pop("__metadata__", None)
    data = contents[8 + size:]
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}
