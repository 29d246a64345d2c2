"""capra ga2: its commands, their options, and programs as text and words; ga2_golden_test.py has all golden graphs."""

import array
import json
import pathlib
import re
import xml.etree.ElementTree

import driver
from ga2_golden import Ga2Test, golden, path_of


class CompileTest(Ga2Test):
    def test_listing_for_people_is_one_for_asm(self):
        text = self.out("ga2", "compile", path_of("example_a"))
        listing = golden("example_a")["expected"]["listing"]["value"]
        self.assertEqual([line[7:] for line in text.splitlines()[:-1]], listing)
        self.assertEqual(text.splitlines()[-1], "# 15 instructions, 484 cycles; scratchpad 70 of 4096 words, "
                                                "external memory 112 of 8192 words")
        words = self.out("ga2", "asm", self.write("a.lst", text))
        self.assertEqual(self.out("ga2", "disasm", self.write("a.hex", words)), "".join(f"{one}\n" for one in listing))

    def test_output_by_suffix(self):
        listing = "".join(f"{one}\n" for one in golden("section1")["expected"]["listing"]["value"])
        for name, suffix in (("p.lst", "lst"), ("p.txt", "txt"), ("p.hex", "hex")):
            path = self.scratch / name
            summary = self.out("ga2", "compile", path_of("section1"), "--output", path)
            self.assertTrue(summary.startswith("# 38 instructions"), summary)
            text = path.read_text(encoding="utf-8")
            self.assertEqual(self.out("ga2", "disasm", path) if suffix == "hex" else text, listing)
        self.refused("ga2", "compile", path_of("section1"), "--output", self.scratch / "p.bin",
                     error="output-format-unknown")
        self.assertFalse((self.scratch / "p.bin").exists())

    def test_without_reuse(self):
        expected = golden("example_a")["expected"]
        found = self.document("ga2", "compile", path_of("example_a"), "--no-reuse")
        self.assertEqual(found["listing"], expected["listing_noreuse"]["value"])
        self.assertEqual(found["spad_high"], expected["spad_high_noreuse"]["value"])
        message = self.refused("ga2", "compile", path_of("six_layers"), "--no-reuse", error="memory-full")
        self.assertIn(golden("refuse_six_layers_noreuse")["expected"]["message"]["value"], message)

    def test_samples_and_ranges_from_outside(self):
        document = golden("example_a")
        samples = document.pop("calib")
        document["graph"]["nodes"][0]["tag"] = "queries"
        graph = self.write("graph.json", json.dumps(document))
        self.refused("ga2", "compile", graph, error="sample-invalid")
        scale = document["expected"]["scale"]["value"]
        for form in (samples, {"calib": samples}):
            calib = self.write("calib.json", json.dumps(form))
            found = self.document("ga2", "compile", graph, "--calibrate", calib)
            self.assert_near(found["scale"], scale, "scale")
        found = self.document("ga2", "compile", graph, "--calibrate", calib, "--range", "queries=12.7")
        self.assertEqual(found["ranges"]["0"], 12.7)
        self.assertEqual(found["scale"]["0"], 12.7 / 127)
        for bad in ("queries", "queries=", "=1", "queries=x"):
            self.refused("ga2", "compile", graph, "--calibrate", calib, "--range", bad, error="option-invalid")
        for bad in ("keys=1", "queries=0", "queries=-1", "queries=nan"):
            self.refused("ga2", "compile", graph, "--calibrate", calib, "--range", bad, error="range-invalid")
        self.refused("ga2", "compile", graph, "--calibrate", self.write("c.json", "{}"), error="network-document")
        self.refused("ga2", "compile", graph, "--calibrate", self.write("c.json", "[]"), error="sample-invalid")

    def test_graphs_as_text(self):
        samples = golden("example_a")
        calib = self.write("calib.json", json.dumps({"calib": samples["calib"], "test": samples["test"]}))
        lines = ["graph @attention {"]
        for node in samples["graph"]["nodes"]:
            operands = " ".join(f"%v{i}" for i in node["ins"])
            attributes = ""
            if node["op"] in ("input", "output"):
                attributes = f'{{name = "{node["name"]}"}}'
            elif node["op"] == "concat":
                attributes = "{axis = 0}"
            elif node["op"] == "matmul":
                attributes = f'{{transpose_b = {str(node["transpose_b"]).lower()}, factor = {node["scale"]!r}}}'
            if node["op"] == "input":
                attributes += f" : f64{node['shape']}"
            name = "" if node["op"] == "output" else f"%v{node['id']} = "
            lines.append(f"  {name}{node['op']} {operands} {attributes}")
        graph = self.write("g.tir", "\n".join(lines) + "\n}\n")
        found = self.document("ga2", "compile", graph, "--calibrate", calib)
        for key in ("listing", "requant", "alloc_events", "ext_layout", "node_ints", "outputs"):
            self.assertEqual(found[key], samples["expected"][key]["value"], key)
        self.assertIn("cycles 484: ", self.out("ga2", "run", graph, "--calibrate", calib))
        self.assertIn("PASS 6", self.out("ga2", "explain", graph, "--calibrate", calib))
        self.refused("ga2", "compile", graph, error="sample-invalid")
        self.refused("ga2", "compile", self.write("h.tir", "graph"), "--calibrate", calib, error="text-syntax")
        tanh = self.write("t.tir", 'graph @t {\n  %x = input : f32[2, 2]\n  %y = tanh %x\n  output %y\n}\n')
        self.refused("ga2", "compile", tanh, "--calibrate", calib, error="op-not-legal")
        self.refused("ga2", "compile", path_of("example_a"), "--parameters", "p.safetensors", error="option-invalid")

    def test_parameters_of_a_graph_as_text(self):
        weights = array.array("f", [0.5, -0.25, 1, 2, 0.125, -1])
        parameters = self.write("p.safetensors", driver.safetensors({"w": ("F32", [3, 2], weights.tobytes())}))
        graph = self.write("g.tir", 'graph @g {\n  %x = input : f32[1, 3]\n  %w = parameter {path = "w"} : f32[3, 2]\n'
                                    "  %y = matmul %x %w\n  output %y\n}\n")
        calib = self.write("c.json", json.dumps([{"x": [[1, -2, 4]]}]))
        run = ("ga2", "run", graph, "--calibrate", calib, "--input", "x=f32[1, 3] [[1, -2, 4]]")
        found = self.document(*run, "--parameters", parameters)["outputs"]["y"]["floats"][0]
        for value, wanted in zip(found, (1 * 0.5 - 2 * 1 + 4 * 0.125, -0.25 - 2 * 2 - 4)):
            self.assertAlmostEqual(value, wanted, delta=8.25 / 127)
        self.refused(*run, error="parameter-missing")

    def test_a_fast_schedule_has_the_same_outputs(self):
        for name in ("section1", "example_a", "six_layers"):
            fast = self.document("ga2", "compile", path_of(name), "--schedule", "fast")
            expected = golden(name)["expected"]
            self.assertLessEqual(fast["cycles"], expected["cycles"]["value"])
            self.assert_near(fast["outputs"], expected["outputs"]["value"], "outputs")
        same = self.document("ga2", "compile", path_of("example_a"), "--schedule", "author")
        self.assertEqual(same["listing"], golden("example_a")["expected"]["listing"]["value"])
        self.refused("ga2", "run", path_of("example_a"), "--schedule", "slow", error="option-invalid")
        self.refused("ga2", "run", path_of("example_a"), "--schedule", "fast", "--no-reuse", error="option-invalid")

    def test_bad_documents(self):
        self.refused("ga2", "compile", self.scratch / "none.json", error="file-not-found")
        self.refused("ga2", "compile", self.write("a.json", "{"), error="json-syntax")
        self.refused("ga2", "compile", self.write("a.json", "[]"), error="network-document")
        document = golden("example_a")
        document["calib"][0]["q"][0][0] = "nan"
        self.refused("ga2", "compile", self.write("a.json", json.dumps(document)), error="network-document")

    def test_without_a_sample_a_run_is_null(self):
        document = golden("example_a")
        del document["test"]
        graph = self.write("graph.json", json.dumps(document))
        found = self.document("ga2", "compile", graph)
        for key in ("check_problems", "node_ints", "outputs", "float_outputs", "rel_error"):
            self.assertIsNone(found[key])
        self.assertIn("'q' (1, 8)", self.refused("ga2", "run", graph, error="input-missing"))


    def test_memory_before_a_run(self):
        memory = self.scratch / "external.hex"
        self.run_driver("ga2", "compile", path_of("example_a"), "--memory", memory)
        found = [int(line, 16) - (int(line, 16) >> 31 << 32) for line in memory.read_text(encoding="ascii").splitlines()]
        document = golden("example_a")
        expected = document["expected"]
        words = [0] * expected["ext_words"]["value"]
        for region in expected["ext_layout"]["value"].values():
            if region["kind"] != "output":
                values = sum(expected["node_ints"]["value"][str(region["node"])], [])
                words[region["addr"]:region["addr"] + len(values)] = values
        self.assertEqual(found, words)
        del document["test"]
        self.run_driver("ga2", "compile", self.write("g.json", json.dumps(document)), "--memory", memory)
        self.assertEqual(set(memory.read_text(encoding="ascii").split()), {"00000000"})  # it has no weights


class RunTest(Ga2Test):
    def test_text(self):
        text = self.out("ga2", "run", path_of("example_a"))
        self.assertIn("out (1, 8)\n  integers\n    [14, 12, 3, 14, -56, 62, 7, 24]\n", text)
        self.assertTrue(text.splitlines()[-1].startswith("cycles 484: mm "), text)
        self.assertIn("class (5, 1)\n  indices\n    [2]\n    [2]\n    [1]\n    [1]\n    [1]\n",
                      self.out("ga2", "run", path_of("section1")))

    def test_inputs_in_every_form(self):
        document = golden("example_a")
        test = document.pop("test")
        graph = self.write("graph.json", json.dumps(document))
        given = [f"{name}={self.write(name + '.json', json.dumps(rows))}" for name, rows in test.items()]
        bindings = [part for one in given for part in ("--input", one)]
        outputs = document["expected"]["outputs"]["value"]
        self.assert_near(self.document("ga2", "run", graph, *bindings)["outputs"], outputs, "outputs")
        written = "q=f64[1, 8] [[" + ", ".join(map(repr, test["q"][0])) + "]]"
        found = self.document("ga2", "run", graph, *bindings[2:], "--input", written)
        self.assert_near(found["outputs"], outputs, "outputs")
        # One input over the document's own.
        found = self.document("ga2", "run", path_of("example_a"), "--input", "q=f32[1, 8] [[0, 0, 0, 0, 0, 0, 0, 0]]")
        self.assertNotEqual(found["outputs"]["out"]["ints"], outputs["out"]["ints"])
        self.refused("ga2", "run", graph, "--input", "z=f32[1] [0]", error="input-unknown")
        self.assertIn("'q' is given twice", self.refused("ga2", "run", graph, *bindings, "--input", written,
                                                         error="option-invalid"))
        self.refused("ga2", "run", graph, "--input", "q=i32[1, 8] [[0, 0, 0, 0, 0, 0, 0, 0]]", error="option-invalid")
        self.refused("ga2", "run", graph, *bindings[2:], "--input", "q=f32[1, 2] [[0, 0]]", error="sample-invalid")
        self.refused("ga2", "run", graph, "--input", f"q={self.write('q.json', '[[1, 2], [3]]')}",
                     error="network-document")

    def test_trace(self):
        listing = golden("example_a")["expected"]["listing"]["value"]
        ints = golden("example_a")["expected"]["node_ints"]["value"]
        trace = self.document("ga2", "run", path_of("example_a"), "--trace")["trace"]
        self.assertEqual([step["instruction"] for step in trace], listing)
        self.assertEqual(trace[0]["cycle"], 0)
        self.assertEqual(trace[1]["cycle"], 11 + 40)  # LD takes 11 + len
        self.assertEqual(trace[-1]["cycle"], 484 - 2)  # HALT takes 2
        self.assertEqual(trace[0]["written"], [{"address": 0, "values": sum(ints["1"], [])}])
        store = trace[13]
        self.assertEqual((store["memory"], store["written"]), ("ext", [{"address": 104, "values": ints["10"][0]}]))
        self.assertEqual(trace[-1]["written"], [])
        lines = self.out("ga2", "run", path_of("example_a"), "--trace").splitlines()
        for step, line in zip(trace, lines):
            self.assertRegex(line, rf"^ *{step['cycle']} +{step['number']}  {re.escape(step['instruction'])}( |$)")
        self.assertTrue(lines[2].endswith("spad 48: 59 29 5 13 -59 8 -36 -31"), lines[2])

    def test_rows_of_a_product_stand_apart(self):
        trace = self.document("ga2", "run", path_of("section1"), "--trace")["trace"]
        self.assertEqual([one["address"] for one in trace[2]["written"]], [230, 240, 250, 260])
        self.assertEqual([len(one["values"]) for one in trace[4]["written"]], [2, 2, 2, 2])


    def test_pipes(self):
        document = path_of("example_a").read_bytes()
        self.assertIn(b"cycles 484: ", self.run_driver("ga2", "run", "/dev/stdin", stdin=document).stdout)
        words = self.run_driver("ga2", "asm", "/dev/stdin", stdin=b"HALT\n").stdout
        self.assertEqual(words, b"0" * 32 + b"\n")


class ExplainTest(Ga2Test):
    """Its text for one step of attention is an example, compared with the published one: examples/ga2."""

    def test_passes_of_another_graph(self):
        passes = self.document("ga2", "explain", path_of("section1"))["passes"]
        expected = golden("section1")["expected"]
        lines = {one["title"].split(":")[0]: one["lines"] for one in passes}
        self.assertEqual(list(lines), [f"PASS {i}" for i in range(7)] + ["checks"])
        self.assertEqual(len(lines["PASS 0"]), expected["node_count"]["value"])
        requantizers = expected["requant"]["value"]
        self.assertEqual(len(lines["PASS 3"]), len(requantizers))
        for line, one in zip(lines["PASS 3"], requantizers):
            which = one["node"] if one["operand"] is None else f"({one['node']}, {one['operand']})"
            self.assertIn(f"node {which}: M ~ {one['m']} / 2^{one['s']} = ", line)
        self.assertIn("shares a scale with its relu", lines["PASS 2"][2])
        self.assertIn("(5 x 12) x (12 x 10) -> 2 x 3 = 6 tile(s): [rows 0-3, cols 0-3]", lines["PASS 4"][0])
        self.assertEqual([line.split(None, 1)[1] for line in lines["PASS 6"][:-2]], expected["listing"]["value"])
        self.assertIn("error against floating point: 2.00%", lines["checks"][0])

    def test_what_does_not_fit_without_reuse(self):
        text = self.out("ga2", "explain", path_of("six_layers"))
        self.assertIn("with reuse: 1792 words; without reuse: " + golden("six_layers")["expected"]["noreuse_error"]["value"], text)
        self.assertIn("4 bits: range / 7", self.out("ga2", "explain", path_of("int4_00")))

    def test_pictures(self):
        folder = self.scratch / "pictures"
        document = self.document("ga2", "explain", path_of("section1"), "--output", folder)
        self.assertEqual(document["pictures"], [str(folder / f"{n}.svg") for n in ("memory_map", "tiles", "scales")])
        svg = "{http://www.w3.org/2000/svg}"
        drawn = {}
        for path in document["pictures"]:
            text = pathlib.Path(path).read_text(encoding="utf-8")
            self.assertNotIn("<script", text)
            self.assertIn("prefers-color-scheme: dark", text)
            drawn[pathlib.Path(path).stem] = xml.etree.ElementTree.fromstring(text)
        tips = [one.text for one in drawn["memory_map"].iterfind(f".//{svg}rect/{svg}title")]
        # Of the published listing: loads, the first product with its sums, and what reads them.
        for tip in ("x: words 0 to 59, instructions 0 to 7", "w1: words 60 to 179, instructions 1 to 7",
                    "%2 sums: words 230 to 279, instructions 2 to 8", "%2: words 180 to 229, instructions 8 to 18",
                    "%6 rescaled: words 0 to 49, instructions 17 to 19", "%6: words 230 to 279, instructions 19 to 22",
                    "%9 fractions: words 15 to 29, instructions 24 to 29", "%11: words 15 to 19, instructions 31 to 36"):
            self.assertIn(tip, tips)
        # Four loads, sums and result of three products, two rescaled operands and their sum, fractions, probabilities, indices.
        self.assertEqual(len(tips), 4 + 6 + 3 + 3)
        tiles = [one.text for one in drawn["tiles"].iterfind(f".//{svg}rect/{svg}title")]
        self.assertEqual(len(tiles), 14)  # the MM of the published listing
        self.assertIn("instruction 7: rows 4 to 4, columns 8 to 9", tiles)
        rows = "".join(drawn["scales"].itertext())
        self.assertIn("\u00b11.998 of \u00b17.938, 32 of 127 levels, one step 0.062500", rows)

    def test_pictures_appear_together_or_not_at_all(self):
        folder = self.scratch / "pictures"
        (folder / "tiles.svg").mkdir(parents=True)
        explain = ("ga2", "explain", path_of("example_a"), "--output", folder)
        self.refused(*explain, error="output-unwritable")
        self.assertEqual([one.name for one in folder.iterdir()], ["tiles.svg"])
        (folder / "memory_map.svg").write_text("old", encoding="utf-8")
        self.refused(*explain, error="output-unwritable")
        self.assertEqual((folder / "memory_map.svg").read_text(encoding="utf-8"), "old")

    def test_what_is_not_finite(self):
        calls = [{"call": "input", "name": "x", "shape": [1, 1]}, {"call": "add", "a": 0, "b": 0},
                 {"call": "output", "a": 1, "name": "y"}]
        document = {"build": calls, "calib": [{"x": [[1]]}], "test": {"x": [[1.7e308]]}}
        lines = self.document("ga2", "explain", self.write("g.json", json.dumps(document)))["passes"][-1]["lines"]
        self.assertTrue(lines[-1].endswith(": [inf]"), lines[-1])
        self.assertIn("relative error against floating point: inf%", lines[0])

    def test_a_folder_that_cannot_be_made(self):
        file = self.write("file", "")
        self.refused("ga2", "explain", path_of("example_a"), "--output", file / "pictures", error="output-unwritable")


class TextTest(Ga2Test):
    def test_the_documented_word(self):
        # docs/ga2.md, Words.
        line = "LD   dst=2748 src=1193046 len=8191\n"
        words = "1abc123456fff8000000000000000000\n"
        self.assertEqual(self.out("ga2", "asm", self.write("a.lst", line)), words)
        spaced = "// a comment\n1abc1234 56fff800_00000000 00000000  # and one\n\n"
        self.assertEqual(self.out("ga2", "disasm", self.write("a.hex", spaced)), line)

    def test_output_file(self):
        path = self.scratch / "out.hex"
        self.assertEqual(self.out("ga2", "asm", self.write("a.lst", "HALT\n"), "--output", path), "")
        self.assertEqual(path.read_text(encoding="utf-8"), "0" * 32 + "\n")

    def test_malformed_text_names_its_line(self):
        for line in ("LOAD dst=0", "LD dst=0 src=0", "LD dst=0 src=0 len=8192", "LD src=0 dst=0 len=1", "7 HALT",
                     "0", "HALT now"):
            message = self.refused("ga2", "asm", self.write("a.lst", f"# first\nHALT\n{line}\n"),
                                   error="listing-invalid")
            self.assertIn("a.lst:3", message)
        for line in ("0" * 31, "0" * 33, "g" + "0" * 31, "f" + "0" * 31, "0" * 31 + "1"):
            message = self.refused("ga2", "disasm", self.write("a.hex", "0" * 32 + f"\n{line}\n"),
                                   error="encoding-invalid")
            self.assertIn("a.hex:2", message)

    def test_failed_runs_leave_no_file(self):
        path = self.scratch / "out.hex"
        self.refused("ga2", "asm", self.write("a.lst", "NOP\n"), "--output", path, error="listing-invalid")
        self.assertFalse(path.exists())


class CommandLineTest(Ga2Test):
    def test_commands(self):
        self.assertIn("no command was given", self.refused("ga2", error="command-line"))
        message = self.refused("ga2", "compil", error="command-line")
        self.assertIn("did you mean 'compile'?", message)
        self.assertIn("capra ga2 --help", message)
        message = self.refused("ga2", "run", "a.json", "--tarce", error="command-line")
        self.assertIn("no option '--tarce' of 'capra ga2 run'", message)
        self.assertIn("did you mean '--trace'?", message)


if __name__ == "__main__":
    driver.main()
