"""What an exported folder holds: outputs, archives and what is beside them, and what --check refuses."""

import json
import re
import shlex
import shutil
import struct
import subprocess
import sys

import driver
import small_model

LINEAR = """graph @f {
  %x = input {name = "x"} : f32[n, 2]
  %w = parameter {path = "layer.weight"} : f32[3, 2]
  %b = parameter {path = "layer.bias"} : f32[3]
  %y = linear %x %w %b : f32[n, 3]
  output %y {name = "y"}
}
"""
# The same keys and sizes: the weight transposed, and of integers.
TURNED = """graph @f {
  %x = input {name = "x"} : f32[n, 2]
  %w = parameter {path = "layer.weight"} : f32[2, 3]
  %b = parameter {path = "layer.bias"} : f32[3]
  %y = matmul %x %w
  %z = add %y %b
  output %z
}
"""
INTEGERS = """graph @f {
  %w = parameter {path = "layer.weight"} : i32[3, 2]
  %b = parameter {path = "layer.bias"} : f32[3]
  output %w {name = "w"}
  output %b {name = "b"}
}
"""
# Graphs of one model whose weights are tied, and one that takes the second of them alone.
TIED = """graph @first {
  %x = input {name = "x"} : f32[n, 2]
  %w = parameter {path = "embed.weight"} : f32[2, 2]
  %v = parameter {path = "head.weight"} : f32[2, 2]
  %a = matmul %x %w
  %b = matmul %a %v
  output %b {name = "y"}
}
"""
HEAD = """graph @second {
  %x = input {name = "x"} : f32[n, 2]
  %v = parameter {path = "head.weight"} : f32[2, 2]
  %a = matmul %x %v
  output %a {name = "y"}
}
"""
# Quiet and signaling NaNs with payloads, infinities, -0, the least subnormal.
NAME = "it's a b; touch pwned $(touch pwned2) `touch pwned3`"
PORTS = """graph @"%s" {
  %%x = input {name = "a|b`c\\n<d>"} : bool[2]
  %%y = input {name = "none"} : f32[0, 3]
  %%z = input {name = "z"} : u8[n]
  %%s = input {name = "s"} : f64[]
  %%a = logical_not %%x
  output %%a {name = "a"}
  output %%y {name = "y"}
  output %%z {name = "z"}
  output %%s {name = "s"}
}
"""
ODD = [0x7FC12345, 0xFFA00001, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001]


class ExportFolderTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def setUp(self):
        super().setUp()
        self.graph = self.write("f.tir", LINEAR)

    def parameters(self, name, weight="F32", shape=(3, 2), data=driver.bits([1, 2, 3, 4, 5, 6])):
        return self.write(name, driver.safetensors({
            "layer.weight": (weight, list(shape), data), "layer.bias": ("F32", [3], driver.bits([7, 8, 9]))}))

    def export(self, name, subject, *arguments):
        folder = self.scratch / name
        return folder, self.document("export", subject, *arguments, "--output", folder)

    def check(self, folder, *arguments):
        return self.document("export", "--check", folder, *arguments)

    def check_refuses(self, folder, *arguments, error, **keywords):
        return self.refused("export", "--check", folder, *arguments, error=error, **keywords)

    def test_the_archive_has_a_file_with_dtypes_and_shapes(self):
        folder, report = self.export("p", self.graph, "--parameters", self.parameters("w.safetensors"))
        self.assertEqual(report["archive"], "model.irpa")
        index = json.loads((folder / "model.irpa.json").read_text(encoding="utf-8"))
        self.assertEqual(index["parameters"], [
            {"key": "layer.bias", "dtype": "f32", "shape": [3], "bytes": 12},
            {"key": "layer.weight", "dtype": "f32", "shape": [3, 2], "bytes": 24}])
        listed = {row["file"]: row for row in report["artifacts"]}
        self.assertEqual(index["archive"]["sha256"], listed["model.irpa"]["sha256"])
        self.assertEqual(index["archive"]["bytes"], listed["model.irpa"]["bytes"])
        self.assertEqual(self.check(folder)["parameters"], 2)

    def test_weights_as_safetensors(self):
        folder, report = self.export(
            "p", self.graph, "--parameters", self.parameters("w.safetensors"), "--weights", "safetensors")
        self.assertEqual(report["archive"], "model.safetensors")
        self.assertFalse((folder / "model.irpa").exists())
        held = driver.read_safetensors((folder / "model.safetensors").read_bytes())
        self.assertEqual(held["layer.weight"], ("F32", [3, 2], driver.bits([1, 2, 3, 4, 5, 6])))
        self.assertIn("--parameters=model=model.safetensors", report["run"][1])
        self.assertEqual(self.check(folder)["archive"], str(folder / "model.safetensors"))
        self.refused("export", self.graph, "--weights", "pickle", "--output", self.scratch / "no", error="option-invalid")

    def test_non_finite_values_keep_their_bits(self):
        data = struct.pack("<6I", *ODD)
        weights = self.parameters("w.safetensors", data=data)
        for form in ("irpa", "safetensors"):
            folder, report = self.export(form, self.graph, "--parameters", weights, "--weights", form)
            self.assertIn(data, (folder / report["archive"]).read_bytes())
        folder, _ = self.export("inline", self.graph, "--parameters", weights, "--constants", "inline")
        text = (folder / "model.mlir").read_text(encoding="utf-8")
        self.assertIn("0x7FC12345", text)
        self.assertIn("0xFFA00001", text)
        self.assertIn("0x7F800000", text)
        self.assertIn("0xFF800000", text)
        self.assertIn("-0.0", text)

    def test_an_archive_of_equal_size_and_another_meaning_is_refused(self):
        good, _ = self.export("good", self.graph, "--parameters", self.parameters("w.safetensors"))
        for form in ("irpa", "safetensors"):
            turned, _ = self.export(
                "turned-" + form, self.write("t.tir", TURNED), "--weights", form,
                "--parameters", self.parameters("t.safetensors", shape=(2, 3)))
            message = self.check_refuses(good, "--archive", turned / f"model.{form}", error="parameter-type")
            self.assertIn("f32[2, 3]", message)
            self.assertIn("f32[3, 2]", message)
        other, _ = self.export(
            "integers", self.write("i.tir", INTEGERS), "--parameters", self.parameters("i.safetensors", weight="I32"))
        self.check_refuses(good, "--archive", other / "model.irpa", error="parameter-type")
        without = self.write("b.safetensors", driver.safetensors({"layer.bias": ("F32", [3], driver.bits([7, 8, 9]))}))
        self.check_refuses(good, "--archive", without, error="parameter-missing")

    def test_what_was_changed_or_is_gone_is_refused(self):
        folder, _ = self.export("p", self.graph, "--parameters", self.parameters("w.safetensors"))
        archive = folder / "model.irpa"
        alone = shutil.copy(archive, self.scratch / "alone.irpa")
        self.check_refuses(folder, "--archive", alone, error="archive-index-missing")
        index = (folder / "model.irpa.json").read_text(encoding="utf-8")
        for broken in ("{", "[]"):
            self.write("alone.irpa.json", broken)
            self.refused("export", "--check", folder, "--archive", alone,
                         error="json-syntax" if broken == "{" else "config-not-object")
        self.write("alone.irpa.json", index.replace('"bytes": 24', '"bytes": 20'))
        self.check_refuses(folder, "--archive", alone, error="archive-index-invalid")
        self.write("alone.irpa.json", index.replace('"f32"', '"f31"', 1))
        self.check_refuses(folder, "--archive", alone, error="archive-index-invalid")
        contents = bytearray(archive.read_bytes())
        contents[contents.index(driver.bits([1, 2, 3]))] ^= 1
        self.write("alone.irpa", bytes(contents))
        self.write("alone.irpa.json", index)
        self.check_refuses(folder, "--archive", alone, error="file-changed")
        archive.write_bytes(contents)
        self.check_refuses(folder, error="file-changed")
        archive.unlink()
        self.check_refuses(folder, error="file-not-found")
        self.check_refuses(self.scratch / "none", error="file-not-found")

    def test_a_full_disk_is_named(self):
        folder, _ = self.export("p", self.graph, "--parameters", self.parameters("w.safetensors"))
        with open("/dev/full", "wb") as full:
            self.check_refuses(folder, "--json", error="output-unwritable", stdout=full)

    def test_programs_of_one_model_share_an_archive(self):
        whole, report = self.export("whole", self.model, "--length", "4", "--outputs", "pooled")
        self.assertEqual(report["outputs"], [{"name": "pooled", "type": f"f32[{small_model.HIDDEN}]"}])
        hidden, other = self.export("hidden", self.model)
        self.assertEqual(other["outputs"][0]["name"], "hidden")
        self.assertEqual((whole / "model.irpa").read_bytes(), (hidden / "model.irpa").read_bytes())
        self.check(whole, "--archive", hidden / "model.irpa")
        self.check(hidden, "--archive", whole / "model.irpa")

    def tied(self, name, embed, head):
        return self.write(name, driver.safetensors({"embed.weight": ("F32", [2, 2], driver.bits(embed)),
                                                    "head.weight": ("F32", [2, 2], driver.bits(head))}))

    def test_equal_weights_keep_their_keys(self):
        weights = self.tied("tied.safetensors", [1, 2, 3, 4], [1, 2, 3, 4])
        for form in ("irpa", "safetensors"):
            options = ("--parameters", weights, "--weights", form)
            first, report = self.export("first-" + form, self.write("first.tir", TIED), *options)
            second, _ = self.export("second-" + form, self.write("second.tir", HEAD), *options)
            self.assertEqual(report["parameters"], [{"name": "embed.weight", "type": "f32[2, 2]"}])
            self.assertEqual(report["equal_parameters"],
                             [{"name": "head.weight", "type": "f32[2, 2]", "same_as": "embed.weight"}])
            self.assertEqual(driver.broken_report_rules(report), "")
            self.check(first)
            self.check(second, "--archive", first / f"model.{form}")
            # The whole of the model is more than the second program takes.
            self.check_refuses(first, "--archive", second / f"model.{form}", error="parameter-missing")
        held = driver.read_safetensors((first / "model.safetensors").read_bytes())
        self.assertEqual(held["head.weight"], held["embed.weight"])
        data = driver.bits([1, 2, 3, 4])
        self.assertEqual((self.scratch / "first-irpa" / "model.irpa").read_bytes().count(data), 1)
        index = json.loads((self.scratch / "first-irpa" / "model.irpa.json").read_text(encoding="utf-8"))
        self.assertEqual([row["key"] for row in index["parameters"]], ["embed.weight", "head.weight"])

    def test_an_archive_where_equal_weights_differ_is_refused(self):
        graph = self.write("first.tir", TIED)
        tied, _ = self.export("tied", graph, "--parameters", self.tied("t.safetensors", [1, 2, 3, 4], [1, 2, 3, 4]))
        untied = self.tied("u.safetensors", [1, 2, 3, 4], [1, 2, 3, 5])
        for form in ("irpa", "safetensors"):
            other, report = self.export("untied-" + form, graph, "--parameters", untied, "--weights", form)
            self.assertEqual(report["equal_parameters"], [])
            self.check(other)
            message = self.check_refuses(tied, "--archive", other / f"model.{form}", error="parameters-differ")
            self.assertIn("embed.weight", message)
            self.assertIn("head.weight", message)
            # A program that loads both takes any archive that has both.
            self.check(other, "--archive", tied / "model.irpa")
        # Other weights, equal again.
        again, _ = self.export("again", graph, "--parameters", self.tied("a.safetensors", [5, 6, 7, 8], [5, 6, 7, 8]))
        self.check(tied, "--archive", again / "model.irpa")
        for shape, head, error in (([4], "head.weight", "parameter-type"), ([2, 2], "none", "parameter-missing")):
            archive = self.write("o.safetensors", driver.safetensors({
                "embed.weight": ("F32", [2, 2], driver.bits([1, 2, 3, 4])),
                head: ("F32", shape, driver.bits([1, 2, 3, 4]))}))
            message = self.check_refuses(tied, "--archive", archive, error=error)
            self.assertIn("embed.weight", message)
            self.assertIn("head.weight", message)

    def test_a_report_of_an_earlier_version_is_checked_as_it_was(self):
        folder, report = self.export("p", self.graph, "--parameters", self.parameters("w.safetensors"))
        del report["equal_parameters"]
        (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
        self.check(folder)

    def test_every_pooling_is_written_for_one_length_and_any(self):
        for name in ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens",
                     "lasttoken"):
            pooling = {"word_embedding_dimension": small_model.HIDDEN, "pooling_mode_mean_tokens": False}
            pooling["pooling_mode_" + name] = True
            model = small_model.make(self.scratch / f"model-{name}", pooling=pooling)
            for length in ("dynamic", "5"):
                _, report = self.export(f"{name}-{length}", model, "--outputs", "pooled", "--length", length)
                self.assertEqual(report["outputs"], [{"name": "pooled", "type": f"f32[{small_model.HIDDEN}]"}])

    def test_the_page_has_the_commands_of_the_report(self):
        folder, report = self.export("p", self.model, "--outputs", "pooled")
        page = (folder / "README.md").read_text(encoding="utf-8")
        for line in report["run"]:
            self.assertIn(line + "\n", page)
        for words in ("| input | `ids` | `i32[tokens]` |", "| output | `pooled` |", *(
                f"| `{row['file']}` |" for row in report["artifacts"] if row["file"] != "README.md")):
            self.assertIn(words, page)
        self.assertNotIn("embed.py", page)
        # What the page says of hashes holds: those of the files above it, and its own.
        hashed = {row["file"] for row in report["artifacts"]}
        above, rest = page.split("| `report.json` | ")
        listed = set(re.findall(r"^\| `([^`]+)` \| ", above.split("| file | holds |")[1], re.MULTILINE))
        self.assertIn("with the SHA-256 of the files above and of this page |", rest)
        self.assertEqual(hashed, listed | {"README.md"})
        self.assertIn("and the archive with", page)
        graph = self.write("no_weights.tir", 'graph @g {\n  %x = input : f32[2]\n  %y = abs %x\n  output %y\n}\n')
        folder, _ = self.export("n", graph)
        self.assertNotIn("the archive", (folder / "README.md").read_text(encoding="utf-8"))

    def test_the_commands_are_words_of_a_shell(self):
        folder, report = self.export("p", self.write("n.tir", PORTS % NAME))
        # The runner has no type of one bit and no signs, and where there is no element it takes none.
        self.assertEqual(shlex.split(report["run"][1]), [
            "iree-run-module", "--module=model.vmfb", "--device=local-task", "--function=" + NAME,
            "--input=2xi8=1", "--input=0x3xf32", "--input=3xi8=1", "--input=f64=1"])
        tools = self.scratch / "tools"
        for tool in ("iree-compile", "iree-run-module"):
            self.write(f"tools/{tool}", f'#!/bin/sh\nprintf "%s\\n" "$@" > {tools}/{tool}.told\n').chmod(0o755)
        page = (folder / "README.md").read_text(encoding="utf-8")
        before = sorted(path.name for path in folder.iterdir())
        subprocess.run(["/bin/sh", "-e", "-c", page.split("```sh\n")[1].split("```\n")[0]], cwd=folder, check=True,
                       env={"PATH": f"{tools}:/usr/bin:/bin"})
        self.assertEqual(sorted(path.name for path in folder.iterdir()), before)
        self.assertIn("--function=" + NAME, (tools / "iree-run-module.told").read_text().splitlines())
        # A plain name needs no quotes.
        self.assertIn("--function=f ", self.export("plain", self.write("plain.tir", PORTS % "f"))[1]["run"][1])

    def test_names_of_any_bytes_stay_in_their_cells(self):
        folder, _ = self.export("p", self.write("n.tir", PORTS % "a`|``b"))
        lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0], "# ``` a`\\|``b ```")
        self.assertIn("| input | `` a\\|b`c\\x0a<d> `` | `bool[2]` |", lines)

    def test_a_graph_that_nothing_can_call(self):
        for text, words in ((LINEAR.replace("@f", '@""'), "no name"), (LINEAR.replace("@f", '@"a\\nb"'), "control"),
                            (LINEAR.replace('  output %y {name = "y"}\n', ""), "no outputs")):
            message = self.refused("export", self.write("n.tir", text), "--parameters", self.parameters("w.safetensors"),
                                   "--output", self.scratch / "no", error="graph-not-callable")
            self.assertIn(words, message)
            self.assertFalse((self.scratch / "no").exists())

    def test_keys_that_the_runtime_does_not_find_in_safetensors(self):
        for key, text in (('a"b', 'a\\"b'), ("a\\b", "a\\\\b")):
            graph = self.write("k.tir", f'graph @f {{\n  %w = parameter {{path = "{text}"}} : f32[1]\n  output %w\n}}\n')
            data = self.write("k.safetensors", driver.safetensors({key: ("F32", [1], driver.bits([1]))}))
            message = self.refused("export", graph, "--parameters", data, "--weights", "safetensors", "--output",
                                   self.scratch / "no", error="archive-key-escaped")
            self.assertIn("--weights irpa", message)
        self.check(self.export("p", graph, "--parameters", data)[0])

    def test_a_report_without_files_or_with_files_elsewhere(self):
        folder, report = self.export("p", self.graph, "--parameters", self.parameters("w.safetensors"))
        shutil.copytree(folder, self.scratch / "other")
        for key, value in (("artifacts", []), ("archive", "../other/model.irpa"), ("archive", "")):
            (folder / "report.json").write_text(json.dumps({**report, key: value}), encoding="utf-8")
            self.assertIn(key, self.check_refuses(folder, error="config-wrong-type"))
        (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
        self.check(folder)

    def test_refusals(self):
        self.refused("export", self.model, "--outputs", "words", "--output", self.scratch / "no", error="option-invalid")
        self.refused("export", self.graph, "--outputs", "pooled", "--output", self.scratch / "no", error="option-invalid")
        self.refused("export", self.model, error="command-line")
        self.refused("export", self.model, "--archive", "x", "--output", self.scratch / "no", error="command-line")
        self.refused("export", "--check", self.model, "--output", self.scratch / "no", error="command-line")


class EmbeddingFolderTest(small_model.SmallModelTest):
    """With a tokenizer: what the script needs."""

    def test_an_embedding_has_its_script_settings_and_tokenizer(self):
        folder = self.scratch / "p"
        report = self.document("export", self.model, "--outputs", "embedding", "--output", folder)
        self.assertEqual(report["outputs"], [{"name": "embedding", "type": f"f32[{small_model.HIDDEN}]"}])
        settings = json.loads((folder / "embed.json").read_text(encoding="utf-8"))
        self.assertEqual(settings, {
            "tokenizer": "tokenizer.json", "prompt": "", "max_length": small_model.LIMIT, "truncation_side": "right",
            "length": None, "pooling": ["mean"], "normalized": True, "archive_scope": "model",
            "dimension": small_model.HIDDEN, "similarity": ""})
        self.assertIn('named<"model"::', (folder / "model.mlir").read_text(encoding="utf-8"))
        tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
        self.assertIsNone(tokenizer["truncation"])
        self.assertIsNone(tokenizer["padding"])
        self.assertEqual(tokenizer["model"]["vocab"], small_model.tokenizer()["model"]["vocab"])
        self.assertIn("embed.py", (folder / "README.md").read_text(encoding="utf-8"))
        # Without Python's packages there is one line that says what to install.
        done = subprocess.run([sys.executable, "-I", "-S", folder / "embed.py", "a"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aembed\.py: there is no Python package iree\S*; python3 -m pip install .*\n\Z")
        again = self.scratch / "again"
        self.document("export", self.model, "--outputs", "embedding", "--output", again)
        self.assertEqual({path.name: path.read_bytes() for path in folder.iterdir()},
                         {path.name: path.read_bytes() for path in again.iterdir()})

    def test_a_length_that_no_text_has(self):
        def refused(length, *words):
            message = self.refused("export", self.model, "--outputs", "embedding", "--length", length, "--output",
                                   self.scratch / "no", error="option-invalid")
            self.assertFalse((self.scratch / "no").exists())
            for one in (*words, "  at: --length\n"):
                self.assertIn(one, message)

        # Texts are cut to 24 tokens, as sentence_bert_config.json says, and each has [CLS] and [SEP].
        refused("25", "fixed at 25", f"cuts texts to {small_model.LIMIT} (sentence_bert_config.json)", "at most 24")
        refused(str(small_model.POSITIONS), "at most 24")
        refused("1", "fixed at 1 ", "an empty one has 2, the special tokens", "up to 24", "give 2 to 24")
        for length in (2, small_model.LIMIT):
            folder = self.scratch / str(length)
            self.document("export", self.model, "--outputs", "embedding", "--length", str(length), "--output", folder)
            settings = json.loads((folder / "embed.json").read_text(encoding="utf-8"))
            self.assertEqual((settings["length"], settings["max_length"]), (length, length))
        # Who gives token ids is not bound by the tokenizer.
        for output in ("hidden", "pooled"):
            self.document("export", self.model, "--outputs", output, "--length", "1", "--output", self.scratch / output)


if __name__ == "__main__":
    driver.main()
