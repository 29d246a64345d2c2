"""The cases that program_cases writes for each op, and which of them a judge is expected not to take.

expectations.json has two lists. An entry of either names a judge (`capra`: the target refuses the call; `iree`,
`vulkan`, `jaxlib`), an op or several, by need a dtype, a form and a pattern of the call, what the judge says, and why.
A case that an entry covers must fail in these words: one that passes, and an entry that covers nothing, are failures.
"""

import json
import pathlib
import re
import subprocess

import tensor_file

EXPECTATIONS = pathlib.Path(__file__).with_name("expectations.json")


class OpCases:
    """One op: `rows` of cases, `refused` calls, and the module's functions."""

    def __init__(self, folder, op):
        self.op = op
        document = json.loads((folder / f"{op}.json").read_text(encoding="utf-8"))
        self.rows, self.refused = document["cases"], document["refused"]
        self.text = (folder / f"{op}.mlir").read_text(encoding="utf-8")
        self._tensors = tensor_file.read_safetensors(folder / f"{op}.safetensors")
        self._functions = {}
        for function in re.findall(r"^  func\.func .*?^  \}\n", self.text, re.M | re.S):
            self._functions.setdefault(re.search(r"@(case\d+)", function).group(1), []).append(function)
        if list(self._functions) != [row["name"] for row in self.rows]:
            raise ValueError(f"{op}: the module's functions are not its cases")

    def functions(self, row):
        """The function of a case and its bodies."""
        return "".join(self._functions[row["name"]])

    def module(self, rows):
        return "module {\n" + "".join(self.functions(row) for row in rows) + "}\n"

    def operands(self, row):
        return [self._tensors[name] for name in row["operands"]]

    def result(self, row):
        return self._tensors[row["name"] + ".result"]

    def scale(self, row):
        return self._tensors[row["name"] + ".scale"]


def write(program, folder, every):
    """The ops that were written, in order."""
    subprocess.run([program, folder, *(["--every"] if every else [])], check=True, stdout=subprocess.DEVNULL)
    return sorted(path.stem for path in folder.glob("*.mlir"))


def words(op, row):
    return f"{op} {row['form']}: {row['call']}"


def surprise(op, row, entry, error):
    """Words where a case did not go as expected. `error`: what the judge says, or None; `entry`: what covers it."""
    if entry is None:
        return None if error is None else f"{words(op, row)}: {error}"
    if error is None:
        return f"{words(op, row)}: passes, and is listed: {entry['reason']}"
    if entry["message"] not in error:
        return f"{words(op, row)}: {error}, listed as: {entry['message']}"
    return None


class Expectations:
    """What one judge is expected not to take."""

    KINDS = ("unsupported", "expected_to_fail")

    def __init__(self, judge):
        document = json.loads(EXPECTATIONS.read_text(encoding="utf-8"))
        self._entries = [dict(entry, kind=kind, used=False) for kind in self.KINDS for entry in document[kind]
                         if entry["judge"] == judge]

    def find(self, op, row):
        """The entry that covers a case, or None."""
        for entry in self._entries:
            if op in entry["ops"] and row["dtype"] in entry.get("dtypes", [row["dtype"]]) and \
                    row["form"].startswith(entry.get("form", "")) and re.search(entry.get("call", ""), row["call"]):
                entry["used"] = True
                return entry
        return None

    def unused(self, ops):
        """Words about entries of ops that were all judged, and that covered nothing."""
        return [f"{EXPECTATIONS.name}: nothing is covered by {entry['ops']}: {entry['reason']}"
                for entry in self._entries if not entry["used"] and set(entry["ops"]) <= set(ops)]
