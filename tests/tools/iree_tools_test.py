"""Target iree with iree's own tools, which stand beside the Python that runs this file: a graph, and the whole
checkpoint against golden/minilm."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys

import driver

GOLDEN = driver.ROOT / "tests" / "golden" / "minilm"
TOOLS = pathlib.Path(sys.executable).parent
GATE = 2e-6  # on normalized vectors
ACTIVATION_GATE = 2e-6  # an exact GELU through chlo.erf
GRAPH = """graph @f {
  %x = input {name = "x"} : f32[n]
  %w = parameter {path = "w"} : f32[]
  %u = input {name = "u"} : u8[2]
  %half = input {name = "half"} : bf16[n]
  %y = gelu %x {approximate = false}
  %z = mul %y %w
  %less = compare %x %w {direction = "lt"}
  %sum = add %u %u
  %twice = add %half %half
  output %z {name = "z"}
  output %less {name = "less"}
  output %sum {name = "sum"}
  output %twice {name = "twice"}
}
"""
XS = [-3.0, -0.5, 0.0, 0.25, 2.5]


class GraphTest(driver.DriverTest):
    def values(self, *more, **keywords):
        weights = self.write("w.safetensors", driver.safetensors({"w": ("F32", [], driver.bits([2]))}))
        text = self.out("run", self.write("f.tir", GRAPH), "--target", "iree", "--iree-dir", TOOLS,
                        "--parameters", weights, "--input", f"x=f32[5] {XS}", "--input", "u=u8[2] [7, 200]",
                        "--input", "half=bf16[5] [1, 2, 3, 4, 5]", *more, **keywords)
        return dict(line.split(" = ") for line in text.splitlines())

    def test_every_kind_of_value_goes_in_and_comes_out(self):
        for more in ((), ("--no-chlo",), ("--threads", "2")):
            values = self.values(*more)
            self.assertEqual(values["less"], "bool[5] [true, true, true, true, false]")
            self.assertEqual(values["sum"], "u8[2] [14, 144]")
            self.assertEqual(values["twice"], "bf16[5] [2, 4, 6, 8, 10]")
            found = [float(value) for value in values["z"].split("] [")[1].rstrip("]").split(",")]
            for x, z in zip(XS, found, strict=True):
                self.assertAlmostEqual(z, x * math.erfc(-x / math.sqrt(2)), delta=2 * ACTIVATION_GATE)

    def test_the_lines_of_a_folder_run_in_a_shell(self):
        name = "it's a b; touch pwned $(touch pwned2)"
        graph = self.write("n.tir", f"""graph @"{name}" {{
  %x = input {{name = "x"}} : bool[2]
  %y = input {{name = "y"}} : f32[0, 3]
  %z = input {{name = "z"}} : u8[n]
  %a = logical_not %x
  %b = add %z %z
  output %a
  output %y
  output %b
}}
""")
        folder = self.scratch / "program"
        self.run_driver("export", graph, "--output", folder)
        page = (folder / "README.md").read_text(encoding="utf-8")
        before = {path.name for path in folder.iterdir()}
        done = subprocess.run(["/bin/sh", "-e", "-c", page.split("```sh\n")[1].split("```\n")[0]], cwd=folder, text=True,
                              capture_output=True, check=False, env={**os.environ, "PATH": f"{TOOLS}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3xui8=2 2 2", done.stdout)
        self.assertEqual({path.name for path in folder.iterdir()}, before | {"model.vmfb"})

    def test_a_temporary_folder_with_a_blank(self):
        folder = self.scratch / "a b; touch pwned"
        folder.mkdir()
        self.assertEqual(self.values(env={**os.environ, "TMPDIR": str(folder)})["sum"], "u8[2] [14, 144]")

    def test_unsigned_parameters(self):
        """IREE loads none: their bits are loaded. Half of the values are beyond the signed numbers of their size."""
        bits = {"u64": 64, "u32": 32, "u16": 16, "u8": 8}
        paths = dict(zip(bits, "abcd", strict=True))
        values = {dtype: [2**size - 3, 5, 2**(size - 1)] for dtype, size in bits.items()}
        lines, tensors = [], {}
        for dtype, size in bits.items():
            lines += [f'  %{dtype} = parameter {{path = "{paths[dtype]}"}} : {dtype}[3]', f"  %m{dtype} = max %{dtype}",
                      f'  output %{dtype} {{name = "{dtype}"}}', f'  output %m{dtype} {{name = "max {dtype}"}}']
            data = b"".join(x.to_bytes(size // 8, "little") for x in values[dtype])
            tensors[paths[dtype]] = (dtype.upper(), [3], data)
        graph = self.write("unsigned.tir", "graph @f {\n" + "\n".join(lines) + "\n}\n")
        weights = self.write("unsigned.safetensors", driver.safetensors(tensors))
        text = self.out("run", graph, "--target", "iree", "--iree-dir", TOOLS, "--parameters", weights)
        for dtype, numbers in values.items():
            self.assertIn(f"{dtype} = {dtype}[3] {numbers}\n", text)
            self.assertIn(f"max {dtype} = {dtype} {max(numbers)}\n", text)
        folder = self.scratch / "unsigned"
        self.run_driver("export", graph, "--target", "stablehlo", "--parameters", weights, "--weights", "safetensors",
                        "--output", folder)
        report = json.loads((folder / "report.json").read_text())
        self.assertEqual({row["name"]: row["type"] for row in report["parameters"]},
                         {paths[dtype]: f"{dtype}[3]" for dtype in bits})
        flags = (folder / "iree.flags").read_text().split()
        subprocess.run([TOOLS / "iree-compile", *flags, folder / "model.mlir", "-o", folder / "model.vmfb"], check=True)
        found = subprocess.run([TOOLS / "iree-run-module", f"--module={folder}/model.vmfb", "--device=local-sync",
                                "--function=f", f"--parameters=model={folder}/model.safetensors"],
                               check=True, capture_output=True, text=True).stdout
        for dtype, numbers in values.items():
            self.assertIn(f"3x{dtype.replace('u', 'ui')}={' '.join(map(str, numbers))}\n", found)

    def test_a_vector_times_its_own_transpose(self):
        """With aggressive fusion IREE 3.13 leaves all but the diagonal 0."""
        text = """graph @f {
  %x = input {name = "x"} : f32[3, 1, 3]
  %w = constant {value = f32[4, 3] [[1, 2, 3], [0.5, 0, -1], [-2, 1, 0], [1, 1, 1]]}
  %rows = linear %x %w
  %row = mean %rows {axes = [0]}
  %column = permute %row {axes = [1, 0]}
  %square = mul %column %row
  %bent = tanh %column
  %least = minimum %bent %square
  output %least {name = "y"}
}
"""
        path = self.write("square.tir", text)
        inputs = "x=f32[3, 1, 3] [[[0.5, -1, 0.25]], [[1, 0, 2]], [[-0.5, 0.25, 1]]]"
        found, wanted = (
            [float(value) for value in re.findall(r"-?[\d.]+(?:e-?\d+)?", line.split("] ", 1)[1])]
            for line in (self.out("run", path, "--target", "iree", "--iree-dir", TOOLS, "--input", inputs),
                         self.out("run", path, "--target", "interp", "--input", inputs)))
        self.assertEqual(len(wanted), 16)
        for a, b in zip(found, wanted, strict=True):
            self.assertAlmostEqual(a, b, delta=1e-5)
        self.assertNotIn(0, wanted)

    def test_the_help_names_the_versions_that_are_tested(self):
        judges = (driver.ROOT / "scripts" / "judges.txt").read_text()
        pinned = dict(re.findall(r"^(iree-base-\w+)==(\S+)", judges, re.M))
        message = self.refused("run", self.write("f.tir", GRAPH), "--target", "iree", "--iree-dir", self.scratch,
                               error="tool-not-found")
        self.assertEqual(dict(re.findall(r"(iree-base-\w+)==(\d[\d.]*\d)", message)), pinned)

    def test_ready(self):
        rows = {row["name"]: row for row in self.document("targets", env={"PATH": f"{TOOLS}:/usr/bin:/bin"})}
        self.assertTrue(rows["iree"]["ready"], rows["iree"])


class CheckpointTest(driver.DriverTest):
    def verify(self, *more, target="iree", code=driver.DONE):
        return self.document("verify", driver.checkpoint(), "--target", target, "--iree-dir", TOOLS, *more, code=code)

    def test_golden_texts(self):
        result = self.verify("--texts", GOLDEN / "texts.json", "--max-length", "512",
                             "--against", GOLDEN / "embeddings.safetensors")
        self.assertEqual((result["target"], result["texts"], result["max_error"]), ("iree", 44, GATE))
        self.assertTrue(result["passed"])
        self.assertEqual(result["token_rows_differing"], 0)
        self.assertIsNone(result["differing_values"])
        self.assertEqual([stage["stage"] for stage in result["stages"]], ["hidden", "vector"])
        reference = next(row for row in result["references"] if row["name"] == "embeddings")
        self.assertLess(0, reference["error"])
        self.assertLessEqual(reference["error"], GATE)
        self.assertLess(reference["oracle_error"], 1e-12)
        print(f"golden/minilm: embeddings within {reference['error']:.3g}", file=sys.stderr)

    def test_variants(self):
        texts = self.write("texts.txt", "The goat climbs the rocks above the village.\n")
        self.assertTrue(self.verify("--texts", texts, "--no-chlo")["passed"])
        result = self.verify("--texts", texts, "--approximate", "gelu=tanh", code=driver.NO)
        self.assertEqual(len(result["approximations"]), 6)
        self.assertGreater(result["error"], 1e-5)

    def test_budget(self):
        texts = self.write("texts.txt", "The goat climbs.\n")
        budget = self.verify("--texts", texts, "--budget")["budget"]
        parts = {(part["kind"], part["name"]): part for part in budget["parts"]}
        erf = parts["own function", "erf"]
        self.assertEqual(erf["nodes"], 6)
        self.assertIn("chlo.erf", erf["reason"])
        self.assertTrue(0 < erf["error"] <= GATE, erf)
        self.assertIn(("own function", "matmul"), parts)
        for part in parts.values():
            self.assertLessEqual(part["error"], GATE, part)

    def test_a_budget_has_what_is_approximated_in_the_program(self):
        texts = self.write("texts.txt", "The goat climbs.\n")
        result = self.verify("--texts", texts, "--budget", "--plugin", driver.plugin("approximations"),
                             target="erf-as-tanh", code=driver.NO)
        parts = {(part["kind"], part["name"]): part for part in result["budget"]["parts"]}
        tanh = parts["legalization", "erf-as-tanh"]
        self.assertEqual((tanh["nodes"], tanh["max_abs"], tanh["reason"]), (6, 0.082, "its compiler has no erf"))
        self.assertGreater(tanh["error"], 1e-4)
        self.assertAlmostEqual(tanh["error"], result["budget"]["together"], delta=GATE)
        self.assertLessEqual(parts["own function", "erf"]["error"], GATE)
        self.assertEqual([(one["legalizedFrom"], one["legalizedTo"]) for one in result["approximations"]],
                         [("chlo.erf", "stablehlo.tanh")] * 6)

    def test_a_gate_below_what_is_measured_refuses(self):
        texts = self.write("texts.txt", "a goat\n")
        result = self.verify("--texts", texts, "--max-error", "1e-12", code=driver.NO)
        self.assertFalse(result["passed"])


if __name__ == "__main__":
    driver.main()
