"""Writes the checkpoint in the form each peer reads, all of it in f32: convert.py FORM MODEL FOLDER.

The ONNX graph holds masked mean pooling and the L2 norm too, so its peers do everything in one call.
"""

import json
import pathlib
import sys

import numpy as np
from safetensors.numpy import load_file


def read_model(model):
    """The config and the tensors of a BERT folder."""
    config = json.loads((model / "config.json").read_text())
    if config["hidden_act"] != "gelu":
        sys.exit(f"hidden_act is {config['hidden_act']}, gelu is needed")
    return config, load_file(model / "model.safetensors")


class OnnxGraph:
    """Nodes and constants of one graph; each node has one output, named after it."""

    def __init__(self):
        import onnx
        self.onnx = onnx
        self.nodes = []
        self.constants = []

    def constant(self, name, values):
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def scalar(self, value):
        return self.constant(f"scalar{len(self.constants)}", np.array(value, np.float32))

    def node(self, kind, inputs, **attributes):
        name = f"{kind}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def axes(self, kind, x, axes, **attributes):
        """A node whose second operand is a list of axes."""
        return self.node(kind, [x, self.constant(f"axes{len(self.constants)}", np.array(axes, np.int64))],
                         **attributes)


def bert_graph(graph, config, tensors):
    """The nodes in the pattern that exporters write, which the peers' own optimizers know."""
    heads, hidden = config["num_attention_heads"], config["hidden_size"]
    size = hidden // heads
    split = graph.constant("split", np.array([0, 0, heads, size], np.int64))
    join = graph.constant("join", np.array([0, 0, hidden], np.int64))

    def linear(x, name):
        weight = graph.constant(name + ".weight", tensors[name + ".weight"].T)
        product = graph.node("MatMul", [x, weight])
        return graph.node("Add", [product, graph.constant(name + ".bias", tensors[name + ".bias"])])

    def layer_norm(x, name):
        parts = [graph.constant(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in ("weight", "bias")]
        return graph.node("LayerNormalization", [x, *parts], axis=-1, epsilon=config["layer_norm_eps"])

    def gelu(x):
        error = graph.node("Erf", [graph.node("Div", [x, graph.scalar(2 ** 0.5)])])
        return graph.node("Mul", [graph.node("Mul", [x, graph.node("Add", [error, graph.scalar(1)])]),
                                  graph.scalar(0.5)])

    def by_head(x, order):
        return graph.node("Transpose", [graph.node("Reshape", [x, split])], perm=order)

    def embeddings():
        words = graph.node("Gather", [graph.constant("words", tensors["embeddings.word_embeddings.weight"]),
                                      "input_ids"])
        types = graph.constant("type0", tensors["embeddings.token_type_embeddings.weight"][0])
        length = graph.node("Slice", [graph.node("Shape", ["input_ids"]), *(
            graph.constant(f"slice{at}", np.array([at], np.int64)) for at in (1, 2))])
        first = graph.constant("first", np.array([0], np.int64))
        rows = graph.node("Slice", [
            graph.constant("positions", tensors["embeddings.position_embeddings.weight"]), first, length, first])
        x = graph.node("Add", [graph.node("Add", [words, types]), rows])
        return layer_norm(x, "embeddings.LayerNorm")

    ones = graph.node("Cast", [graph.axes("Unsqueeze", graph.axes("Unsqueeze", "attention_mask", [1]), [2])], to=1)
    mask = graph.node("Mul", [graph.node("Sub", [graph.scalar(1), ones]), graph.scalar(-10000)])
    x = embeddings()
    for number in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{number}."
        query = by_head(linear(x, name + "attention.self.query"), [0, 2, 1, 3])
        key = by_head(linear(x, name + "attention.self.key"), [0, 2, 3, 1])
        value = by_head(linear(x, name + "attention.self.value"), [0, 2, 1, 3])
        scores = graph.node("Div", [graph.node("MatMul", [query, key]), graph.scalar(size ** 0.5)])
        weights = graph.node("Softmax", [graph.node("Add", [scores, mask])], axis=-1)
        mixed = graph.node("Transpose", [graph.node("MatMul", [weights, value])], perm=[0, 2, 1, 3])
        output = linear(graph.node("Reshape", [mixed, join]), name + "attention.output.dense")
        x = layer_norm(graph.node("Add", [output, x]), name + "attention.output.LayerNorm")
        output = linear(gelu(linear(x, name + "intermediate.dense")), name + "output.dense")
        x = layer_norm(graph.node("Add", [output, x]), name + "output.LayerNorm")
    ones = graph.axes("Unsqueeze", graph.node("Cast", ["attention_mask"], to=1), [2])
    sums = graph.axes("ReduceSum", graph.node("Mul", [x, ones]), [1], keepdims=0)
    mean = graph.node("Div", [sums, graph.axes("ReduceSum", ones, [1], keepdims=0)])
    return graph.node("Div", [mean, graph.axes("ReduceL2", mean, [1], keepdims=1)])


def convert_onnx(model, folder):
    graph = OnnxGraph()
    config, tensors = read_model(model)
    output = bert_graph(graph, config, tensors)
    helper = graph.onnx.helper
    inputs = [helper.make_tensor_value_info(name, graph.onnx.TensorProto.INT64, ["texts", "tokens"])
              for name in ("input_ids", "attention_mask")]
    outputs = [helper.make_tensor_value_info("vectors", graph.onnx.TensorProto.FLOAT, ["texts", config["hidden_size"]])]
    graph.nodes[-1].output[0] = "vectors"
    assert graph.nodes[-1].name == output
    made = helper.make_model(
        helper.make_graph(graph.nodes, "bert", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    graph.onnx.checker.check_model(made)
    graph.onnx.save(made, folder / "model.onnx")


def convert_fused(model, folder):
    """The ONNX file through ONNX Runtime's own offline optimizer for BERT."""
    from onnxruntime.transformers import optimizer
    from onnxruntime.transformers.fusion_options import FusionOptions
    config, _ = read_model(model)
    made = optimizer.optimize_model(
        str(folder.parent / "onnx" / "model.onnx"), model_type="bert", opt_level=0,
        num_heads=config["num_attention_heads"], hidden_size=config["hidden_size"],
        optimization_options=FusionOptions("bert"))
    found = made.get_fused_operator_statistics()
    if found.get("Attention", 0) != config["num_hidden_layers"]:
        sys.exit(f"the optimizer fused {found}")
    made.save_model_to_file(str(folder / "model.onnx"))


def convert_openvino(_, folder):
    import openvino
    made = openvino.Core().read_model(folder.parent / "onnx" / "model.onnx")
    openvino.save_model(made, folder / "model.xml", compress_to_fp16=False)


def convert_ctranslate2(model, folder):
    from ctranslate2.converters import TransformersConverter
    TransformersConverter(str(model)).convert(str(folder), quantization="float32", force=True)


GGUF_NAMES = {
    "embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm"}
GGUF_LAYER_NAMES = {
    "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}


def convert_gguf(model, folder):
    """An f32 file without a vocabulary, since only token ids are given."""
    import gguf
    config, tensors = read_model(model)
    layers = config["num_hidden_layers"]
    writer = gguf.GGUFWriter(folder / "model.gguf", "bert")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(layers)
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("no_vocab")
    writer.add_vocab_size(config["vocab_size"])
    writer.add_token_type_count(config["type_vocab_size"])
    names = dict(GGUF_NAMES)
    for number in range(layers):
        for ours, theirs in GGUF_LAYER_NAMES.items():
            names[f"encoder.layer.{number}.{ours}"] = f"blk.{number}.{theirs}"
    for name, values in tensors.items():
        base, _, kind = name.rpartition(".")
        if base in names:
            writer.add_tensor(f"{names[base]}.{kind}", np.ascontiguousarray(values, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


FORMS = {"onnx": convert_onnx, "onnx-fused": convert_fused, "openvino": convert_openvino,
         "ctranslate2": convert_ctranslate2, "gguf": convert_gguf}

if __name__ == "__main__":
    FORMS[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
