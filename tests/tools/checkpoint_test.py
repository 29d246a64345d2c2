"""The driver on all-MiniLM-L6-v2: golden values, published similarities, and large inputs.

The golden values are double precision, made outside (tests/golden/minilm/README.md says how); the gates are those of
the numeric contract in docs/numerics.md.
"""

import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import time

import driver

GOLDEN = driver.ROOT / "tests" / "golden" / "minilm"
TEXTS = GOLDEN / "texts.json"
# The quickstart of sentence-transformers, with the similarities its page shows.
QUICKSTART = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
SIMILARITIES = {(0, 1): 0.6660, (0, 2): 0.1046, (1, 2): 0.1411}


def golden_texts():
    return json.loads(TEXTS.read_text(encoding="ascii"))


def golden_vectors():
    _, (rows, width), contents = driver.read_safetensors((GOLDEN / "embeddings.safetensors").read_bytes())["embeddings"]
    values = struct.unpack(f"<{rows * width}d", contents)
    return [values[i * width:(i + 1) * width] for i in range(rows)]


class CheckpointTest(driver.DriverTest):
    def setUp(self):
        super().setUp()
        self.model = driver.checkpoint()
        self.assertTrue(self.model.is_dir(), f"{self.model} is missing: run scripts/get_model.sh")

    def golden_input(self, name="golden.jsonl", rows=None):
        return self.write(name, "".join(json.dumps({"id": row["id"], "text": row["text"]}) + "\n"
                                        for row in (golden_texts() if rows is None else rows)))


class GoldenTest(CheckpointTest):
    def test_verify_passes_the_gates(self):
        # One file with vectors and states: one run of the oracle judges both.
        tensors = {}
        for name in ("embeddings", "hidden"):
            tensors.update(driver.read_safetensors((GOLDEN / f"{name}.safetensors").read_bytes()))
        reference = self.write("golden.safetensors", driver.safetensors(tensors))
        result = self.document("verify", self.model, "--texts", TEXTS, "--against", reference, "--max-length", "512",
                               "--max-error", "1.4e-7")
        self.assertTrue(result["passed"], result["failures"])
        self.assertEqual((result["texts"], result["tokens"]), (44, 2891))
        self.assertEqual((result["token_rows_declared"], result["token_rows_differing"]), (44, 0))
        self.assertEqual((result["differing_values"], result["batch_differing_values"]), (0, 0))
        self.assertEqual(result["approximations"], [])
        self.assertLessEqual(result["error"], 1.4e-7)
        self.assertLessEqual(result["median_error"], 6e-8)
        for stage in result["stages"]:
            self.assertEqual((stage["differing_values"], stage["eager_difference"]), (0, 0), stage["stage"])
            gate = {"vector": 1.4e-7, "hidden": 2.6e-6, "layer5.output": 2.6e-6}.get(stage["stage"], 1.2e-5)
            self.assertLessEqual(stage["max_abs_error"], gate, stage["stage"])
        compared = {row["name"]: row for row in result["references"]}
        self.assertEqual(set(compared), set(tensors))
        for name, row in compared.items():
            self.assertLessEqual(row["oracle_error"], 1e-12, name)
            last = name.endswith("layer5.output")
            gate = 1.4e-7 if name == "embeddings" else 2.6e-6 if last or name == "pooled" else 1.2e-5
            self.assertLessEqual(row["error"], gate, name)
        self.assertLessEqual(compared["embeddings"]["median_error"], 6e-8)

    def test_an_approximation_fails_and_is_named(self):
        done = self.run_driver("verify", self.model, "--texts", TEXTS, "--max-length", "512", "--approximate",
                               "gelu=tanh", "--json", code=driver.NO)
        result = json.loads(done.stdout)
        self.assertFalse(result["passed"])
        # Tanh GELU for the exact one, everything in double precision, moves these vectors by 4.9e-4.
        self.assertTrue(4.7e-4 < result["error"] < 5.1e-4, result["error"])
        self.assertEqual(result["differing_values"], 0)
        self.assertEqual([row["node"] for row in result["approximations"]],
                         [f"encoder.layer.{k}.feed_forward" for k in range(6)])
        for row in result["approximations"]:
            self.assertEqual((row["legalizedFrom"], row["legalizedTo"], row["maxAbsError"]),
                             ("gelu(approximate=false)", "gelu(approximate=true)", 4.8e-4))
        self.assertEqual(done.stderr.count("GELU_APPROX_LEGALIZED"), 6)

    def test_embed_gives_the_golden_vectors(self):
        rows = self.rows(self.model, "--input", self.golden_input(), "--max-length", "512")
        errors = [max(abs(a - b) for a, b in zip(row["embedding"], golden))
                  for row, golden in zip(rows, golden_vectors(), strict=True)]
        self.assertLessEqual(max(errors), 1.4e-7)
        self.assertLessEqual(statistics.median(errors), 6e-8)
        self.assertEqual([row["tokens"] for row in rows], [len(row["token_ids"]) for row in golden_texts()])
        self.assertEqual([row["dropped_tokens"] for row in rows], [189 if i == 19 else 0 for i in range(44)])
        self.assertEqual(rows[19]["truncated"], True)

    def test_token_ids_give_the_same_bits(self):
        by_text = self.rows(self.model, "--input", self.golden_input(), "--max-length", "512")
        path = self.write("ids.jsonl", "".join(json.dumps(row["token_ids"]) + "\n" for row in golden_texts()))
        by_ids = self.rows(self.model, "--token-ids", "--input", path, "--max-length", "512")
        self.assertEqual([row["embedding"] for row in by_ids], [row["embedding"] for row in by_text])

    def test_the_oracle_as_a_target(self):
        short = [row for row in golden_texts() if len(row["token_ids"]) <= 64]
        self.assertGreater(len(short), 30)
        vectors = golden_vectors()
        rows = self.rows(self.model, "--target", "interp", "--input", self.golden_input(rows=short))
        for row in rows:
            for a, b in zip(row["embedding"], vectors[row["id"]], strict=True):
                self.assertLessEqual(abs(a - b), 1e-7)  # the vector that leaves is rounded to f32

    def test_batches_change_no_bit(self):
        path = self.golden_input()
        expected = [driver.bits(row["embedding"]) for row in self.rows(self.model, "--input", path)]
        for budget, threads in ((1, 1), (300, 2), (3000, 3), (700, 8)):
            rows = self.rows(self.model, "--input", path, "--token-budget", budget, "--threads", threads)
            self.assertEqual([driver.bits(row["embedding"]) for row in rows], expected, (budget, threads))
        for row in golden_texts()[::5]:
            alone = self.rows(self.model, "--input", self.golden_input("one.jsonl", [row]))
            self.assertEqual(driver.bits(alone[0]["embedding"]), expected[row["id"]], row["id"])


class PublishedTest(CheckpointTest):
    def test_similarities_of_the_quickstart(self):
        rows = self.rows(self.model, *(part for text in QUICKSTART for part in ("--text", text)))
        for (a, b), similarity in SIMILARITIES.items():
            found = sum(x * y for x, y in zip(rows[a]["embedding"], rows[b]["embedding"]))
            self.assertAlmostEqual(found, similarity, delta=5e-5)

    def test_inspect_says_what_runs(self):
        text = self.out("inspect", self.model)
        for line in (r"family +bert", r"activation +gelu \(exact, erf\), from hidden_act = \"gelu\"",
                     r"layer norm epsilon +1e-12", r"pooling +mean", r"normalization +L2", r"dimension +384",
                     r"length limit +256 tokens, from sentence_bert_config\.json", r"  post-processor +\[CLS\] A \[SEP\].*",
                     r"  truncation +128, switched off", r"  padding +to 128, switched off", r"tensors used +101, none missing",
                     r"  embeddings\.position_ids", r"  pooler\.dense\.weight"):
            self.assertRegex(text, rf"(?m)^{line}$")
        self.assertLessEqual(max(map(len, text.replace(str(self.model), "").splitlines())), 120)
        document = self.document("inspect", self.model)
        self.assertEqual(len(document["tensors_used"]), 101)
        self.assertEqual(document["tensors_unused"],
                         ["embeddings.position_ids", "pooler.dense.bias", "pooler.dense.weight"])

    def test_lengths(self):
        text = ("--text", "goat " * 700)
        self.assertEqual([(row["tokens"], row["dropped_tokens"]) for row in self.rows(self.model, *text)], [(256, 446)])
        self.assertEqual(self.rows(self.model, *text, "--max-length", "512")[0]["tokens"], 512)
        self.refused("embed", self.model, *text, "--max-length", "513", error="max-length-out-of-range")
        message = self.refused("embed", self.model, *text, "--on-overflow", "error", error="too-many-tokens")
        self.assertIn("--max-length", message)


class ExportTest(CheckpointTest):
    def test_takes_less_than_a_second_more_than_copying_what_it_writes(self):
        # The best of a few turns, as the machine may have other work.
        def seconds(*command):
            before = time.monotonic()
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            return time.monotonic() - before

        more = []
        for turn in range(5):
            program, copy = self.scratch / f"program{turn}", self.scratch / f"copy{turn}"
            exported = seconds(*driver.command("export", self.model, "--output", program))
            more.append(exported - seconds("cp", "-r", program, copy))
            shutil.rmtree(program)
            shutil.rmtree(copy)
            if more[-1] < 1:
                break
        print(f"export: {min(more):.3f} s more than cp", file=sys.stderr)
        self.assertLess(min(more), 1)


class LargeInputTest(CheckpointTest):
    def test_a_line_of_ten_million_bytes(self):
        sentence = "the goat climbs the rocks above a village and looks down "  # 11 tokens, 57 bytes
        count = 10_000_000 // len(sentence) + 1
        path = self.write("long.txt", sentence * count + "\n" + "x" * 10_000_000 + "\nshort\n")
        rows = self.rows(self.model, "--input", path, "--quiet")
        self.assertEqual([row["tokens"] for row in rows], [256, 3, 3])
        self.assertEqual([row["dropped_tokens"] for row in rows], [11 * count + 2 - 256, 0, 0])

    def test_a_line_without_end(self):
        path = self.scratch / "endless.txt"
        with open(path, "wb") as file:
            os.truncate(file.fileno(), (64 << 20) + 2)
        self.assertIn("endless.txt: line 1", self.refused("embed", self.model, "--input", path,
                                                          error="input-line-too-long"))

    def test_bench_measures_the_machine_in_the_same_run(self):
        result = self.document("bench", self.model, "--workload", "32", "--seconds", "0.2", "--thread-counts", "1")
        (row,) = result["workloads"]
        self.assertGreater(row["share_of_peak"], 0)
        self.assertAlmostEqual(row["gflops"] / row["peak_gflops"], row["share_of_peak"], places=6)
        # 2mnk of every matmul, QK and PV: 32 tokens, 6 layers, hidden 384, intermediate 1536.
        flops = 2 * 32 * 6 * (4 * 384 * 384 + 2 * 384 * 1536 + 2 * 32 * 384)
        self.assertEqual(sum(group["flops"] for group in row["groups"]), flops)


if __name__ == "__main__":
    driver.main()
