"""capra graph, opt, run, ops and targets: graphs as text, pictures and numbers."""

import array
import json
import math
import pathlib
import re
import xml.etree.ElementTree

import driver
import small_model

GELU = """graph @f {
  %x = input {name = "x"} : f32[4]
  %y = gelu %x {approximate = false} : f32[4]
  output %y {name = "y"}
}
"""


class GraphTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def test_printed_text_reads_back(self):
        for arguments in ((), ("--sequence", "single"), ("--sequence", "single", "--length", "9"), ("--states",),
                          ("--stage", "legal"), ("--approximate", "gelu=tanh")):
            with self.subTest(arguments=arguments):
                text = self.out("graph", self.model, *arguments, "--quiet")
                self.assertEqual(self.out("graph", self.write("g.tir", text)), text)

    def test_the_exported_form_has_one_input(self):
        text = self.out("graph", self.model, "--sequence", "single")
        self.assertEqual(len(re.findall(r"= input \{", text)), 1)

    def test_stages(self):
        tape = self.out("graph", self.model, "--stage", "tape")
        graph = self.out("graph", self.model)
        legal = self.out("graph", self.model, "--stage", "legal")
        self.assertEqual(len({tape, graph, legal}), 3)
        self.assertIn("group", legal)
        self.assertNotIn("group", graph)
        self.refused("graph", self.model, "--stage", "last", error="option-invalid")

    def test_formats(self):
        document = self.document("graph", self.model)
        self.assertEqual(document, json.loads(self.out("graph", self.model, "--format", "json")))
        self.assertEqual(sum(node["op"] == "gelu" for node in document["nodes"]), small_model.LAYERS)
        dot = self.out("graph", self.model, "--format", "dot")
        self.assertTrue(dot.startswith("digraph") and dot.rstrip().endswith("}"))
        picture = xml.etree.ElementTree.fromstring(self.out("graph", self.model, "--stage", "legal", "--format", "svg"))
        self.assertTrue(picture.tag.endswith("svg"))
        edges = [one for one in picture if one.tag.endswith("polyline")]
        self.assertTrue(edges and all(one.get("marker-end") == "url(#arrow)" for one in edges))
        self.assertTrue(any(len(one.get("points").split()) > 2 for one in edges))
        boxes = [tuple(int(one.get(key)) for key in ("x", "y", "width", "height")) for one in picture
                 if one.tag.endswith("rect") and one.get("x")]
        for edge in edges:
            points = [tuple(map(int, point.split(","))) for point in edge.get("points").split()]
            for (x0, y0), (x1, y1) in zip(points, points[1:]):
                for step in range(1, 64):
                    x, y = x0 + (x1 - x0) * step / 64, y0 + (y1 - y0) * step / 64
                    self.assertFalse(any(left < x < left + width and top < y < top + height
                                         for left, top, width, height in boxes), "an edge crosses a box")
        self.assertIn("attention", "".join(picture.itertext()))
        self.refused("graph", self.model, "--format", "png", error="output-format-unknown")
        self.refused("graph", self.model, "--sequence", "double", error="option-invalid")

    def test_pictures_of_any_names(self):
        for name in (b"]]>", b"&amp;<a>", b"a\\nb\x01", b"\xc3\xbf\x7f", b'\\"q\\\\'):
            graph = self.write("g.tir", GELU.encode().replace(b'{name = "x"}', b'{name = "' + name + b'"}'))
            picture = xml.etree.ElementTree.fromstring(self.out("graph", graph, "--format", "svg"))
            self.assertIn("input ", "".join(picture.itertext()))
            self.assertRegex(self.out("graph", graph, "--format", "dot"), r'n0 \[label="input ([^"\\]|\\.)*"\]')

    def test_a_group_is_a_box_with_the_ops_of_its_body(self):
        inner = ('group %p {label = "in\\"ner"} : f32[4] body @i { %q = input : f32[4]\n %r = exp %q\n'
                 ' output %r {name = "r"} }')
        graph = self.write("g.tir", "graph @main {\n %x = input : f32[4]\n"
                           ' %y = group %x {label = ""} : f32[4] body @g { %p = input : f32[4]\n'
                           f" %c = constant {{value = f32[] 2}}\n %m = mul %p %c\n %n = {inner}\n %s = add %m %n\n"
                           ' output %s {name = "r"} }\n output %y\n}\n')
        dot = self.out("graph", graph, "--format", "dot")
        self.assertIn(r'n1 [label="group\nmul, in\"ner (exp), add\nf32[4]" style=bold];', dot)
        self.assertIn(">group</text>", self.out("graph", graph, "--format", "svg"))

    def test_graph_text_takes_no_options_of_models(self):
        graph = self.write("g.tir", GELU)
        for arguments in (("--length", "3"), ("--states",), ("--sequence", "single")):
            message = self.refused("graph", graph, *arguments, error="option-invalid")
            self.assertIn(f"at: {arguments[0]}\n", message)

    def test_json_opens_in_model_explorer(self):
        for stage in ("graph", "legal"):
            document = self.document("graph", self.model, "--stage", stage)
            schema = pathlib.Path(__file__).with_name("model_explorer.schema.json")
            self.assertEqual(driver.broken_rules(document, schema), "")
            graph, = document["graphs"]
            ids = [node["id"] for node in graph["nodes"]]
            self.assertEqual(len(set(ids)), len(ids))
            known = set()
            for node in graph["nodes"]:
                self.assertLessEqual({edge["sourceNodeId"] for edge in node["incomingEdges"]}, known, node)
                known.add(node["id"])
            layers = {node["namespace"] for node in graph["nodes"]}
            self.assertIn("embeddings", layers)
            for layer in range(small_model.LAYERS):
                self.assertIn(f"encoder/layer.{layer}/attention", layers)

    def test_groups_are_layers_in_model_explorer(self):
        graph, = self.document("graph", self.model, "--stage", "legal")["graphs"]
        fused = [node for node in graph["nodes"] if re.search(r"/[a-z_]+\.\d+$", node["namespace"])]
        self.assertTrue(fused)
        self.assertNotIn("group", {node["label"] for node in graph["nodes"]})
        ops = [node["label"] for node in graph["nodes"] if node["label"] == "gelu"]
        self.assertEqual(len(ops), small_model.LAYERS)
        text = self.document("graph", self.model, "--stage", "legal")
        bodies = sum(len(node["body"]["nodes"]) for node in text["nodes"] if "body" in node)
        ports = sum(inner["op"] in ("input", "output") for node in text["nodes"] if "body" in node
                    for inner in node["body"]["nodes"])
        groups = sum("body" in node for node in text["nodes"])
        self.assertEqual(len(graph["nodes"]), len(text["nodes"]) - groups + bodies - ports)

    def test_layers_of_any_paths(self):
        schema = pathlib.Path(__file__).with_name("model_explorer.schema.json")
        for path, layers in (("a.0.b", "a.0/b"), ("a//b", "a/b"), ("a..b", "a/b"), ("a.b/", "a/b"), ("/", ""),
                             (".", ""), ("/a", "a"), ("a/0", "a/0"), ("a./.0", "a.0"), ("0", "0")):
            graph = self.write("g.tir", f'graph @f {{\n %x = input : f32[4]\n %y = exp %x @ "{path}"\n'
                               f' %z = group %y {{label = "a//b/"}} : f32[4] @ "{path}" body @g {{\n'
                               ' %p = input : f32[4]\n %q = neg %p\n output %q }\n output %z\n}\n')
            with self.subTest(path=path):
                document = self.document("graph", graph)
                self.assertEqual(driver.broken_rules(document, schema), "")
                found = {node["label"]: node["namespace"] for node in document["graphs"][0]["nodes"]}
                self.assertEqual(found["exp"], layers)
                self.assertEqual(found["neg"], f"{layers}/a..b..2".removeprefix("/"))

    def test_bad_text_is_placed(self):
        message = self.refused("graph", self.write("bad.tir", GELU.replace("gelu %x", "gleu %x")), error="op-unknown")
        self.assertRegex(message, r"bad\.tir:3:\d+")
        self.assertIn("gelu", message)
        message = self.refused("graph", self.write("bad.tir", GELU.replace("false}", "false")), error="text-syntax")
        self.assertRegex(message, r"bad\.tir:3:\d+")
        for name in (b"\\xff", b"\xfe", b"\\xc3("):
            odd = self.write("odd.tir", b'graph @f {\n  %x = input : f32[1]\n  output %x {name = "' + name + b'"}\n}\n')
            self.assertIn(f"{odd}:3:21\n", self.refused("graph", odd, error="text-syntax"))
        self.refused("graph", self.scratch / "none.tir", error="file-not-found")


class PluginTest(driver.DriverTest):
    def test_what_is_no_plugin_is_refused_wherever_there_is_a_target(self):
        path = self.write("f.tir", GELU)
        for command in (("run", path, "--input", "x=f32[4] [1, 2, 3, 4]"), ("graph", path), ("targets",), ("ops",),
                        ("embed", self.scratch, "--text", "a"), ("verify", self.scratch), ("inspect", self.scratch)):
            with self.subTest(command=command):
                self.refused(*command, "--plugin", path, error="plugin-not-loadable")
                self.refused(*command, "--plugin", self.scratch / "none.so", error="file-not-found")


class OptTest(driver.DriverTest):
    TWICE = """graph @f {
  %x = input {name = "x"} : f32[2]
  %a = abs %x : f32[2]
  %b = abs %x : f32[2]
  %c = add %a %b : f32[2]
  output %c {name = "c"}
}
"""

    def test_passes_run_in_order(self):
        path = self.write("f.tir", self.TWICE)
        text = self.out("opt", path, "--passes", "common-subexpressions,dead-code", "--verify-each")
        self.assertEqual(text.count(" = abs "), 1)
        self.assertEqual(self.out("opt", path, "--passes", "dead-code"), self.TWICE)
        shown = self.out("opt", path, "--passes", "common-subexpressions,dead-code", "--print-after-all")
        self.assertIn("# after common-subexpressions\n", shown)
        document = self.document("opt", path, "--passes", "common-subexpressions,dead-code")
        self.assertEqual(sum(node["op"] == "abs" for node in document["graph"]["nodes"]), 1)

    def test_unknown_pass(self):
        message = self.refused("opt", self.write("f.tir", self.TWICE), "--passes", "dead-cod", error="pass-unknown")
        self.assertIn("dead-code", message)

    def test_rewrites_are_listed(self):
        document = self.document("opt", self.write("g.tir", GELU), "--passes", "gelu-tanh")
        self.assertEqual([row["pass"] for row in document["rewrites"]], ["gelu-tanh"])
        done = self.run_driver("opt", self.write("g.tir", GELU), "--passes", "gelu-tanh")
        self.assertIn("GELU_APPROX_LEGALIZED", done.stderr)
        self.assertIn(b"approximate = true", done.stdout)


class RunTest(driver.DriverTest):
    VALUES = (0.5, -1.0, 2.701, -30.0)
    INPUT = "x=f32[4] [0.5, -1, 2.701, -30]"

    def results(self, *arguments):
        output = self.scratch / "y.safetensors"
        self.out("run", self.write("g.tir", GELU), *arguments, "--output", output, "--quiet")
        (dtype, shape, contents), = driver.read_safetensors(output.read_bytes()).values()
        self.assertEqual(shape, [4])
        return list(array.array({"F32": "f", "F64": "d"}[dtype], contents))

    def test_values(self):
        exact = [x / 2 * math.erfc(-x / math.sqrt(2)) for x in self.VALUES]
        for target, bound in (("cpu", 4.5e-7), ("interp", 2e-7)):  # 2.701 itself is rounded to f32
            for found, expected in zip(self.results("--input", self.INPUT, "--target", target), exact):
                self.assertLess(abs(found - expected), bound)

    def test_an_approximation_is_another_function(self):
        exact = self.results("--input", self.INPUT)
        rough = self.results("--input", self.INPUT, "--approximate", "gelu=tanh")
        self.assertTrue(4.5e-4 < abs(exact[2] - rough[2]) < 5.0e-4)  # the largest difference there is
        done = self.run_driver("run", self.scratch / "g.tir", "--input", self.INPUT, "--approximate", "gelu=tanh")
        self.assertIn("GELU_APPROX_LEGALIZED", done.stderr)

    def test_inputs_of_every_kind(self):
        graph = self.write("g.tir", GELU)
        expected = self.out("run", graph, "--input", self.INPUT)
        text = self.write("x.txt", self.INPUT[2:])
        tensors = self.write("x.safetensors", driver.safetensors(
            {"x": ("F32", [4], driver.bits(self.VALUES)), "other": ("F32", [1], driver.bits([1]))}))
        for value in (text, tensors):
            self.assertEqual(self.out("run", graph, "--input", f"x={value}"), expected)
        name, value = self.out("run", graph, "--input", self.INPUT).strip().split(" = ", 1)
        self.assertEqual(self.document("run", graph, "--input", self.INPUT), {name: value})

    def test_inputs_that_do_not_fit(self):
        graph = self.write("g.tir", GELU)
        self.refused("run", graph, error="input-missing")
        self.refused("run", graph, "--input", "z=f32[4] [1, 2, 3, 4]", error="input-unknown")
        self.refused("run", graph, "--input", "x=f32[3] [1, 2, 3]", error="input-type")
        self.refused("run", graph, "--input", "x=f64[4] [1, 2, 3, 4]", error="input-type")
        self.refused("run", graph, "--input", "x", error="option-invalid")
        self.refused("run", graph, "--input", self.INPUT, "--input", self.INPUT, error="option-invalid")
        self.refused("run", graph, "--input", f"x={self.scratch / 'none.txt'}", error="file-not-found")
        self.refused("run", graph, "--input", self.INPUT, "--target", "abacus", error="target-unknown")
        self.refused("run", graph, "--input", self.INPUT, "--approximate", "x=y", error="approximation-unknown")
        self.assertIn("did you mean 'cpu'?", self.refused("run", graph, "--target", "cpuu", error="target-unknown"))

    def test_options_that_a_target_has_no_use_for(self):
        run = ("run", self.write("g.tir", GELU), "--input", self.INPUT)
        for target in ("cpu", "interp"):
            for option in (("--no-chlo",), ("--calibrate", "/nonexistent")):
                said = self.refused(*run, "--target", target, *option, error="option-invalid")
                self.assertIn(f"at: {option[0]}\n", said)
                self.assertIn(f"target {target} ", said)


class ListTest(driver.DriverTest):
    def test_ops(self):
        rows = self.document("ops")
        names = [row["name"] for row in rows]
        self.assertEqual(names, sorted(names))
        self.assertLessEqual({"gelu", "matmul", "attention", "layer_norm"}, set(names))
        text = self.out("ops")
        for row in rows:
            self.assertEqual(set(row["targets"]), {"cpu", "ga2", "interp", "iree", "stablehlo"})
            self.assertRegex(text, rf"(?m)^{row['name']} ")

    def test_targets(self):
        # Without programs in the path, iree's tools are not there.
        rows = self.document("targets", env={"PATH": "/nowhere"})
        self.assertEqual([(row["name"], row["ready"]) for row in rows],
                         [("cpu", True), ("ga2", True), ("interp", True), ("iree", False), ("stablehlo", True)])
        self.assertRegex(self.out("targets"), r"(?m)^cpu +ready ")

    def test_docs(self):
        written = self.document("docs", "--output", self.scratch / "docs")
        pages = [path for path in (self.scratch / "docs").rglob("*") if path.is_file()]
        self.assertEqual(len(pages), written["pages"])
        self.assertGreater(len(pages), len(self.document("ops")))

    def test_docs_show_what_a_judge_found(self):
        results = self.scratch / "results.json"
        results.write_text('{"judge": "judge 1", "ops": {"add": {"f32": {"result": "passed"}, '
                           '"i8": {"result": "unsupported", "reason": "no bytes"}}}}', encoding="utf-8")
        self.document("docs", "--conformance", results, "--output", self.scratch / "docs")
        self.assertIn("| passed: f32; unsupported: i8 |", (self.scratch / "docs" / "ops.md").read_text("utf-8"))
        self.assertIn("| i8 | unsupported | no bytes |", (self.scratch / "docs" / "ops" / "add.md").read_text("utf-8"))
        for text in ("[]", '{"judge": 1, "ops": {}}', '{"judge": "j", "ops": {"ad": {}}}',
                     '{"judge": "j", "ops": {"add": {"f33": {"result": "passed"}}}}',
                     '{"judge": "j", "ops": {"add": {"f32": {"result": "pass"}}}}',
                     '{"judge": "j", "ops": {"add": {"f32": {"result": "unsupported"}}}}',
                     '{"judge": "j", "ops": {"add": {"f32": []}}}', '{"judge": "j", "ops": {"add": 5}}',
                     '{"judge": "j", "ops": {"add": {}}}', '{"judge": "j", "ops": {"add": []}}',
                     *(f'{{"judge": "j", "ops": {{"add": {{"f32": {{{row}}}}}}}}}' for row in (
                         '"result": "passed", "except": "never"', '"result": "passed", "except": []',
                         '"result": "passed", "except": [""]', '"result": "passed", "except": ["a", 1]',
                         '"result": "passed", "except": {"a": 1}', '"result": "passed", "reason": "none"',
                         '"result": "passed", "reason": ""', '"result": "passed", "because": "of it"',
                         '"result": "unsupported", "reason": 7', '"result": "unsupported", "reason": ["a"]',
                         '"result": "unsupported", "reason": "a", "except": ["b"]', '"result": 1'))):
            results.write_text(text, encoding="utf-8")
            self.refused("docs", "--conformance", results, "--output", self.scratch / "no", error="conformance-invalid")
            self.assertFalse((self.scratch / "no").exists(), text)


if __name__ == "__main__":
    driver.main()
