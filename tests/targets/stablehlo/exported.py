"""Programs that `capra export` wrote, compiled by IREE with the options that stand beside them."""

import re
import subprocess

import iree_program


def export(driver, model, folder, *options):
    """Writes the folder; `model` is a model folder or a graph's text."""
    done = subprocess.run([driver, "export", model, "--target", "stablehlo", "--output", folder, *options],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"capra export: {done.stderr}")
    return folder


class Exported:
    """The function of a written folder."""

    def __init__(self, folder):
        self.text = (folder / "model.mlir").read_text(encoding="utf-8")
        self._function = re.search(r"^  func\.func @(\w+)\(", self.text, re.M).group(1)
        archive = folder / "model.irpa"
        binary = iree_program.compile_text(self.text, iree_program.flags_of(folder / "iree.flags"))
        self._program = iree_program.Program(binary, parameters=archive if archive.exists() else None)

    def __call__(self, *operands):
        return self._program(self._function, *operands)
