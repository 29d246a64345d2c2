"""Archives beyond 4 GiB: a table of zeros that stays a hole on disk, and what lies behind it."""

import json
import pathlib
import re
import struct
import subprocess
import sys

import driver

ROWS, WIDTH = 1_310_720, 1024  # 5 GiB of f32
HOLE = ROWS * WIDTH * 4
SCALE = driver.bits([1.5, -2.25])
GRAPH = f"""graph @lookup {{
  %ids = input {{name = "ids"}} : i32[n]
  %table = parameter {{path = "a.table"}} : f32[{ROWS}, {WIDTH}]
  %scale = parameter {{path = "b.scale"}} : f32[2]
  %rows = gather %table %ids
  output %rows {{name = "rows"}}
  output %scale {{name = "scale"}}
}}
"""


class LargeArchiveTest(driver.DriverTest):
    def weights(self):
        header = json.dumps({
            "a.table": {"dtype": "F32", "shape": [ROWS, WIDTH], "data_offsets": [0, HOLE]},
            "b.scale": {"dtype": "F32", "shape": [2], "data_offsets": [HOLE, HOLE + 8]}}).encode()
        header += b" " * (-len(header) % 8)
        path = self.scratch / "w.safetensors"
        with path.open("wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            file.seek(HOLE, 1)
            file.write(SCALE)
        return path

    def export(self, form):
        folder = self.scratch / form
        self.document("export", self.write("g.tir", GRAPH), "--parameters", self.weights(), "--weights", form,
                      "--output", folder)
        archive = folder / f"model.{form}"
        self.assertGreater(archive.stat().st_size, HOLE)
        self.assertLess(archive.stat().st_blocks * 512, 2**24, "the zeros are on disk")
        self.document("export", "--check", folder)
        return archive

    def at(self, archive, offset, size):
        with archive.open("rb") as file:
            file.seek(offset)
            return file.read(size)

    def dumped(self, archive):
        """Key to (start, end) as IREE's own tool reads the archive."""
        tool = pathlib.Path(sys.executable).parent / "iree-dump-parameters"
        text = subprocess.run([tool, f"--parameters=model={archive}"], capture_output=True, text=True,
                              check=True).stdout
        rows = re.findall(r"^\s*(\d+) \|\s*(\d+) \|\s*\d+ \| `(.*)`$", text, re.M)
        self.assertEqual(len(rows), 2, text)
        return {key: (int(start), int(end)) for start, end, key in rows}

    def test_irpa(self):
        archive = self.export("irpa")
        offsets = self.dumped(archive)
        start, end = offsets["b.scale"]
        self.assertGreater(start, 2**32)
        self.assertEqual(self.at(archive, start, end - start), SCALE)
        self.assertEqual(offsets["a.table"][1] - offsets["a.table"][0], HOLE)

    def test_safetensors(self):
        archive = self.export("safetensors")
        offsets = self.dumped(archive)
        start, end = offsets["b.scale"]
        self.assertGreater(start, 2**32)
        self.assertEqual(self.at(archive, start, end - start), SCALE)
        size, = struct.unpack("<Q", self.at(archive, 0, 8))
        header = json.loads(self.at(archive, 8, size))
        self.assertEqual(header["b.scale"]["data_offsets"], [HOLE, HOLE + 8])


if __name__ == "__main__":
    driver.main()
