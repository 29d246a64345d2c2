"""Target ga2 through run, export and graph: golden graphs written as graph text by this file, compared with what the golden files expect."""

import array
import json
import math
import re
import shlex

import driver
from ga2_golden import GOLDEN, golden

# Sums, joined rows and a class; products by the transposed operand; views; weights of 4 bits.
CASES = ("section1", "example_a", "example_b", "slice03", "int4_02", "graph102")
UNARY = ("softmax", "relu")


def expected(document, key):
    return document["expected"][key]["value"]


def type_of(node, dtype):
    return f"{dtype}[{node['shape'][0]}, {node['shape'][1]}]"


def graph_text(nodes, dtype="f64"):
    """The nodes as graph text: one line each, in their order."""
    lines = []
    for node in nodes:
        value, operands = f"%n{node['id']}", " ".join(f"%n{operand}" for operand in node["ins"])
        op = node["op"]
        if op == "input":
            lines.append(f'{value} = input {{name = "{node["name"]}"}} : {type_of(node, dtype)}')
        elif op == "weight":
            bits = f" !{{bits = {node['bits']}}}" if node["bits"] != 8 else ""
            lines.append(f"{value} = constant {{value = {type_of(node, dtype)} {node['array']}}}{bits}")
        elif op == "matmul":
            attributes = f"transpose_b = {str(node['transpose_b']).lower()}, factor = {node['scale']!r}"
            lines.append(f"{value} = matmul {operands} {{{attributes}}}")
        elif op in UNARY:
            lines.append(f"{value} = {op} {operands}")
        elif op == "argmax":
            lines.append(f"{value} = argmax {operands} {{keep_dims = true}}")
        elif op == "slice":
            start, (rows, columns) = node["start"], node["shape"]
            lines.append(f"{value} = slice {operands} {{starts = [{start}, 0], limits = [{start + rows}, {columns}]}}")
        elif op == "output":
            lines.append(f'output {operands} {{name = "{node["name"]}"}}')
        else:
            lines.append(f"{value} = {op} {operands}")
    return "graph @main {\n  " + "\n  ".join(lines) + "\n}\n"


def numbers(text):
    """The elements of an array that `capra run --json` printed, row after row."""
    dtype, rows = re.fullmatch(r"(\w+)\[[\d, ]*\] (.*)", text, re.DOTALL).groups()
    splat = re.fullmatch(r"splat (\S+)", rows)
    if splat:
        raise ValueError(text)
    flat = []
    for row in json.loads(rows):
        flat += row if isinstance(row, list) else [row]
    return dtype, flat


def flat(rows):
    return [number for row in rows for number in row]


class Ga2TargetTest(driver.DriverTest):
    def case(self, name, dtype="f64"):
        document = golden(name)
        graph = self.write(f"{name}.tir", graph_text(document["graph"]["nodes"], dtype))
        inputs = []
        for node in document["graph"]["nodes"]:
            if node["op"] == "input":
                rows = document["test"][node["name"]]
                inputs += ["--input", f"{node['name']}={type_of(node, dtype)} {rows}"]
        return document, graph, inputs

    def run_case(self, graph, inputs, *arguments, calibrate):
        done = self.run_driver("run", graph, "--target", "ga2", "--json", *inputs, "--calibrate", calibrate, *arguments)
        return json.loads(done.stdout), done.stderr

    def test_golden_graphs_run(self):
        for name in CASES:
            with self.subTest(case=name):
                document, graph, inputs = self.case(name)
                outputs, said = self.run_case(graph, inputs, calibrate=GOLDEN / f"{name}.json")
                wanted = expected(document, "outputs")
                self.assertEqual(set(outputs), set(wanted))
                for output, text in outputs.items():
                    dtype, found = numbers(text)
                    if dtype == "i64":
                        self.assertEqual(found, flat(wanted[output]["ints"]))
                        continue
                    for one, other in zip(found, flat(wanted[output]["floats"]), strict=True):
                        self.assertAlmostEqual(one, other, delta=1e-12)
                error = float(re.search(r"note: INT8_RUN graph=main: relError=(\S+) ", said).group(1))
                self.assertAlmostEqual(error, expected(document, "rel_error"), delta=6e-5)
                cycles = expected(document, "cycles") or r"\d+"
                self.assertRegex(said, rf"numbers, {cycles} cycles\n")
                self.assertRegex(said, r"note: INT8_LEGALIZED graph=main: \d+ tensors in levels of 8 or 4 bits")

    def test_f32_graphs_give_f32(self):
        _, graph, inputs = self.case("section1", "f32")
        samples = self.write("samples.json", json.dumps(golden("section1")["calib"]))
        outputs, said = self.run_case(graph, inputs, calibrate=samples)
        self.assertEqual({name: numbers(text)[0] for name, text in outputs.items()}, {"probs": "f32", "class": "i64"})
        self.assertIn("INT8_RUN", said)
        done = self.run_driver("run", graph, "--target", "ga2", "--quiet", *inputs, "--calibrate", samples)
        self.assertEqual(done.stderr, "")

    def test_values_beyond_the_samples_are_said(self):
        graph = self.write("g.tir", graph_text([
            {"id": 0, "op": "input", "ins": [], "shape": [1, 4], "name": "x"},
            {"id": 1, "op": "output", "ins": [0], "shape": [1, 4], "name": "y"}], "f32"))
        samples = self.write("s.json", '{"calib": [{"x": [[1, -2, 0.5, 0]]}]}')
        outputs, said = self.run_case(graph, ["--input", "x=f32[1, 4] [[2, -2, 3, 1]]"], calibrate=samples)
        self.assertIn("INT8_SATURATES graph=main: 1 of 4 values of input x lie beyond 2,", said)
        # 2 is the range: 127 levels of 2/127; 1 is 63.5 of them, rounded away from zero.
        found = array.array("f", numbers(outputs["y"])[1])
        self.assertEqual(found, array.array("f", [2, -2, 2, 64 * 2 / 127]))

    def test_samples_are_needed_and_are_numbers(self):
        _, graph, inputs = self.case("section1")
        run = ("run", graph, "--target", "ga2", *inputs)
        self.assertIn("--calibrate", self.refused(*run, error="calibration-missing"))
        self.refused(*run, "--calibrate", self.scratch / "none.json", error="file-not-found")
        x = [[0.5] * 12] * 5
        for samples, error in (({"calib": []}, "sample-invalid"), ({"samples": []}, "network-document"),
                               ([{"x": [[1, 2]]}], "sample-invalid"), ([{"y": x}], "sample-invalid"),
                               ([{"x": [["nan"] * 12] * 5}], "network-document")):
            path = self.write("samples.json", json.dumps(samples))
            self.refused(*run, "--calibrate", path, error=error)
        self.refused(*run, "--calibrate", self.write("s.json", '{"calib": [{"x": [[1e999]]}]}'), error="json-syntax")
        self.refused(*run, "--calibrate", self.write("s.json", '{"calib": [{"x": [[NaN]]}]}'), error="json-syntax")

    def test_an_infinite_input_is_refused(self):
        graph = self.write("g.tir", graph_text([
            {"id": 0, "op": "input", "ins": [], "shape": [1, 2], "name": "x"},
            {"id": 1, "op": "output", "ins": [0], "shape": [1, 2], "name": "y"}], "f32"))
        samples = self.write("s.json", '{"calib": [{"x": [[1, -2]]}]}')
        for value in ("inf", "nan"):
            self.refused("run", graph, "--target", "ga2", "--calibrate", samples, "--input", f"x=f32[1, 2] [[1, {value}]]",
                         error="sample-invalid")

    def test_the_authors_order_is_kept(self):
        # Equal products, a product that nothing uses, and an output before the end.
        text = """graph @main {
  %x = input {name = "x"} : f32[2, 2]
  %w = constant {value = f32[2, 2] [[1, 0], [0, 1]]} : f32[2, 2]
  %2 = matmul %x %w {transpose_a = false, transpose_b = false, factor = 1} : f32[2, 2]
  output %2 {name = "first"}
  %4 = matmul %x %w {transpose_a = false, transpose_b = false, factor = 1} : f32[2, 2]
  %5 = softmax %x {axis = -1} : f32[2, 2]
  output %4 {name = "second"}
}
"""
        graph = self.write("g.tir", text)
        self.assertEqual(self.out("graph", graph, "--stage", "legal", "--target", "ga2"), text)
        samples = self.write("s.json", '[{"x": [[1, -2], [0.5, 0]]}]')
        self.document("export", graph, "--target", "ga2", "--calibrate", samples, "--output", self.scratch / "p")
        listing = (self.scratch / "p" / "program.lst").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"^\w+", listing, re.MULTILINE),
                         ["LD", "LD", "MM", "RQ", "ST", "MM", "RQ", "SM", "SM", "RQ", "ST", "HALT"])

    def test_calls_without_a_unit_are_refused_at_their_node(self):
        for call, message in (("softmax %x {axis = 0}", "the axis is 0, the last one is needed"),
                              ("exp %x", "target ga2 does not run exp"),
                              ("gelu %x", "neither gelu(f32[2, 3]) nor all of its steps")):
            graph = self.write("g.tir", "graph @g {\n  %x = input : f32[2, 3]\n  %y = " + call + ' @ "head.y"\n  output %y\n}\n')
            for command in (("graph", graph, "--stage", "legal"), ("run", graph)):
                said = self.refused(*command, "--target", "ga2", error="op-not-legal")
                self.assertIn(message, said)
                self.assertIn("at: head.y", said)

    def export(self, name, *arguments):
        document, graph, _ = self.case(name)
        folder = self.scratch / f"{name}.program"
        done = self.run_driver("export", graph, "--target", "ga2", "--calibrate", GOLDEN / f"{name}.json", "--output", folder,
                               "--json", *arguments)
        report = json.loads(done.stdout)
        self.assertEqual(report, json.loads((folder / "report.json").read_text(encoding="utf-8")))
        self.assertEqual(driver.broken_report_rules(report), "")
        self.assertIn("INT8_LEGALIZED", done.stderr)
        return document, folder, report

    def test_exported_programs(self):
        for name in ("section1", "int4_02"):
            with self.subTest(case=name):
                document, folder, report = self.export(name)
                self.assertEqual({path.name for path in folder.iterdir()},
                                 {"program.hex", "program.lst", "memory.hex", "layout.json", "network.json", "README.md",
                                  "report.json", "report.html"})
                listing = expected(document, "listing")
                self.assertEqual((folder / "program.lst").read_text(encoding="utf-8").splitlines(), listing)
                self.assertEqual(self.out("ga2", "disasm", folder / "program.hex").splitlines(), listing)
                self.assertRegex((folder / "program.hex").read_text(encoding="utf-8"), r"\A([0-9a-f]{32}\n)+\Z")
                self.check_memory(document, folder)
                self.check_measured(document, report)
                # The graph in the folder gives the same program, and runs.
                again = self.document("ga2", "compile", folder / "network.json", "--quiet")
                self.assertEqual(again["listing"], listing)
                self.document("ga2", "run", folder / "network.json", "--quiet")
                readme = (folder / "README.md").read_text(encoding="utf-8")
                self.assertIn("capra ga2 run network.json\n", readme)
                self.assertNotIn("npy", readme)
                self.run_driver("export", "--check", folder)

    def check_memory(self, document, folder):
        words = [int(line, 16) for line in (folder / "memory.hex").read_text(encoding="utf-8").splitlines()]
        self.assertEqual(len(words), expected(document, "ext_words"))
        layout = json.loads((folder / "layout.json").read_text(encoding="utf-8"))
        wanted = expected(document, "ext_layout")
        names = {region["node"]: name for name, region in wanted.items()}
        found = [(region["kind"], region["address"], region["words"]) for region in layout["external"]]
        self.assertEqual(found, [(region["kind"], region["addr"], region["words"]) for region in wanted.values()])
        # The weights as the golden file has their levels: sign-extended, or eight of 4 bits in a word.
        for node in document["graph"]["nodes"]:
            if node["op"] != "weight":
                continue
            region = wanted[names[node["id"]]]
            levels = flat(expected(document, "node_ints")[str(node["id"])])
            stored = words[region["addr"]:region["addr"] + region["words"]]
            if node["bits"] == 4:
                levels += [0] * (-len(levels) % 8)
                packed = [sum((level & 15) << 4 * j for j, level in enumerate(levels[i:i + 8])) for i in range(0, len(levels), 8)]
                self.assertEqual(stored, packed)
            else:
                self.assertEqual(stored, [level & 0xffffffff for level in levels])

    def check_measured(self, document, report):
        [measured] = report["measured"]
        self.assertIn(f"on the {len(document['calib'])} samples", measured["what"])
        self.assertTrue(0 < measured["value"] < 1, measured)
        rounded = [node for node in document["graph"]["nodes"] if node["op"] in ("input", "weight", "matmul", "softmax", "add")]
        self.assertEqual(len(report["approximations"]), len(rounded))
        scales = expected(document, "scale")
        levels = {"input": 0.5, "weight": 0.5, "matmul": 1, "softmax": 1, "add": 2}
        for node, row in zip(rounded, report["approximations"], strict=True):
            self.assertAlmostEqual(row["max_abs_error"], levels[node["op"]] * scales[str(node["id"])], delta=1e-12)
            self.assertIn("in f64", row["from"])
            self.assertIn(f"in levels of {node.get('bits', 8)} bits", row["to"])
        bounds = {row["op"]: row for row in report["budget"]["ops"]}
        self.assertTrue(all(row["form"] == "native" for row in bounds.values()), bounds)
        self.assertIn("levels", bounds["matmul"]["reason"])

    def test_options_that_such_programs_do_not_have(self):
        _, graph, inputs = self.case("section1")
        export = ("export", graph, "--target", "ga2", "--calibrate", GOLDEN / "section1.json", "--output", self.scratch / "p")
        for option in (("--keep-fused", "softmax"), ("--no-chlo",), ("--weights", "irpa"), ("--constants", "external"),
                       ("--flag=--fast",)):
            self.refused(*export, *option, error="option-invalid")
        self.refused("run", graph, "--target", "ga2", *inputs, "--calibrate", GOLDEN / "section1.json", "--no-chlo",
                     error="option-invalid")
        self.refused("export", graph, "--target", "ga2", "--output", self.scratch / "p", error="calibration-missing")
        self.assertFalse((self.scratch / "p").exists())


class PageTest(driver.DriverTest):
    def test_the_lines_of_the_page_print_what_it_shows(self):
        page = (driver.ROOT / "docs" / "ga2.md").read_text(encoding="utf-8")
        shown = re.search(r"^```\n(\$ capra run examples/ga2/.*?)^```$", page, re.M | re.S).group(1)
        commands = re.findall(r"^\$ capra (.*)\n((?:(?!\$ ).*\n)+)", shown, re.M)
        self.assertEqual(len(commands), 3)
        for line, printed in commands:
            self.assertEqual(self.out(*shlex.split(line), cwd=driver.ROOT), printed, line)

    def test_the_chip_is_near_real_numbers(self):
        # softmax(q k' / 2) v in double precision.
        q, k = [1, 0, -0.5, 0.5], [[1, 0, -1, 0.5], [-0.5, 1, 0.25, 0], [0, 0.5, 1, -1]]
        shares = [math.exp(0.5 * sum(a * b for a, b in zip(q, row))) for row in k]
        wanted = [sum(s * x for s, x in zip(shares, column)) / sum(shares) for column in ([0.5, 1, -1], [1, -0.5, 0.25])]
        folder = driver.ROOT / "examples" / "ga2"
        found = self.document("ga2", "run", folder / "attention.tir", "--calibrate", folder / "samples.json")
        for value, exact in zip(found["outputs"]["out"]["floats"][0], wanted):
            self.assertAlmostEqual(value, exact, delta=0.01)


if __name__ == "__main__":
    driver.main()
