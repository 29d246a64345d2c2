"""What is measured: token ids and texts of given lengths, the golden vectors, and the operations of an encoder."""

import array
import json
import math
import random
import struct

LENGTHS = (12, 32, 128, 256)
MIXED_MEDIAN, MIXED_SIGMA, MIXED_RANGE = 28, 0.8, (4, 256)


class Words:
    """Words of the vocabulary that are one token each, so that a text's length is known."""

    def __init__(self, model):
        vocabulary = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
        self.first, self.last = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self.words = [(word, token) for word, token in vocabulary.items()
                      if word.isascii() and word.isalpha() and word.islower() and len(word) > 2]
        self.random = random.Random(20231107)

    def text(self, length):
        """A text of `length` tokens and its ids, the two special tokens included."""
        chosen = self.random.choices(self.words, k=length - 2)
        return " ".join(word for word, _ in chosen), [self.first, *(token for _, token in chosen), self.last]

    def mixed(self, count):
        """`count` texts of log-normal lengths, in the order they were drawn."""
        lengths = [MIXED_MEDIAN * math.exp(MIXED_SIGMA * self.random.gauss(0, 1)) for _ in range(count)]
        return [self.text(int(min(max(length, MIXED_RANGE[0]), MIXED_RANGE[1]))) for length in lengths]


def batches_of(texts, size):
    """Texts sorted by length, `size` a batch; 0: all in one."""
    ordered = sorted(texts, key=len)
    size = size or len(ordered)
    return [ordered[at:at + size] for at in range(0, len(ordered), size)]


def encoder_flops(config, lengths):
    """2mnk of every matrix product of a BERT encoder at the texts' real lengths."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    each = sum(2 * n * (4 * hidden * hidden + 2 * hidden * inner) + 4 * n * n * hidden for n in lengths)
    return config["num_hidden_layers"] * each


class Golden:
    """Texts with vectors from double precision, and how far other vectors are from them."""

    def __init__(self, folder):
        self.texts = [text["token_ids"] for text in json.loads((folder / "texts.json").read_text())]
        data = (folder / "embeddings.safetensors").read_bytes()
        header = 8 + struct.unpack("<Q", data[:8])[0]
        entry = json.loads(data[8:header])["embeddings"]
        begin, end = entry["data_offsets"]
        self.values = array.array("d", data[header + begin:header + end])
        self.width = entry["shape"][1]

    def error(self, vectors):
        """The largest difference of a value; infinite if any is missing or not finite."""
        if len(vectors) != len(self.values) or not all(map(math.isfinite, vectors)):
            return math.inf
        return max(abs(a - b) for a, b in zip(vectors, self.values))

    def equal_rows(self, vectors, others):
        """How many texts have the same bits in both."""
        rows = range(0, len(self.values), self.width)
        return sum(vectors[at:at + self.width].tobytes() == others[at:at + self.width].tobytes() for at in rows)
