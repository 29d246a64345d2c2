"""capra export: the folder it makes, where constants stand, and that a refusal leaves nothing."""

import hashlib
import json
import pathlib
import shutil
import struct

import driver
import small_model

LINEAR = """graph @f {
  %x = input {name = "x"} : f32[n, 2]
  %w = parameter {path = "layer.weight"} : f32[3, 2]
  %b = parameter {path = "layer.bias"} : f32[3]
  %y = linear %x %w %b : f32[n, 3]
  %z = gelu %y {approximate = false} : f32[n, 3]
  output %z {name = "z"}
}
"""


GELU = """graph @f {
  %x = input {name = "x"} : f32[n, 4]
  %y = gelu %x {approximate = false}
  output %y {name = "y"}
}
"""
TWO_GELU = """graph @f {
  %x = input {name = "x"} : f32[n, 4]
  %a = gelu %x {approximate = false} @ "act"
  %b = neg %a
  %y = gelu %b {approximate = false} @ "act"
  output %y {name = "y"}
}
"""


class ExportTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def setUp(self):
        super().setUp()
        self.graph = self.write("f.tir", LINEAR)
        self.weights = self.write("w.safetensors", driver.safetensors(
            {"layer.weight": ("F32", [3, 2], driver.bits([1, 2, 3, 4, 5, 6])),
             "layer.bias": ("F32", [3], driver.bits([7, 8, 9]))}))
        self.program = self.scratch / "program"

    def export(self, *arguments):
        report = self.document("export", *arguments, "--output", self.program)
        self.assertEqual(report, json.loads((self.program / "report.json").read_text(encoding="utf-8")))
        self.assertEqual(driver.broken_report_rules(report), "")
        self.assertEqual([row for row in report["rewrites"] if not row["before"] or not row["after"]], [])
        # An approximation without a bound would read as exact; each run and each rewrite is told in one stage.
        self.assertEqual([row for row in report["rewrites"]
                          if row["effect"] == "approximate" and row["max_abs"] + row["max_rel"] <= 0], [])
        passes = [row for stage in report["stages"] for row in stage["passes"]]
        self.assertEqual(sum(row["changes"] for row in passes), len(report["passes"]))
        self.assertEqual(sum(row["rewrites"] for row in passes), len(report["rewrites"]))
        listed = {artifact["file"]: artifact for artifact in report["artifacts"]}
        self.assertEqual({path.name for path in self.program.iterdir()}, {*listed, "report.html", "report.json"})
        for name, artifact in listed.items():
            contents = (self.program / name).read_bytes()
            self.assertEqual(len(contents), artifact["bytes"])
            self.assertEqual(hashlib.sha256(contents).hexdigest(), artifact["sha256"])
        return report, (self.program / "model.mlir").read_text(encoding="utf-8")

    def nothing_is_left(self):
        self.assertEqual([path.name for path in self.scratch.iterdir() if path.name.startswith("program")], [])

    def test_graph_text_with_an_archive(self):
        report, text = self.export(self.graph, "--parameters", self.weights, "--keep-fused", "gelu")
        self.assertEqual([row["name"] for row in report["parameters"]], ["layer.weight", "layer.bias"])
        self.assertEqual(report["inputs"], [{"name": "x", "type": "f32[n, 2]"}])
        self.assertEqual(report["outputs"], [{"name": "z", "type": "f32[n, 3]"}])
        self.assertEqual(report["composites"], ["skainet_gelu_approximate_false_dynx3xf32"])
        self.assertEqual(report["kept_fused"], [
            {"node": "%z", "op": "gelu", "as": "skainet.gelu 1", "body": "skainet_gelu_approximate_false_dynx3xf32",
             "reason": "asked for by --keep-fused"}])
        self.assertEqual(report["run"], [
            "iree-compile $(cat iree.flags) model.mlir -o model.vmfb",
            "iree-run-module --module=model.vmfb --device=local-task --function=f --parameters=model=model.irpa "
            "--input=3x2xf32=1"])
        self.assertIn("func.func @f(%x: tensor<?x2xf32>) -> tensor<?x3xf32>", text)
        archive = (self.program / "model.irpa").read_bytes()
        self.assertEqual(archive[:4], b"IRPA")
        self.assertIn(b"layer.weightlayer.bias", archive)
        self.assertIn(struct.pack("<6f", 1, 2, 3, 4, 5, 6), archive)
        self.assertIn("--iree-input-type=stablehlo", report["flags"])
        self.assertEqual((self.program / "iree.flags").read_text(encoding="utf-8").splitlines(), report["flags"])

    def test_constants_in_the_module_or_by_size(self):
        report, text = self.export(self.graph, "--parameters", self.weights, "--constants", "inline")
        self.assertEqual(report["parameters"], [])
        self.assertFalse((self.program / "model.irpa").exists())
        self.assertIn("dense<[7.0, 8.0, 9.0]>", text)
        self.program = self.scratch / "second"
        report, _ = self.export(self.graph, "--parameters", self.weights, "--constants", "threshold:24")
        self.assertEqual([row["name"] for row in report["parameters"]], ["layer.weight"])

    def test_a_model_of_any_length_and_of_one(self):
        report, text = self.export(self.model)
        self.assertEqual(report["inputs"][0]["type"], "i32[tokens]")
        self.assertIn("chlo.erf", text)
        self.program = self.scratch / "fixed"
        report, text = self.export(self.model, "--length", "4", "--no-chlo")
        self.assertEqual(report["inputs"][0]["type"], "i32[4]")
        self.assertNotIn("chlo.", text)
        self.assertNotIn("?", text)

    def test_the_same_request_gives_the_same_bytes(self):
        self.export(self.model)
        first = {path.name: path.read_bytes() for path in self.program.iterdir()}
        self.program = self.scratch / "again"
        self.export(self.model)
        self.assertEqual({path.name: path.read_bytes() for path in self.program.iterdir()}, first)

    def test_an_approximation_is_in_the_report(self):
        report, text = self.export(self.model, "--approximate", "gelu=tanh")
        self.assertTrue(report["approximations"])
        self.assertEqual(report["approximations"][0]["from"], "gelu(approximate=false)")
        self.assertNotIn("chlo.", text)

    def test_a_dtype_policy_is_in_program_archive_and_report(self):
        report, text = self.export(self.graph, "--parameters", self.weights, "--dtype-policy", "linear=bf16,gelu=f32")
        self.assertEqual([(row["name"], row["type"]) for row in report["parameters"]],
                         [("layer.weight@convert(dtype=bf16)", "bf16[3, 2]"),
                          ("layer.bias@convert(dtype=bf16)", "bf16[3]")])
        self.assertEqual([(row["from"], row["to"], row["max_rel_error"]) for row in report["approximations"]],
                         [("linear in f32", "linear in bf16", 2**-8)])
        self.assertIn("stablehlo.convert", text)
        archive = (self.program / "model.irpa").read_bytes()
        self.assertIn(struct.pack("<6H", 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0), archive)
        ran = self.run_driver("export", self.graph, "--parameters", self.weights, "--dtype-policy", "linear=bf16",
                             "--output", self.scratch / "said")
        self.assertIn("note: DTYPE_POLICY_NARROWED node=%y: linear in f32 -> in bf16", ran.stderr)

    def rows_of_approximations(self, text, *arguments):
        """The approximations of a report, and the rewrites of that effect."""
        report, _ = self.export(self.write("g.tir", text), *arguments)
        return ([(row["node"], row["from"], row["to"], row["reason"], row["max_abs_error"], row.get("max_rel_error", 0))
                 for row in report["approximations"]],
                [(row["node"], row["before"], row["after"], row["max_abs"], row["max_rel"])
                 for row in report["rewrites"] if row["effect"] == "approximate"])

    def test_every_approximation_of_a_node_has_its_bound(self):
        found, rewrites = self.rows_of_approximations(GELU, "--approximate", "gelu=tanh", "--dtype-policy", "gelu=bf16")
        exact, tanh = "gelu(approximate=false)", "gelu(approximate=true)"
        self.assertEqual(found, [
            ("%y", exact, tanh, "asked for by --approximate gelu=tanh", 4.8e-4, 0),
            ("%y", "gelu in f32", tanh + " in bf16", "asked for by --dtype-policy gelu=bf16", 0, 2**-8)])
        self.assertEqual(rewrites, [("%y", exact, tanh, 4.8e-4, 0), ("%y", "gelu in f32", "gelu in bf16", 0, 2**-8)])

    def test_a_node_without_a_path_keeps_its_name(self):
        found, rewrites = self.rows_of_approximations(GELU, "--dtype-policy", "gelu=bf16")
        self.assertEqual([row[0] for row in found], ["%y"])
        self.assertEqual(rewrites, [("%y", "gelu in f32", "gelu in bf16", 0, 2**-8)])

    def test_nodes_of_one_path_are_each_told(self):
        found, rewrites = self.rows_of_approximations(TWO_GELU, "--approximate", "gelu=tanh")
        self.assertEqual([row[0] for row in found], ["act", "act"])
        self.assertEqual([row[0] for row in rewrites], ["act", "act"])

    def test_widening_is_no_approximation(self):
        report, _ = self.export(self.write("g.tir", GELU), "--dtype-policy", "gelu=f64")
        self.assertEqual(report["approximations"], [])
        row, = (row for row in report["rewrites"] if row["rule"] == "widened")
        self.assertEqual((row["before"], row["after"], row["effect"]), ("gelu in f32", "gelu in f64", "meaning"))
        self.assertGreater(row["max_abs"] + row["max_ulp"], 0)

    def test_a_key_that_is_not_documented_breaks_the_rules(self):
        report, _ = self.export(self.write("g.tir", GELU), "--approximate", "gelu=tanh")
        for place in (report, report["stages"][0], report["rewrites"][0], report["budget"], report["artifacts"][0],
                      report["approximations"][0], report["inputs"][0], report["passes"][0]):
            place["undocumented"] = 1
            self.assertIn("undocumented", driver.broken_report_rules(report))
            del place["undocumented"]

    def test_schedule_hints_are_in_the_module(self):
        report, text = self.export(self.model, "--schedule", "attention=heads+batch")
        self.assertTrue(text.startswith("module attributes {skainet.schedule = {"), text[:80])
        self.assertIn('{attention = "parallel(batch, heads)"}', text)
        self.assertTrue([row for row in report["rewrites"] if row["pass"] == "annotate-schedule"])

    def test_the_report_says_what_happened(self):
        report, _ = self.export(self.model, "--approximate", "gelu=tanh", "--keep-fused", "softmax")
        self.assertEqual(report["model"], self.model.name)
        stages = {row["name"]: row for row in report["stages"]}
        self.assertEqual(list(stages), ["trace", "asked for", "tape passes", "core passes", "dag passes", "legalize",
                                        "emit", "program passes", "print"])
        self.assertEqual(stages["tape passes"]["status"], "nothing to do")
        self.assertEqual(stages["legalize"]["status"], "ran")
        self.assertEqual([row["pass"] for row in stages["asked for"]["passes"]], ["gelu-tanh"])
        rules = {}
        for row in report["rewrites"]:
            rules.setdefault(row["rule"], []).append(row)
        norms = [row for row in rules["decompose"] if row["before"].startswith("layer_norm(")]
        self.assertEqual(len(norms), 2 * small_model.LAYERS + 1)
        for row in norms:
            self.assertEqual(row["effect"], "meaning")
            self.assertGreater(row["max_abs"] + row["max_ulp"], 0)
            self.assertIn("mul", row["after"])
        self.assertEqual([(row["node"], row["before"], row["after"], row["effect"], row["max_abs"])
                          for row in rules["gelu-tanh"]],
                         [(f"encoder.layer.{i}.feed_forward", "gelu(approximate=false)", "gelu(approximate=true)",
                           "approximate", 4.8e-4) for i in range(small_model.LAYERS)])
        self.assertEqual({(row["effect"], row["max_abs"], row["max_ulp"]) for row in rules["equal-nodes"]},
                         {("exact", 0, 0)})
        budget = {row["op"]: row for row in report["budget"]["ops"]}
        self.assertEqual(budget["linear"]["nodes"], 6 * small_model.LAYERS)
        self.assertEqual((budget["linear"]["form"], budget["add"]["form"]), ("decomposed", "native"))

    def test_the_budget_has_what_the_program_computes(self):
        def budget(*arguments):
            shutil.rmtree(self.program, ignore_errors=True)
            report, _ = self.export(*arguments)
            return {row["op"]: row for row in report["budget"]["ops"]}

        graph = self.write("g.tir", GELU)
        inline = budget(graph)
        self.assertEqual((inline["gelu"]["form"], inline["erf"]["form"], inline["erf"]["nodes"]),
                         ("decomposed", "native", 1))
        # The compiler's erf is less close than the record's, and so is what is made of it.
        self.assertEqual((inline["erf"]["max_abs"], inline["erf"]["max_ulp"]), (5e-7, 8))
        self.assertEqual(inline["gelu"]["max_abs"], 2e-6)
        self.assertIn("own", inline["gelu"]["reason"])
        self.assertEqual(budget(graph, "--keep-fused", "gelu")["gelu"]["form"], "kept")
        sequence = budget(graph, "--no-chlo")["erf"]
        self.assertEqual((sequence["max_abs"], sequence["max_ulp"], sequence["reason"]), (0, 1.5, ""))
        matmul = budget(self.model)["matmul"]
        self.assertEqual((matmul["max_ulp"], matmul["max_ulp_per_term"]), (2, 1))

    def test_refusals_leave_nothing(self):
        def refused(*arguments, error):
            self.refused("export", *arguments, "--output", self.program, error=error)
            self.nothing_is_left()

        refused(self.graph, error="parameter-missing")
        twice = LINEAR.replace('"layer.bias"', '"layer.weight"')
        refused(self.write("twice.tir", twice), error="graph-invalid")
        unbound = LINEAR.replace("f32[3, 2]", "f32[3, k]").replace("f32[n, 2]", "f32[n, k]")
        refused(self.write("unbound.tir", unbound), error="symbol-unbound")
        refused(self.graph, "--target", "cpu", error="target-writes-nothing")
        refused(self.graph, "--target", "abacus", error="target-unknown")
        refused(self.graph, "--keep-fused", "geluu", error="op-unknown")
        refused(self.graph, "--dtype-policy", "gelu=bf16,gelu=f16", error="dtype-policy-contradictory")
        refused(self.graph, "--dtype-policy", "gelu=i8", error="dtype-policy-invalid")
        refused(self.graph, "--schedule", "linear=heads", error="schedule-invalid")
        refused(self.graph, "--constants", "elsewhere", error="option-invalid")
        refused(self.graph, "--constants", "threshold:-1", error="option-invalid")
        refused(self.graph, "--length", "4", error="option-invalid")
        refused(self.graph, "--parameters", self.weights, "--calibrate", self.weights, error="option-invalid")
        # Each would be something else to the compiler than a flag of its own.
        for flag in ("--", "-", "-o", "--=1", "x.mlir", "@file", "--x=a b", "--x=\n", "--\x1b[2J"):
            refused(self.graph, "--parameters", self.weights, "--flag=" + flag, error="option-invalid")
        refused(self.model, "--length", "0", error="option-invalid")
        refused(self.model, "--length", "100000", error="max-length-out-of-range")
        refused(self.model, "--parameters", self.weights, error="option-invalid")
        refused(self.scratch / "none", error="file-not-found")
        turned = self.write("t.safetensors", driver.safetensors(
            {"layer.weight": ("F32", [2, 3], driver.bits([1, 2, 3, 4, 5, 6])),
             "layer.bias": ("F32", [3], driver.bits([7, 8, 9]))}))
        refused(self.graph, "--parameters", turned, error="parameter-type")

    def test_a_folder_that_is_there_stays(self):
        self.program.mkdir()
        kept = pathlib.Path(self.program, "mine")
        kept.write_text("mine", encoding="utf-8")
        self.refused("export", self.model, "--output", self.program, error="output-exists")
        self.assertEqual([path.name for path in self.program.iterdir()], ["mine"])


if __name__ == "__main__":
    driver.main()
