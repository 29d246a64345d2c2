"""capra embed: what goes in, what comes out row by row, and what is refused."""

import csv
import io
import json
import os
import subprocess

import driver
import small_model
from small_model import CLS, HIDDEN, LIMIT, SEP, VOCABULARY

TEXTS = ["goat", "the goat on the rock", "", "zebra", "rock a goat, the a b c d e f"]


def ids_of(*words):
    return [CLS, *map(VOCABULARY.index, words), SEP]


class RowsTest(small_model.SmallModelTest):
    def arguments(self, texts=None):
        return [part for text in (TEXTS if texts is None else texts) for part in ("--text", text)]

    def test_json_lines(self):
        lines = self.out("embed", self.model, *self.arguments()).splitlines()
        self.assertEqual(len(lines), len(TEXTS))
        for index, line in enumerate(lines):
            row = json.loads(line)
            self.assertEqual(list(row), ["index", "tokens", "truncated", "dropped_tokens", "embedding"])
            self.assertEqual((row["index"], row["truncated"], row["dropped_tokens"]), (index, False, 0))
            self.assertEqual(len(row["embedding"]), HIDDEN)
            self.assertAlmostEqual(sum(x * x for x in row["embedding"]), 1, places=6)
        self.assertEqual([json.loads(line)["tokens"] for line in lines], [3, 7, 2, 7, 13])

    def test_csv_and_npy_hold_the_same_numbers(self):
        rows = self.rows(self.model, *self.arguments())
        expected = [driver.bits(row["embedding"]) for row in rows]
        table = list(csv.reader(io.StringIO(self.out("embed", self.model, *self.arguments(), "--format", "csv"))))
        self.assertEqual(table[0], ["index", "id", "tokens", "truncated", "dropped_tokens"] +
                         [f"v{i}" for i in range(HIDDEN)])
        self.assertEqual([row[:5] for row in table[1:]],
                         [[str(row["index"]), "", str(row["tokens"]), "false", "0"] for row in rows])
        self.assertEqual([driver.bits(map(float, row[5:])) for row in table[1:]], expected)
        streamed = self.run_driver("embed", self.model, *self.arguments(), "--format", "npy").stdout
        path = self.scratch / "v.npy"
        self.out("embed", self.model, *self.arguments(), "--format", "npy", "--output", path)
        self.assertEqual(path.read_bytes(), streamed)
        shape, values = driver.read_npy(streamed)
        self.assertEqual(shape, (len(TEXTS), HIDDEN))
        self.assertEqual(values.tobytes(), b"".join(expected))

    def test_every_way_in_gives_the_same_rows(self):
        expected = self.out("embed", self.model, *self.arguments())
        lines = "".join(text + "\n" for text in TEXTS).encode()
        records = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS).encode()
        for name, contents in (("t.txt", lines), ("t.jsonl", records), ("t.ndjson", records)):
            self.assertEqual(self.out("embed", self.model, "--input", self.write(name, contents)), expected, name)
        self.assertEqual(self.out("embed", self.model, "--input", "-", stdin=lines), expected)
        self.assertEqual(self.out("embed", self.model, "--input", "-", "--input-format", "jsonl", stdin=records),
                         expected)
        both = self.out("embed", self.model, *self.arguments(TEXTS[:2]), "--input", "-",
                        stdin="".join(text + "\n" for text in TEXTS[2:]).encode())
        self.assertEqual(both, expected)
        document = self.document("embed", self.model, *self.arguments())
        self.assertEqual(document, [json.loads(line) for line in expected.splitlines()])

    def test_line_ends_and_marks(self):
        for name, contents in (("crlf", "goat\r\nrock\r\n"), ("no end", "goat\nrock"), ("mark", "\ufeffgoat\nrock\n")):
            rows = self.rows(self.model, "--input", "-", stdin=contents.encode("utf-8"))
            self.assertEqual([row["tokens"] for row in rows], [3, 3], name)
            self.assertEqual(rows, self.rows(self.model, "--text", "goat", "--text", "rock"), name)

    def test_empty_texts(self):
        empty, blank = self.rows(self.model, "--input", "-", stdin=b"\n   \n")
        self.assertEqual((empty["tokens"], blank["tokens"]), (2, 2))
        self.assertEqual(empty["embedding"], blank["embedding"])
        alone = self.rows(self.model, "--token-ids", "--text", f"{CLS} {SEP}")
        self.assertEqual(empty["embedding"], alone[0]["embedding"])

    def test_no_texts_at_all(self):
        nothing = self.write("nothing.txt", "")
        self.assertEqual(self.out("embed", self.model, "--input", nothing), "")
        self.assertEqual(self.document("embed", self.model, "--input", nothing), [])
        self.assertEqual(self.out("embed", self.model, "--input", nothing, "--format", "csv").count("\n"), 1)
        shape, _ = driver.read_npy(self.run_driver("embed", self.model, "--input", nothing, "--format", "npy").stdout)
        self.assertEqual(shape, (0, HIDDEN))
        self.refused("embed", self.model, error="input-missing")

    def test_a_nul_stays_inside_its_text(self):
        rows = self.rows(self.model, "--input", "-", stdin=b"go\0at\nrock\n")
        self.assertEqual(len(rows), 2)
        self.assertEqual(rows[0]["tokens"], 3)  # the normalizer drops it, as the reference does
        self.assertEqual(rows[0]["embedding"], self.rows(self.model, "--text", "goat")[0]["embedding"])

    def test_ids_are_kept_as_they_are(self):
        ids = ["a", 'q"uote, comma', 7, -1, 0, True, [1, 2], {"k": "v"}, "", None]
        records = "".join(json.dumps({"id": one, "text": "goat"}) + "\n" for one in ids) + '{"text": "goat"}\n'
        path = self.write("t.jsonl", records)
        rows = self.rows(self.model, "--input", path)
        self.assertEqual([row["id"] for row in rows[:9]], ids[:9])
        self.assertEqual(list(rows[0]), ["index", "id", "tokens", "truncated", "dropped_tokens", "embedding"])
        self.assertNotIn("id", rows[9])
        self.assertNotIn("id", rows[10])
        table = list(csv.reader(io.StringIO(self.out("embed", self.model, "--input", path, "--format", "csv"))))[1:]
        self.assertEqual([row[1] for row in table],
                         ["a", 'q"uote, comma', "7", "-1", "0", "true", "[1,2]", '{"k":"v"}', "", "", ""])

    def test_blank_lines_between_records_are_no_texts(self):
        rows = self.rows(self.model, "--input", self.write("t.jsonl", '\n{"text": "goat"}\n\n  \n"rock"\n\n'))
        self.assertEqual([row["tokens"] for row in rows], [3, 3])

    def test_a_text_that_looks_like_a_flag(self):
        self.assertEqual(len(self.rows(self.model, "--text=--goat", "--text", "a")), 2)


class TokenIdsTest(small_model.SmallModelTest):
    def test_ids_give_what_their_text_gives(self):
        text = self.rows(self.model, "--text", "the goat")[0]
        ids = ids_of("the", "goat")
        for form in (" ".join(map(str, ids)), ",".join(map(str, ids)), json.dumps(ids)):
            self.assertEqual(self.rows(self.model, "--token-ids", "--text", form)[0], text)
        records = json.dumps({"id": "x", "token_ids": ids}) + "\n" + json.dumps(ids) + "\n"
        rows = self.rows(self.model, "--token-ids", "--input", self.write("i.jsonl", records))
        self.assertEqual(rows[0].pop("id"), "x")
        self.assertEqual(rows[0], text)
        self.assertEqual(rows[1]["embedding"], text["embedding"])

    def test_bad_ids_name_their_line(self):
        def refused(contents, error, name="ids.txt"):
            message = self.refused("embed", self.model, "--token-ids", "--input", self.write(name, contents),
                                   error=error)
            self.assertIn(f"{name}: line 3", message)
            return message

        refused("2 3\n2 3\n2 x 3\n", "input-token-ids")
        refused("2 3\n2 3\n2 -4 3\n", "input-token-ids")
        refused("2 3\n2 3\n2 99999999999999999999 3\n", "input-token-ids")
        message = refused(f"2 3\n2 3\n2 {len(VOCABULARY)} 3\n", "token-id-out-of-range")
        self.assertIn(f"0 to {len(VOCABULARY) - 1}", message)
        refused("2 3\n2 3\n\n2 3\n", "sequence-empty")
        refused('[2]\n[2]\n[2.5]\n', "input-token-ids", "ids.jsonl")
        refused('[2]\n[2]\n{"ids": [2]}\n', "input-json", "ids.jsonl")

    def test_a_cut_keeps_the_closing_id(self):
        ids = [CLS] + [5] * 40 + [SEP]
        row = self.rows(self.model, "--token-ids", "--text", " ".join(map(str, ids)))[0]
        self.assertEqual((row["tokens"], row["truncated"], row["dropped_tokens"]), (LIMIT, True, 42 - LIMIT))
        cut = ids[:LIMIT - 1] + [SEP]
        self.assertEqual(row["embedding"],
                         self.rows(self.model, "--token-ids", "--text", " ".join(map(str, cut)))[0]["embedding"])
        self.refused("embed", self.model, "--token-ids", "--on-overflow", "error", "--text",
                     " ".join(map(str, ids)), error="too-many-tokens")

    def test_a_cut_is_on_the_declared_side(self):
        (self.model / "tokenizer_config.json").write_text('{"truncation_side": "left"}')
        ids = [CLS] + [5 + i % 7 for i in range(40)] + [SEP]
        cut = [CLS] + ids[-(LIMIT - 1):]
        long, short = (self.rows(self.model, "--token-ids", "--text", " ".join(map(str, row)))[0]["embedding"]
                       for row in (ids, cut))
        self.assertEqual(long, short)


class LengthTest(small_model.SmallModelTest):
    LONG = "goat " * 40  # 42 tokens

    def test_the_limit_is_not_the_tokenizers(self):
        # tokenizer.json says 8, sentence_bert_config.json 24, the positions 96.
        row = self.rows(self.model, "--text", self.LONG)[0]
        self.assertEqual((row["tokens"], row["truncated"], row["dropped_tokens"]), (LIMIT, True, 42 - LIMIT))
        self.assertIn(f"{LIMIT} tokens, from sentence_bert_config.json", self.out("inspect", self.model))

    def test_a_cut_is_said(self):
        done = self.run_driver("embed", self.model, "--text", self.LONG, "--text", "goat")
        self.assertIn(f"1 of 2 texts were cut to {LIMIT} tokens; {42 - LIMIT} tokens were dropped", done.stderr)
        self.assertEqual(self.run_driver("embed", self.model, "--text", self.LONG, "--quiet").stderr, "")

    def test_max_length(self):
        for limit in (3, 30, 96):
            row = self.rows(self.model, "--text", self.LONG, "--max-length", limit)[0]
            used = min(limit, 42)
            self.assertEqual((row["tokens"], row["dropped_tokens"]), (used, 42 - used))
        done = self.run_driver("embed", self.model, "--text", "goat", "--max-length", "30")
        self.assertIn("sentence_bert_config.json says 24", done.stderr)
        for limit in ("97", "0", "-3"):
            message = self.refused("embed", self.model, "--text", "goat", "--max-length", limit,
                                   error="max-length-out-of-range")
            self.assertIn("96", message)
        self.refused("embed", self.model, "--text", "goat", "--max-length", "2", error="token-limit-too-small")

    def test_overflow_may_be_an_error(self):
        contents = "goat\n" * 1500 + self.LONG + "\n"
        path = self.write("t.txt", contents)
        output = self.scratch / "v.jsonl"
        message = self.refused("embed", self.model, "--input", path, "--on-overflow", "error", "--output", output,
                               error="too-many-tokens")
        self.assertIn("t.txt: line 1501", message)
        self.assertIn("--max-length", message)
        self.assertEqual(sorted(p.name for p in self.scratch.iterdir()), ["model", "t.txt"])
        self.assertEqual(len(self.rows(self.model, "--text", "goat", "--on-overflow", "error")), 1)


class RefusedInputTest(small_model.SmallModelTest):
    def test_a_broken_line_is_named(self):
        good = '{"text": "goat"}\n'
        for broken in ('{"text": "goat"', '{"text": 5}', '{"words": "goat"}', "goat", '{"text": "a", "text": "b"}',
                       '{"text": "\\ud800"}', "5"):
            with self.subTest(line=broken):
                path = self.write("t.jsonl", good * 1202 + broken + "\n" + good)
                output = self.scratch / "v.npy"
                message = self.refused("embed", self.model, "--input", path, "--output", output, "--format", "npy",
                                       error="input-json")
                self.assertIn("t.jsonl: line 1203", message)
                self.assertEqual(sorted(p.name for p in self.scratch.iterdir()), ["model", "t.jsonl"])

    def test_invalid_utf8(self):
        contents = b"goat\nro\xffck \xc3\x28 \xed\xa0\x80\nrock\n"
        done = self.run_driver("embed", self.model, "--input", "-", stdin=contents)
        self.assertIn("invalid UTF-8 sequences were replaced by U+FFFD", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 3)
        message = self.refused("embed", self.model, "--input", "-", "--strict", stdin=contents, error="utf8-invalid")
        self.assertIn("standard input: line 2", message)
        self.assertEqual(self.run_driver("embed", self.model, "--strict", "--input", "-", stdin="é 日\n".encode()).stderr,
                         "")

    def test_a_nul_byte_is_no_end_of_json(self):
        message = self.refused("embed", self.model, "--input", "-", "--input-format", "jsonl",
                               stdin=b'{"text": "goat"}\n{"text": "a"}\0 garbage }{\n', error="input-json")
        self.assertIn("standard input: line 2", message)

    def test_invalid_utf8_in_json(self):
        contents = b'{"text": "goat"}\n{"text": "ro\xffck \xc3\x28"}\n'
        done = self.run_driver("embed", self.model, "--input", "-", "--input-format", "jsonl", stdin=contents)
        self.assertIn("2 invalid UTF-8 sequences were replaced by U+FFFD", done.stderr)
        same = self.run_driver("embed", self.model, "--input", "-", stdin=b"goat\nro\xffck \xc3\x28\n")
        self.assertEqual(done.stdout, same.stdout)
        message = self.refused("embed", self.model, "--input", "-", "--input-format", "jsonl", "--strict",
                               stdin=contents, error="utf8-invalid")
        self.assertIn("standard input: line 2", message)

    def test_input_that_is_not_there(self):
        message = self.refused("embed", self.model, "--input", self.scratch / "none.txt", error="file-not-found")
        self.assertIn("none.txt", message)
        self.assertIn("folder", self.refused("embed", self.model, "--input", self.scratch, error="file-unreadable"))
        self.refused("embed", self.model, "--text", "a", "--input-format", "xml", error="input-format-unknown")
        self.refused("embed", self.model, "--text", "a", "--format", "xml", error="output-format-unknown")

    def test_models_that_do_not_load(self):
        self.refused("embed", self.scratch / "none", "--text", "a", error="file-not-found")
        (self.scratch / "bare").mkdir()
        self.refused("embed", self.scratch / "bare", "--text", "a", error="config-missing")
        (self.model / "tokenizer.json").rename(self.model / "elsewhere.json")
        self.refused("embed", self.model, "--text", "a", error="tokenizer-missing")
        self.assertEqual(len(self.rows(self.model, "--token-ids", "--text", "2 3")), 1)
        self.refused("embed", small_model.make(self.scratch / "family", config={**small_model.CONFIG,
                                                                                "model_type": "gpt9"}),
                     "--text", "a", error="model-family-unknown")
        whole = small_model.weights()
        cut = small_model.make(self.scratch / "cut", weights=whole[:-4])
        self.refused("embed", cut, "--text", "a", error="safetensors-truncated")

    def test_a_vector_that_is_no_number_never_leaves(self):
        def spoil(name, values):
            if name == "encoder.layer.1.output.LayerNorm.bias":
                values[3] = float("nan")

        spoiled = small_model.make(self.scratch / "spoiled", weights=small_model.weights(change=spoil))
        output = self.scratch / "v.jsonl"
        self.refused("embed", spoiled, "--text", "goat", "--output", output, error="vector-not-finite")
        lines = self.write("spoiled.jsonl", '\n{"text": "a"}\n')
        self.assertFalse(output.exists())
        self.assertIn("line 2", self.refused("embed", spoiled, "--input", lines, error="vector-not-finite"))

    def test_a_standard_input_that_is_closed(self):
        closed = ["sh", "-c", 'exec "$@" <&-', "sh", *driver.command("embed", self.model, "--input", "-")]
        done = subprocess.run([str(part) for part in closed], capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (driver.BAD, b""))
        self.assertIn(b"file-unreadable", done.stderr)

    def test_kernels_that_do_not_exist_are_refused(self):
        self.refused("embed", self.model, "--text", "a", error="instruction-set-unavailable",
                     env={**os.environ, "CAPRA_ISA": "sse9"})


class OverrideTest(small_model.SmallModelTest):
    def test_pooling_comes_from_the_checkpoint(self):
        mean = self.rows(self.model, "--text", "the goat")[0]["embedding"]
        folder = small_model.make(
            self.scratch / "cls", pooling={"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": True})
        cls = self.rows(folder, "--text", "the goat")[0]["embedding"]
        self.assertNotEqual(cls, mean)
        self.assertRegex(self.out("inspect", folder), r"(?m)^pooling +cls$")
        done = self.run_driver("embed", self.model, "--text", "the goat", "--pooling", "cls")
        self.assertEqual(json.loads(done.stdout)["embedding"], cls)
        self.assertRegex(done.stderr, "note: .*pooling")
        self.refused("embed", self.model, "--text", "a", "--pooling", "median", error="pooling-unknown")

    def test_normalization(self):
        done = self.run_driver("embed", self.model, "--text", "goat", "--no-normalize")
        self.assertRegex(done.stderr, "note: .*normal")
        plain = json.loads(done.stdout)["embedding"]
        length = sum(x * x for x in plain) ** 0.5
        self.assertGreater(abs(length - 1), 0.01)
        for a, b in zip(plain, self.rows(self.model, "--text", "goat")[0]["embedding"]):
            self.assertAlmostEqual(a / length, b, places=6)

    def test_prompt(self):
        done = self.run_driver("embed", self.model, "--text", "goat", "--prompt", "the ")
        self.assertRegex(done.stderr, "note: .*prompt")
        row = json.loads(done.stdout)
        self.assertEqual(row["tokens"], 4)
        self.assertEqual(row["embedding"], self.rows(self.model, "--text", "the goat")[0]["embedding"])

    def test_approximation_is_refused_unless_known(self):
        self.refused("embed", self.model, "--text", "a", "--approximate", "gelu=none", error="approximation-unknown")
        self.refused("embed", self.model, "--text", "a", "--target", "gpu", error="target-unknown")


class EqualityTest(small_model.SmallModelTest):
    def test_a_text_does_not_depend_on_its_company(self):
        texts = [" ".join(small_model.WORDS[i % 5:] * (i % 7) + ["abc"[i % 3:]] * (i % 4)) for i in range(60)]
        lines = "".join(text + "\n" for text in texts).encode()
        expected = [driver.bits(row["embedding"]) for row in self.rows(self.model, "--input", "-", stdin=lines)]
        for budget, threads in ((1, 1), (17, 2), (64, 3), (4096, 1), (4096, 8)):
            rows = self.rows(self.model, "--input", "-", "--token-budget", budget, "--threads", threads, stdin=lines)
            self.assertEqual([driver.bits(row["embedding"]) for row in rows], expected, (budget, threads))
        backwards = "".join(text + "\n" for text in reversed(texts)).encode()
        rows = self.rows(self.model, "--input", "-", stdin=backwards)
        self.assertEqual([driver.bits(row["embedding"]) for row in reversed(rows)], expected)
        for i in range(0, 60, 13):
            alone = self.rows(self.model, "--text", texts[i])
            self.assertEqual(driver.bits(alone[0]["embedding"]), expected[i])

    def test_order_is_kept_over_many_batches(self):
        # Rows of known lengths, many more than a batch takes; a row's vector tells its length.
        count = 3500
        lengths = [2 + (i * 7919) % 19 for i in range(count)]
        records = "".join(json.dumps({"id": i, "text": "a " * (n - 2)}) + "\n" for i, n in enumerate(lengths))
        rows = self.rows(self.model, "--input", self.write("many.jsonl", records))
        self.assertEqual([row["index"] for row in rows], list(range(count)))
        self.assertEqual([row["id"] for row in rows], list(range(count)))
        self.assertEqual([row["tokens"] for row in rows], lengths)
        seen = {}
        for row in rows:
            self.assertEqual(seen.setdefault(row["tokens"], row["embedding"]), row["embedding"])
        self.assertEqual(len({tuple(vector) for vector in seen.values()}), 19)


class StreamTest(small_model.SmallModelTest):
    def stream(self, *arguments):
        process = subprocess.Popen(driver.command("embed", self.model, "--input", "-", *arguments),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.enterContext(process)
        self.addCleanup(process.kill)
        return process

    def test_a_row_comes_out_before_the_next_goes_in(self):
        process = self.stream()
        for index, text in enumerate(TEXTS):
            process.stdin.write(text.encode() + b"\n")
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["index"], index)
        process.stdin.close()
        self.assertEqual((process.stdout.read(), process.wait()), (b"", driver.DONE))

    def test_rows_before_a_broken_one_are_written(self):
        lines = b"".join(b'{"text": "goat"}\n' for _ in range(50)) + b'{"text": 3}\n{"text": "goat"}\n'
        done = self.run_driver("embed", self.model, "--input", "-", "--input-format", "jsonl", "--token-budget", 8,
                               code=driver.BAD, stdin=lines)
        self.assertEqual([json.loads(line)["index"] for line in done.stdout.splitlines()], list(range(50)))
        self.assertIn("standard input: line 51", done.stderr)

    def test_a_reader_that_goes_ends_the_wait_for_more(self):
        process = self.stream()
        process.stdout.close()
        process.stdin.write(b"goat\n")
        process.stdin.flush()  # and stays open: nothing more comes
        self.assertEqual(process.wait(timeout=60), driver.BAD)
        self.assertIn(b"output-closed", process.stderr.read())

    def test_a_vector_that_fails_ends_the_wait_for_more(self):
        def spoil(name, values):
            if name == "encoder.layer.1.output.LayerNorm.bias":
                values[3] = float("nan")

        self.model = small_model.make(self.scratch / "spoiled", weights=small_model.weights(change=spoil))
        process = self.stream()
        process.stdin.write(b"goat\n")
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=60), driver.BAD)
        self.assertIn(b"standard input: line 1", process.stderr.read())


if __name__ == "__main__":
    driver.main()
