"""One peer as a process: peer.py NAME MODEL FORMS THREADS. Token ids in, vectors out, a JSON line each way.

A peer gets lists of token ids and gives mean-pooled, L2-normalized f32 vectors, one row a text.
"""

import json
import pathlib
import sys
import time

import numpy as np


def padded(texts):
    """Ids and mask [texts, longest], filled with zeros."""
    ids = np.zeros((len(texts), max(map(len, texts))), np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, :len(text)] = text
        mask[row, :len(text)] = 1
    return ids, mask


def normalized(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Peer:
    def embed_all(self, batches):
        return np.concatenate([self.embed(batch) for batch in batches])


class OnnxRuntime(Peer):
    form = "onnx"

    def __init__(self, _, forms, threads):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            forms / self.form / "model.onnx", options, providers=["CPUExecutionProvider"])

    def embed(self, texts):
        ids, mask = padded(texts)
        return self.session.run(None, {"input_ids": ids, "attention_mask": mask})[0]


class OnnxRuntimeFused(OnnxRuntime):
    form = "onnx-fused"


class OpenVino(Peer):
    hint = "LATENCY"

    def __init__(self, _, forms, threads):
        import openvino
        self.openvino = openvino
        self.model = openvino.Core().compile_model(forms / "openvino" / "model.xml", "CPU", {
            "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": self.hint})
        self.request = self.model.create_infer_request()

    def embed(self, texts):
        return self.request.infer(padded(texts))[0].copy()


class OpenVinoThroughput(OpenVino):
    """As many requests at a time as the plug-in asks for."""
    hint = "THROUGHPUT"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.queue = self.openvino.AsyncInferQueue(self.model)
        self.queue.set_callback(self.keep)

    def keep(self, request, number):
        self.results[number] = request.get_output_tensor(0).data.copy()

    def embed_all(self, batches):
        if len(batches) == 1:
            return self.embed(batches[0])
        self.results = [None] * len(batches)
        for number, batch in enumerate(batches):
            self.queue.start_async(padded(batch), number)
        self.queue.wait_all()
        return np.concatenate(self.results)


class CTranslate2(Peer):
    workers = 1

    def __init__(self, _, forms, threads):
        import ctranslate2
        self.encoder = ctranslate2.Encoder(
            str(forms / "ctranslate2"), device="cpu", compute_type="float32",
            inter_threads=self.workers, intra_threads=threads // self.workers)

    def embed(self, texts):
        hidden = np.asarray(self.encoder.forward_batch(texts).last_hidden_state)
        mask = np.arange(hidden.shape[1]) < np.array([[len(text)] for text in texts])
        if mask.all():
            return normalized(hidden.mean(axis=1))
        return normalized(np.einsum("bnh,bn->bh", hidden, mask.astype(np.float32)) / mask.sum(axis=1, keepdims=True,
                                                                                            dtype=np.float32))


class CTranslate2Workers(CTranslate2):
    """A worker of one thread for each thread, each with batches of its own."""

    def __init__(self, model, forms, threads):
        from concurrent.futures import ThreadPoolExecutor
        self.workers = threads
        self.pool = ThreadPoolExecutor(threads)
        super().__init__(model, forms, threads)

    def embed_all(self, batches):
        return np.concatenate(list(self.pool.map(self.embed, batches)))


class Torch(Peer):
    def __init__(self, model, _, threads):
        import torch
        from transformers import BertModel
        self.torch = torch
        torch.set_num_threads(threads)
        self.model = BertModel.from_pretrained(
            model, add_pooling_layer=False, attn_implementation="sdpa", dtype=torch.float32).eval()

    def embed(self, texts):
        torch = self.torch
        with torch.inference_mode():
            ids, mask = map(torch.from_numpy, padded(texts))
            if mask.all():
                mean = self.model(input_ids=ids).last_hidden_state.mean(dim=1)
            else:
                hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state
                weights = mask.unsqueeze(-1).to(hidden.dtype)
                mean = (hidden * weights).sum(dim=1) / weights.sum(dim=1)
            return torch.nn.functional.normalize(mean, dim=1).numpy()


class LlamaCpp(Peer):
    """Texts packed into one batch without padding, as many as its micro-batch holds."""
    tokens = 2048
    texts = 64

    def __init__(self, _, forms, threads):
        import llama_cpp
        self.lib = llama_cpp
        quiet = llama_cpp.llama_log_callback(lambda level, text, data: None)
        self.quiet = quiet  # must outlive the library's use of it
        llama_cpp.llama_log_set(quiet, None)
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(
            str(forms / "gguf" / "model.gguf").encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise RuntimeError("llama.cpp does not open the GGUF file")
        options = llama_cpp.llama_context_default_params()
        options.n_ctx = options.n_batch = options.n_ubatch = self.tokens
        options.n_seq_max = self.texts
        options.n_threads = options.n_threads_batch = threads
        options.embeddings = True
        options.kv_unified = True
        options.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_MEAN
        self.context = llama_cpp.llama_init_from_model(self.model, options)
        if not self.context:
            raise RuntimeError("llama.cpp makes no context")
        self.batch = llama_cpp.llama_batch_init(self.tokens, 0, 1)
        self.width = llama_cpp.llama_model_n_embd(self.model)

    def embed(self, texts):
        vectors, waiting, used = [], [], 0
        for text in texts:
            if waiting and (used + len(text) > self.tokens or len(waiting) == self.texts):
                vectors += self.run(waiting)
                waiting, used = [], 0
            waiting.append(text)
            used += len(text)
        return normalized(np.array(vectors + self.run(waiting), np.float32))

    def run(self, texts):
        batch, at = self.batch, 0
        for sequence, text in enumerate(texts):
            for position, token in enumerate(text):
                batch.token[at], batch.pos[at], batch.logits[at] = token, position, 1
                batch.n_seq_id[at], batch.seq_id[at][0] = 1, sequence
                at += 1
        batch.n_tokens = at
        if self.lib.llama_encode(self.context, batch) != 0:
            raise RuntimeError("llama_encode failed")
        return [np.ctypeslib.as_array(self.lib.llama_get_embeddings_seq(self.context, sequence), (self.width,)).copy()
                for sequence in range(len(texts))]


PEERS = {"onnxruntime": OnnxRuntime, "onnxruntime-fused": OnnxRuntimeFused,
         "openvino": OpenVino, "openvino-throughput": OpenVinoThroughput,
         "ctranslate2": CTranslate2, "ctranslate2-workers": CTranslate2Workers,
         "torch": Torch, "llama.cpp": LlamaCpp}


def answer(peer, request):
    batches, seconds = request["batches"], []
    while len(seconds) < request.get("repeat", 1) or sum(seconds) < request.get("seconds", 0):
        start = time.perf_counter()
        vectors = peer.embed_all(batches)
        seconds.append(time.perf_counter() - start)
    reply = {"seconds": seconds}
    if request.get("vectors"):
        reply["vectors"] = np.ascontiguousarray(vectors, "<f4").tobytes().hex()
    return reply


def serve(name, model, forms, threads):
    output = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not stand between the answers

    def say(message):
        print(json.dumps(message), file=output, flush=True)

    try:
        peer = PEERS[name](model, pathlib.Path(forms), int(threads))
    except Exception as error:  # whatever a package raises is its reason to be absent
        say({"error": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    say({"ready": True})
    for line in sys.stdin:
        try:
            say(answer(peer, json.loads(line)))
        except Exception as error:
            say({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    serve(*sys.argv[1:])
