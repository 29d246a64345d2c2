"""What holds for every command: help, JSON, exit codes, errors, and silence where it was asked for."""

import json
import os
import pty
import re
import select
import subprocess
import time

import driver
import small_model

COMMANDS = ("embed", "inspect", "verify", "bench", "graph", "opt", "run", "export", "ops", "targets", "docs", "explain")
GA2 = ("compile", "run", "explain", "asm", "disasm")
# How each is called; `ga2` has commands of its own.
CALLS = tuple((name,) for name in COMMANDS) + tuple(("ga2", name) for name in GA2)
GRAPH = 'graph @f {\n  %x = input {name = "x"} : f32[2]\n  %y = abs %x : f32[2]\n  output %y {name = "y"}\n}\n'


class HelpTest(driver.DriverTest):
    def test_lists_every_command(self):
        for parent, wanted in (((), (*COMMANDS, "ga2")), (("ga2",), GA2)):
            text = self.out(*parent, "--help")
            self.assertIn(f"Usage: {' '.join(('capra', *parent))} COMMAND", text)
            listed = re.findall(r"^  ([a-z0-9]+)  +\S", text.split("Commands:")[1].split("Example:")[0], re.M)
            self.assertEqual(sorted(listed), sorted(wanted))

    def test_is_short_with_one_example(self):
        for call in CALLS:
            with self.subTest(command=call):
                name = " ".join(call)
                done = self.run_driver(*call, "--help")
                self.assertEqual(done.stderr, "")
                text = done.stdout.decode()
                lines = text.rstrip("\n").split("\n")
                self.assertLessEqual(len(lines), 45)
                self.assertLessEqual(max(map(len, lines)), 100)
                self.assertIn(f"Usage: capra {name}", text)
                self.assertEqual(text.count("Example:\n"), 1)
                self.assertTrue(lines[-1].startswith(f"  capra {name}"), lines[-1])
                for flag in re.findall(r"--[a-z-]+", lines[-1]):
                    self.assertRegex("\n".join(lines[:-1]), rf"(?m)^  {flag}\b")

    def test_every_flag_is_on_the_page(self):
        page = (driver.ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
        for call in CALLS:
            self.assertIn(f"capra {' '.join(call)}", page)
            for flag in re.findall(r"(?m)^  (--[a-z-]+)", self.out(*call, "--help")):
                self.assertRegex(page, rf"[` ]{flag}\b(?!-)", f"{call}: {flag}")

    def test_short_flag_and_version(self):
        for call in (("embed",), ("ga2",), ("ga2", "run")):
            self.assertEqual(self.out(*call, "-h"), self.out(*call, "--help"))
        self.assertRegex(self.out("--version"), r"^capra \d+\.\d+\.\d+\n$")


class CommandLineTest(driver.DriverTest):
    def test_unknown_flag_names_the_nearest(self):
        for call in CALLS:
            with self.subTest(command=call):
                message = self.refused(*call, "--jsno", error="command-line")
                self.assertIn("'--jsno'", message)
                self.assertIn("did you mean '--json'?", message)
        message = self.refused("embed", "m", "--token-bugdet=5", error="command-line")
        self.assertIn("did you mean '--token-budget'?", message)
        message = self.refused("embed", "m", "--zzzzzzzz", error="command-line")
        self.assertNotIn("did you mean", message)
        self.assertIn("capra embed --help", message)

    def test_unknown_command_names_the_nearest(self):
        self.assertIn("did you mean 'embed'?", self.refused("embde", error="command-line"))
        self.assertNotIn("did you mean", self.refused("qqqqqqqq", error="command-line"))

    def test_missing_parts(self):
        self.assertIn("no command", self.refused(error="command-line"))
        self.refused("embed", error="command-line")
        self.refused("opt", "x.tir", error="command-line")
        for option in (("--threads",), ("--threads=",), ("--text",), ("--format=",)):
            self.assertIn(option[0].rstrip("=") + " needs a value",
                          self.refused("embed", "m", *option, error="command-line"))
        self.assertIn("no argument 'surplus' of 'capra inspect'",
                      self.refused("inspect", "m", "surplus", error="command-line"))
        self.assertIn("no option '--json' of 'capra'", self.refused("--json", error="command-line"))

    def test_bad_values(self):
        for arguments in (("--threads", "0"), ("--threads", "two"), ("--token-budget", "-1"),
                          ("--on-overflow", "wrap"), ("--max-length", "x")):
            with self.subTest(arguments=arguments):
                message = self.refused("embed", "m", "--text", "a", *arguments, error="option-invalid")
                self.assertIn(arguments[0], message)
        self.refused("verify", "m", "--max-error", "-1", error="option-invalid")
        self.refused("bench", "m", "--seconds", "0", error="option-invalid")
        self.assertIn("'nan' is no number of 0 or more\n  at: --max-error\n",
                      self.refused("verify", "m", "--max-error", "nan", error="option-invalid"))
        self.refused("run", "m.tir", "--tool-seconds", "nan", error="option-invalid")
        self.assertIn("'9223372036854775808' is no whole number of 1 or more\n  at: --length\n",
                      self.refused("graph", "m", "--length", str(1 << 63), error="option-invalid"))
        self.refused("docs", "--output", "", error="option-invalid")

    def test_every_error_names_a_place_and_a_way_on(self):
        # `refused` requires both; these come from places that know neither the option nor the command.
        graph = self.write("f.tir", GRAPH)
        for code, arguments in {
                "target-unknown": ("run", graph, "--target", "abacus"),
                "target-not-executable": ("run", graph, "--target", "stablehlo"),
                "target-writes-nothing": ("export", graph, "--target", "cpu", "--output", self.scratch / "p"),
                "op-unknown": ("export", graph, "--keep-fused", "geluu", "--output", self.scratch / "p"),
                "text-syntax": ("graph", self.write("e.tir", "")),
                "code-unknown": ("explain", "no-such-code")}.items():
            with self.subTest(code=code):
                self.refused(*arguments, error=code)

    def test_an_error_is_one_line_of_plain_characters(self):
        message = self.refused("explain", "a\nb\x1b[31m\x7f", error="code-unknown")
        self.assertIn(r"'a\nb\x1b[31m\x7f'", message)

    def test_a_repeatable_option_takes_one_value_a_time(self):
        # The model must not be taken for a second value of the option before it.
        for arguments in (("embed", "--text", "a"), ("inspect", "--approximate", "gelu=tanh")):
            self.assertIn("no_such_folder", self.refused(*arguments, "no_such_folder", error="file-not-found"))

    def test_explain(self):
        message = self.refused("explain", "utf8-invalit", error="code-unknown")
        self.assertIn("did you mean 'utf8-invalid'?", message)
        codes = self.document("explain")
        self.assertGreater(len(codes), 80)
        for line in self.out("explain").splitlines():
            code, text = line.split(maxsplit=1)
            self.assertEqual(codes[code], text)


class WayOnTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def helps(self, words, *arguments, error):
        self.assertIn(words, self.refused(*arguments, error=error))

    def test_options_that_lead_on(self):
        graph = self.write("f.tir", GRAPH)
        weighted = self.write("w.tir", 'graph @f {\n  %w = parameter {path = "w"} : f32[2]\n  output %w {name = "y"}\n}\n')
        give = "help: give --parameters FILE (safetensors) with a tensor of this name"
        self.helps(give, "run", weighted, error="parameter-missing")
        self.helps(give, "run", weighted, "--target", "interp", error="parameter-missing")
        self.helps(give, "export", weighted, "--output", self.scratch / "p", error="parameter-missing")
        self.helps("a plugin's target needs --plugin FILE", "run", graph, "--target", "my-npu", error="target-unknown")
        self.helps("help: --target iree runs these programs; or", "run", graph, "--target", "stablehlo",
                   error="target-not-executable")
        ids = self.write("ids.txt", "2 5 6 3\n")
        self.helps("help: ga2 runs graphs of matrices: capra run FILE.tir --target ga2", "embed", self.model, "--token-ids",
                   "--input", ids, "--target", "ga2", error="op-not-legal")
        self.helps("the path given to --texts", "verify", self.model, "--texts", self.scratch / "no", error="file-not-found")
        self.helps("a file to --texts", "verify", self.model, "--texts", self.scratch, error="file-unreadable")

    def test_an_array_without_a_type(self):
        graph = self.write("f.tir", GRAPH)
        self.helps("  at: --input x\n  help: write x=f32[2] [1, 2]\n", "run", graph, "--input", "x=[1, 2]", error="text-syntax")

    def test_forms_of_a_chip_program(self):
        listing, words = self.write("p.lst", "HALT\n"), self.write("p.hex", "0" * 32 + "\n")
        self.helps("use 'capra ga2 disasm'", "ga2", "asm", words, error="listing-invalid")
        self.helps("use 'capra ga2 asm'", "ga2", "disasm", listing, error="encoding-invalid")
        self.helps("a graph is needed", "ga2", "run", listing, error="json-syntax")
        for line, words in {"LD dst=1 src=1": "LD has dst, src, len", "HALT x=1": "HALT has no fields",
                            "LD dst=1 src=1 len=9999": "write len= and a number", "3 HALT": "from 0 on",
                            "0": "behind its number"}.items():
            self.helps(words, "ga2", "asm", self.write("b.lst", line), error="listing-invalid")

    def test_help_offers_what_works(self):
        for command in ("embed", "verify", "bench", "inspect"):
            self.assertNotIn("ga2", self.out(command, "--help"))
        self.assertIn("of iree 2e-6", self.out("verify", "--help"))
        self.assertNotIn("Excludes", self.out("export", "--help"))
        self.assertIn("stablehlo (default)", self.out("export", "--help"))


class JsonTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def test_every_command_gives_one_document(self):
        graph = self.write("f.tir", GRAPH)
        ids = self.write("ids.txt", "2 5 6 3\n2 3\n")
        asked = {
            "embed": (self.model, "--token-ids", "--input", ids), "inspect": (self.model,),
            "bench": (self.model, "--workload", "12", "--seconds", "0.01", "--thread-counts", "1"),
            "graph": (self.model,), "opt": (graph, "--passes", "canonicalize"),
            "run": (graph, "--input", "x=f32[2] [-1, 2]"), "export": (graph, "--output", self.scratch / "program"), "ops": (), "targets": (),
            "docs": ("--output", self.scratch / "docs"), "explain": ("utf8-invalid",)}
        attention = driver.ROOT / "tests" / "golden" / "ga2" / "example_a.json"
        asked |= {"ga2 compile": (attention,), "ga2 run": (attention, "--trace"), "ga2 explain": (attention,),
                  "ga2 asm": (self.write("p.lst", "HALT\n"),), "ga2 disasm": (self.write("p.hex", "0" * 32),)}
        for call in CALLS:
            if call == ("verify",):
                continue  # takes text: VerifyTest
            with self.subTest(command=call):
                done = self.run_driver(*call, *asked[" ".join(call)], "--json")
                self.assertIsInstance(json.loads(done.stdout), (dict, list))
                self.assertEqual(done.stderr, "")

    def test_beside_a_file_too(self):
        graph = self.write("f.tir", GRAPH)
        written = self.document("run", graph, "--input", "x=f32[2] [-1, 2]", "--output", self.scratch / "y.safetensors")
        self.assertEqual(written["output"], str(self.scratch / "y.safetensors"))
        for form in ("jsonl", "csv", "npy"):
            path = self.scratch / f"v.{form}"
            written = self.document("embed", self.model, "--token-ids", "--text", "2 3", "--format", form,
                                    "--output", path)
            self.assertEqual((written["rows"], written["dimension"]), (1, small_model.HIDDEN))
            self.assertTrue(path.exists())

    def test_nothing_on_standard_output_when_it_fails(self):
        for name in ("inspect", "verify", "bench", "graph"):
            self.assertEqual(self.run_driver(name, self.scratch / "none", "--json", code=driver.BAD).stdout, b"")

    def test_rows_as_csv_are_no_json(self):
        self.refused("embed", self.model, "--token-ids", "--text", "2 3", "--format", "csv", "--json",
                     error="option-invalid")

    def test_bench_has_the_stated_keys(self):
        result = self.document("bench", self.model, "--workload", "12,mixed", "--seconds", "0.01",
                               "--thread-counts", "1,2")
        self.assertEqual({"peak", "bandwidth", "workloads"}, set(result))
        self.assertEqual([row["threads"] for row in result["peak"]], [1, 2])
        self.assertEqual([(row["name"], row["threads"]) for row in result["workloads"]],
                         [("12", 1), ("mixed", 1), ("12", 2), ("mixed", 2)])
        for row in result["workloads"]:
            self.assertLessEqual({"name", "threads", "tokens_per_second", "gflops", "share_of_peak", "groups"},
                                 set(row))
            self.assertGreater(row["tokens_per_second"], 0)
        self.refused("bench", self.model, "--workload", "13", error="option-invalid")


class VerifyTest(small_model.SmallModelTest):
    def test_one_document_and_exit_codes(self):
        result = self.document("verify", self.model)
        self.assertTrue(result["passed"])
        self.assertEqual(result["differing_values"], 0)
        self.assertEqual(result["batch_differing_values"], 0)
        self.assertLess(result["error"], 1e-6)
        self.assertEqual(result["approximations"], [])
        failed = self.document("verify", self.model, "--max-error", "0", code=driver.NO)
        self.assertFalse(failed["passed"])
        self.assertTrue(failed["failures"])

    def test_text_ends_with_the_approximations_in_force(self):
        text = self.out("verify", self.model, "--quiet")
        self.assertRegex(text, r"parity: .* passed\n")
        self.assertTrue(text.endswith("approximations in force: none\n"))
        text = self.out("verify", self.model, "--approximate", "gelu=tanh", "--quiet", code=driver.NO)
        self.assertRegex(text, r"parity: .* failed\n")
        self.assertTrue(text.endswith(
            "approximations in force: 2\n"
            "  gelu(approximate=false) -> gelu(approximate=true) on 2 nodes (encoder.layer.0.feed_forward, ...), "
            "largest error of one activation 4.8E-4 [asked for by --approximate gelu=tanh]\n"), text[-400:])

    def test_columns_of_a_budget_stand_under_their_titles(self):
        text = self.out("verify", self.model, "--budget", "--quiet")
        title, *rows = re.search(r"error budget: .*\n((?:  .*\n)+?)  sum of these", text).group(1).splitlines()
        self.assertIn(" or ", "".join(rows))
        for row in rows:
            self.assertEqual(row.index("the oracle"), title.index("measured in"), text)

    def test_declared_token_ids_are_compared(self):
        texts = [{"id": 0, "text": "goat", "token_ids": [2, 4, 3]}, {"id": 1, "text": "rock", "token_ids": [2, 4, 3]}]
        path = self.write("texts.json", json.dumps(texts))
        result = self.document("verify", self.model, "--texts", path, code=driver.NO)
        self.assertEqual((result["token_rows_declared"], result["token_rows_differing"]), (2, 1))

    def test_a_target_without_attention_takes_one_text_at_a_time(self):
        # Together these have more tokens than a block of 64, and none begins at a multiple of 16.
        texts = [f"goat {a} the rock {b} on a goat {c}" for a, b, c in ("abc", "hij", "opq", "vwx", "mno", "ged")]
        path = self.write("texts.txt", "\n".join(texts) + "\n")
        plugin = driver.plugin("approximations").with_name("example_my_npu.so")
        for target in (("--target", "cpu"), ("--plugin", plugin, "--target", "my-npu-sim")):
            result = self.document("verify", self.model, *target, "--texts", path)
            self.assertTrue(result["passed"])
            self.assertGreater(result["tokens"], 64)

    def test_texts_that_cannot_be_read(self):
        self.refused("verify", self.model, "--texts", self.write("a.json", '{"text": "x"}'), error="input-json")
        self.refused("verify", self.model, "--texts", self.write("b.json", '[{"id": 1}]'), error="input-json")
        self.refused("verify", self.model, "--texts", self.write("c.txt", ""), error="input-missing")
        self.refused("verify", self.model, "--texts", self.scratch / "none.txt", error="file-not-found")
        self.refused("verify", self.model, "--against", self.scratch / "none.safetensors", error="file-not-found")

    def budget(self, *arguments, **keywords):
        result = self.document("verify", self.model, "--budget", *arguments, **keywords)
        parts = {(part["kind"], part["name"]): part for part in result["budget"]["parts"]}
        self.assertAlmostEqual(sum(part["error"] for part in parts.values()), result["budget"]["sum"])
        return result, parts

    def test_budget(self):
        result, parts = self.budget()
        kernels = [("kernel", name) for name in ("attention", "gelu", "layer_norm", "linear")]
        self.assertEqual(sorted(parts), kernels)
        for part in parts.values():
            self.assertLess(part["error"], 1e-6)
            self.assertTrue(part["measured"])
        self.assertIsNone(self.document("verify", self.model)["budget"])
        result, parts = self.budget("--approximate", "gelu=tanh", code=driver.NO)
        self.assertEqual(sorted(parts), [*kernels, ("legalization", "gelu=tanh")])
        tanh = parts["legalization", "gelu=tanh"]
        self.assertEqual((tanh["nodes"], tanh["max_abs"], tanh["max_ulp"]), (2, 4.8e-4, 0))
        self.assertGreater(tanh["error"], 1e-6)
        self.assertAlmostEqual(tanh["error"], result["budget"]["together"], delta=1e-6)
        self.assertIn("gelu=tanh alone changes vectors", "".join(result["failures"]))
        for kernel in kernels:
            self.assertLess(parts[kernel]["error"], 1e-6)
        self.budget("--approximate", "gelu=tanh", "--max-error", "1")
        text = self.out("verify", self.model, "--budget", "--approximate", "gelu=tanh", code=driver.NO)
        for words in ("error budget", "gelu=tanh", "layer_norm", "sum of these", "all together"):
            self.assertIn(words, text)

    def test_what_a_target_narrows_has_a_relative_bound(self):
        narrow = ("--plugin", driver.plugin("approximations"), "--target", "narrow")
        result, parts = self.budget(*narrow, code=driver.NO)
        self.assertNotIn("legalization", {kind for kind, _ in parts})
        self.assertGreater(parts["narrowing", "f32 -> bf16"]["error"], 1e-4)
        # bf16 has 8 binary digits.
        self.assertEqual(parts["narrowing", "f32 -> bf16"]["max_rel"], 2**-8)
        self.assertEqual([(one["maxAbsError"], one["maxRelError"]) for one in result["approximations"]],
                         [(0, 2**-8)] * 12)
        text = self.out("verify", self.model, *narrow, "--budget", "--quiet", code=driver.NO)
        self.assertIn("linear in f32 -> linear in bf16 on 12 nodes (", text)
        self.assertIn("), largest relative error of one rounded value 3.90625E-3 [its policy is linear=bf16]\n", text)
        self.assertNotIn("largest error of one activation", text)

    def test_what_the_user_and_the_target_ask_for_counts_once(self):
        result, parts = self.budget("--plugin", driver.plugin("approximations"), "--target", "no-erf",
                                    "--approximate", "gelu=tanh", code=driver.NO)
        self.assertEqual([name for kind, name in parts if kind == "legalization"], ["gelu=tanh"])
        self.assertEqual(len([one for one in result["failures"] if "alone changes vectors" in one]), 1)
        self.assertAlmostEqual(result["budget"]["sum"], result["budget"]["together"], delta=1e-5)

    def test_budget_with_a_prompt(self):
        _, parts = self.budget("--prompt", "the goat ")
        self.assertLess(max(part["error"] for part in parts.values()), 1e-6)

    def test_the_oracle_verifies_itself(self):
        result = self.document("verify", self.model, "--target", "interp")
        self.assertTrue(result["passed"])
        self.assertEqual((result["differing_values"], result["error"]), (0, 0))

    def test_vectors_of_the_oracle_are_rounded_once(self):
        oracle, cpu = (json.loads(self.out("embed", self.model, "--text", "the goat", "--target", target))["embedding"]
                       for target in ("interp", "cpu"))
        self.assertLess(max(abs(a - b) for a, b in zip(oracle, cpu)), 1e-6)


class ThreadsTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def threads(self, *arguments, **keywords):
        return int(self.document("inspect", self.model, *arguments, **keywords)["description"]["threads"])

    def test_affinity_bounds_the_default(self):
        cpus = sorted(os.sched_getaffinity(0))
        self.assertLessEqual(self.threads(), len(cpus))
        self.assertEqual(self.threads(preexec_fn=lambda: os.sched_setaffinity(0, cpus[:1])), 1)

    def test_threads_may_be_asked_for(self):
        for count in (1, 3):
            self.assertEqual(self.threads("--threads", count), count)


class QuietTest(small_model.SmallModelTest):
    needs_tokenizer = False

    def test_a_plugin_that_breaks_its_word_is_named(self):
        graph = self.write("f.tir", GRAPH)
        for name in ("null_record", "no_name", "odd_name", "own_base", "two_bases"):
            library = driver.plugin(name)
            self.assertIn(f"at: {library}\n", self.refused("targets", "--plugin", library, error="target-invalid"))
        for name, command in (("throws_at_once", ("targets",)), ("throws", ("targets",)),
                              ("throws", ("run", graph, "--target", "throws", "--input", "x=f32[2] [1, 2]"))):
            library = driver.plugin(name)
            self.assertIn(f"at: {library}\n", self.refused(*command, "--plugin", library, error="plugin-failed"))
        message = self.refused("run", graph, "--plugin", driver.plugin("no_executable"), "--target", "no-executable",
                               "--input", "x=f32[2] [1, 2]", error="target-invalid")
        self.assertIn("target no-executable gave no executable", message)

    def test_notes(self):
        arguments = ("embed", self.model, "--token-ids", "--text", "2 3", "--no-normalize")
        self.assertIn("note: ", self.run_driver(*arguments).stderr)
        self.assertEqual(self.run_driver(*arguments, "--quiet").stderr, "")

    def test_progress_only_on_a_terminal(self):
        self.assertIn("texts", self.slow_embed(terminal=True))
        self.assertEqual(self.slow_embed(terminal=False), "")
        self.assertEqual(self.slow_embed("--quiet", terminal=True), "")

    def slow_embed(self, *extra, terminal):
        """Rows that come in two parts, more than a second apart; returns what stands on standard error."""
        ours, theirs = pty.openpty() if terminal else os.pipe()
        process = subprocess.Popen(
            driver.command("embed", self.model, "--token-ids", "--input", "-", *extra), stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        process.stdin.write(b"2 3\n" * 1024)
        process.stdin.flush()
        time.sleep(1.3)
        process.stdin.write(b"2 3\n" * 1024)
        process.stdin.close()
        said = b""
        while select.select([ours], [], [], 60)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:  # a terminal whose other end has gone
                break
            if not part:
                break
            said += part
        os.close(ours)
        self.assertEqual(process.wait(), driver.DONE)
        return said.decode()


if __name__ == "__main__":
    driver.main()
