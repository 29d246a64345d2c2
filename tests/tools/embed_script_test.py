"""embed.py of exported folders, run by IREE as a user would: against golden vectors and against `capra embed`."""

import json
import subprocess
import sys

import numpy
from safetensors.numpy import load_file

import driver
import small_model

GOLDEN = driver.ROOT / "tests" / "golden" / "minilm"
BOUND = 2e-6  # on vectors of length 1, as `capra verify --target iree` has it
TEXTS = ["the goat", "a rock on the goat on a rock", "on", "the rock the rock the rock the rock " * 3, ""]
PROMPT = "on a rock "
DENSE = 8


class EmbedScriptTest(driver.DriverTest):
    def export(self, model, *arguments, name="program"):
        folder = self.scratch / name
        self.document("export", model, "--outputs", "embedding", *arguments, "--output", folder)
        return folder

    def script(self, folder, *texts, code=0, stdin=b""):
        done = subprocess.run([sys.executable, "-B", folder / "embed.py", *texts], input=stdin, capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, code, done.stderr.decode("utf-8", "replace"))
        if code:
            return done.stderr.decode("utf-8")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def compare(self, rows, wanted, bound=BOUND):
        self.assertEqual(len(rows), len(wanted))
        difference = numpy.abs(numpy.array([row["embedding"] for row in rows]) - numpy.array(wanted)).max()
        self.assertLessEqual(difference, bound)
        return difference

    def as_capra(self, model, folder):
        """The script gives what the command gives, row by row."""
        rows = self.script(folder, *TEXTS)
        arguments = [word for text in TEXTS for word in ("--text", text)]
        wanted = self.rows(model, *arguments)
        for row, one in zip(rows, wanted):
            self.assertEqual({key: row[key] for key in row if key != "embedding"},
                             {key: one[key] for key in one if key != "embedding"})
        scale = max(1.0, max(numpy.linalg.norm(row["embedding"]) for row in wanted))
        self.compare(rows, [row["embedding"] for row in wanted], BOUND * scale)

    def test_golden_texts(self):
        folder = self.export(driver.checkpoint())
        settings = json.loads((folder / "embed.json").read_text(encoding="utf-8"))
        settings["max_length"] = 512  # as the golden vectors were made
        (folder / "embed.json").write_text(json.dumps(settings), encoding="utf-8")
        texts = json.loads((GOLDEN / "texts.json").read_text(encoding="utf-8"))
        # Some hold what neither an argument nor a line can.
        call = "import json, sys; sys.path.insert(0, sys.argv[1]); import embed; embed.main(json.load(sys.stdin))"
        done = subprocess.run([sys.executable, "-B", "-c", call, folder], capture_output=True, check=False,
                              input=json.dumps([row["text"] for row in texts]).encode())
        self.assertEqual(done.returncode, 0, done.stderr.decode("utf-8", "replace"))
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["tokens"] for row in rows], [len(row["token_ids"]) for row in texts])
        golden = load_file(GOLDEN / "embeddings.safetensors")["embeddings"]
        print(f"{len(rows)} texts, embeddings within {self.compare(rows, golden):.3g} of golden/minilm")

    def test_every_pooling(self):
        for name in ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens",
                     "lasttoken"):
            with self.subTest(name):
                pooling = {"word_embedding_dimension": small_model.HIDDEN, "pooling_mode_mean_tokens": False}
                pooling["pooling_mode_" + name] = True
                model = small_model.make(self.scratch / name, pooling=pooling, modules=small_model.MODULES[:2])
                self.as_capra(model, self.export(model, name="program-" + name))

    def test_a_prompt_outside_the_pooling_and_a_dense_layer(self):
        modules = small_model.MODULES[:2] + [
            {"idx": 2, "name": "2", "path": "2_Dense", "type": small_model.MODULE + "Dense"},
            {"idx": 3, "name": "3", "path": "3_Normalize", "type": small_model.MODULE + "Normalize"}]
        pooling = {"word_embedding_dimension": small_model.HIDDEN, "pooling_mode_mean_tokens": True,
                   "pooling_mode_max_tokens": True, "pooling_mode_weightedmean_tokens": True, "include_prompt": False}
        model = small_model.make(self.scratch / "model", modules=modules, pooling=pooling)
        size = 3 * small_model.HIDDEN
        self.write("model/2_Dense/config.json", json.dumps({
            "in_features": size, "out_features": DENSE, "bias": True,
            "activation_function": "torch.nn.modules.activation.Tanh"}))
        weight = numpy.random.default_rng(5).standard_normal((DENSE, size)) / size ** 0.5
        weight = weight.astype(numpy.float32)
        self.write("model/2_Dense/model.safetensors", driver.safetensors({
            "linear.weight": ("F32", [DENSE, size], weight.tobytes()),
            "linear.bias": ("F32", [DENSE], weight[:, 0].tobytes())}))
        self.write("model/config_sentence_transformers.json", json.dumps({
            "prompts": {"query": PROMPT}, "default_prompt_name": "query"}))
        folder = self.export(model, "--weights", "safetensors")
        self.assertEqual(json.loads((folder / "embed.json").read_text(encoding="utf-8"))["prompt"], PROMPT)
        self.as_capra(model, folder)

    def test_one_archive_for_several_programs(self):
        model = small_model.make(self.scratch / "model")
        whole = self.export(model)
        rows = self.script(whole, "the goat")
        fixed = self.export(model, "--length", "4", name="fixed")
        (fixed / "model.irpa").write_bytes((whole / "model.irpa").read_bytes())
        self.compare(self.script(fixed, "the goat"), [rows[0]["embedding"]])
        long, = self.script(fixed, "the goat on a rock")
        self.assertEqual((long["tokens"], long["dropped_tokens"]), (4, 3))
        self.compare([long], [rows[0]["embedding"]])
        self.assertIn("takes texts of exactly 4 tokens; export with --length dynamic", self.script(fixed, "goat", code=1))

    def test_standard_input_and_a_lowered_text(self):
        model = small_model.make(self.scratch / "model")
        self.write("model/sentence_bert_config.json", json.dumps({"max_seq_length": 24, "do_lower_case": True}))
        folder = self.export(model, "--constants", "inline")
        rows = self.script(folder, stdin=b"The GOAT\r\n\na ro\xffck")
        self.assertEqual([row["index"] for row in rows], [0, 1, 2])
        wanted = self.rows(model, "--input", "-", stdin=b"The GOAT\r\n\na ro\xffck")
        self.compare(rows, [row["embedding"] for row in wanted])


if __name__ == "__main__":
    driver.main()
