"""A model folder of a few kilobytes: a two-layer encoder with seeded weights, and a tokenizer for lower-case words."""

import array
import json
import string

import driver

HIDDEN, LAYERS, HEADS, INTERMEDIATE, POSITIONS = 32, 2, 2, 48, 96
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = ["goat", "rock", "the", "on", "a"]
VOCABULARY = SPECIAL + WORDS + sorted(set(string.ascii_lowercase) - set(WORDS)) + [
    "##" + c for c in string.ascii_lowercase]
CLS, SEP = 2, 3
LIMIT = 24  # of sentence_bert_config.json; tokenizer.json says 8, the positions are 96

CONFIG = {
    "model_type": "bert", "vocab_size": len(VOCABULARY), "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "intermediate_size": INTERMEDIATE, "max_position_embeddings": POSITIONS,
    "type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu"}
MODULE = "sentence_transformers.models."
MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": MODULE + "Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": MODULE + "Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": MODULE + "Normalize"}]


def tokenizer():
    def added(token):
        return {"id": VOCABULARY.index(token), "content": token, "single_word": False, "lstrip": False,
                "rstrip": False, "normalized": False, "special": True}

    def piece(kind, name, type_id=0):
        return {kind: {"id": name, "type_id": type_id}}

    def special(token):
        return {"id": token, "ids": [VOCABULARY.index(token)], "tokens": [token]}

    single = [piece("SpecialToken", "[CLS]"), piece("Sequence", "A"), piece("SpecialToken", "[SEP]")]
    return {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [added(token) for token in SPECIAL],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing", "single": single,
            "pair": single + [piece("Sequence", "B", 1), piece("SpecialToken", "[SEP]", 1)],
            "special_tokens": {token: special(token) for token in ("[CLS]", "[SEP]")}},
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 40, "vocab": {token: i for i, token in enumerate(VOCABULARY)}}}


def shapes():
    """Tensor names of a BERT checkpoint and their shapes."""
    yield "embeddings.word_embeddings.weight", [len(VOCABULARY), HIDDEN]
    yield "embeddings.position_embeddings.weight", [POSITIONS, HIDDEN]
    yield "embeddings.token_type_embeddings.weight", [2, HIDDEN]
    yield from _norm("embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            yield from _linear(at + "attention.self." + name, HIDDEN, HIDDEN)
        yield from _linear(at + "attention.output.dense", HIDDEN, HIDDEN)
        yield from _norm(at + "attention.output.LayerNorm")
        yield from _linear(at + "intermediate.dense", INTERMEDIATE, HIDDEN)
        yield from _linear(at + "output.dense", HIDDEN, INTERMEDIATE)
        yield from _norm(at + "output.LayerNorm")


def _linear(name, rows, columns):
    yield name + ".weight", [rows, columns]
    yield name + ".bias", [rows]


def _norm(name):
    yield name + ".weight", [HIDDEN]
    yield name + ".bias", [HIDDEN]


def weights(seed=1, change=None):
    """The file's bytes; `change(name, values)` may alter values in place."""
    state = seed
    tensors = {}
    for name, shape in shapes():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        middle = 1.0 if name.endswith("LayerNorm.weight") else 0.0
        values = array.array("f")
        for _ in range(count):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64  # Knuth's MMIX generator
            values.append(middle + (state >> 40) / 2**24 - 0.5)
        if change is not None:
            change(name, values)
        tensors[name] = ("F32", shape, values.tobytes())
    return driver.safetensors(tensors)


def make(folder, **files):
    """Writes the folder. `files` replaces contents: config=..., modules=..., pooling=..., weights=..."""
    contents = {
        "config.json": files.get("config", CONFIG),
        "modules.json": files.get("modules", MODULES),
        "1_Pooling/config.json": files.get(
            "pooling", {"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": True}),
        "sentence_bert_config.json": {"max_seq_length": LIMIT, "do_lower_case": False},
        "tokenizer.json": tokenizer()}
    for name, value in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(files.get("weights") or weights())
    return folder


class SmallModelTest(driver.DriverTest):
    """Tests on the small model; those that give text are skipped in a build without tokenizers."""

    needs_tokenizer = True

    def setUp(self):
        super().setUp()
        self.model = make(self.scratch / "model")
        if self.needs_tokenizer and self.document("inspect", self.model)["tokenizer"] is None:
            self.skipTest("this build has no tokenizers: it takes token ids only")
