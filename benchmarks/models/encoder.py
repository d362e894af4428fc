"""A RoBERTa-style encoder as a compact ONNX graph: token ids and mask in, unit vectors out.

Why our own graph instead of an exporter's: no torch is needed to make it, pooling and normalisation are
inside, the last layer is computed for the first token only (the only one that is pooled), and the quantised
form can be chosen for two properties that stock dynamic quantisation lacks:

* activations are quantised per token, so a text's vector does not depend on what else is in its batch
  (an embedding cache keyed by text needs that), and one outlier token does not coarsen the others;
* weights use 7 of 8 bits: with unsigned activations a pair sum is at most 2 * 255 * 63 < 2**15, so the
  16-bit multiply-add of x86 processors without VNNI cannot saturate: the integer products are exact everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from benchmarks.models.pack import Pack

MICROSOFT = "com.microsoft"
ACTIVATION_LEVELS = 127
WEIGHT_LEVELS = 63


class Graph:
    """Nodes and constants of one ONNX graph, in the order they are added."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def constant(self, name: str, value: NDArray[Any] | np.generic) -> str:
        """A named constant; the same name is stored once."""
        self.constants.setdefault(name, numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def ints(self, *values: int) -> str:
        """A one-dimensional int64 constant, for shapes and axes."""
        return self.constant("ints_" + "_".join(map(str, values)), np.array(values, np.int64))

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """One node with one output, whose name is returned."""
        return self.split(op, *inputs, outputs=1, domain=domain, **attributes)[0]

    def split(self, op: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any) -> Sequence[str]:
        """One node with several outputs, whose names are returned."""
        names = [f"{op}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names

    def model(self, output: str, dim: int) -> ModelProto:
        """The finished model: input_ids and attention_mask (b, s) int64 -> embedding (b, dim) float32."""
        self.nodes.append(helper.make_node("Identity", [output], ["embedding"]))
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "s"]) for name in ("input_ids", "attention_mask")]
        outputs = [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["b", dim])]
        graph = helper.make_graph(self.nodes, "encoder", inputs, outputs, list(self.constants.values()))
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="lineage")


Linear = Callable[[Graph, Pack, str, str], str]


def exact_linear(graph: Graph, pack: Pack, x: str, name: str) -> str:
    """x (t, k) times the weights `name` (n, k), plus bias, in float32."""
    weight = graph.constant(name + ".w", pack.weight(name + ".w").T)
    return graph.add("Add", graph.add("MatMul", x, weight), graph.constant(name + ".b", pack.weight(name + ".b")))


def integer_linear(graph: Graph, pack: Pack, x: str, name: str) -> str:
    """The same product in integers: one scale per token for x, one per output for the weights."""
    codes, scales = quantise(pack.weight(name + ".w"))
    peak = graph.add("ReduceMax", graph.add("Abs", x), graph.ints(1), keepdims=1)
    step = graph.add("Mul", peak, graph.constant("per_level", np.float32(1 / ACTIVATION_LEVELS)))
    step = graph.add("Max", step, graph.constant("tiny", np.float32(1e-9)))
    flat = graph.add("Reshape", step, graph.ints(-1))
    middle = graph.constant("middle", np.uint8(128))
    quantised = graph.add("QuantizeLinear", x, flat, graph.add("Expand", middle, graph.add("Shape", flat)), axis=0)
    product = graph.add(
        "MatMulIntegerToFloat",
        quantised,
        graph.constant(name + ".q", codes.T),
        graph.constant("unit", np.float32(1)),
        graph.constant(name + ".s", scales),
        middle,
        domain=MICROSOFT,
    )
    return graph.add("Add", graph.add("Mul", product, step), graph.constant(name + ".b", pack.weight(name + ".b")))


def quantise(weight: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Codes (n, k) within +-63 and scales (n,) of a weight matrix, symmetric per output."""
    scales = np.maximum(np.abs(weight).max(axis=1), 1e-8).astype(np.float32) / np.float32(WEIGHT_LEVELS)
    return np.round(weight / scales[:, None]).astype(np.int8), scales


def encoder(pack: Pack, linear: Linear) -> ModelProto:
    """The whole model, with `linear` for its 4 x layers products. Inside, tokens are rows: (b * s, hidden)."""
    graph, hidden = Graph(), pack.arch["hidden"]
    x = graph.add("Reshape", _embeddings(graph, pack), graph.ints(-1, hidden))
    mask = _mask_bias(graph)
    for layer in range(pack.arch["layers"]):
        x = _layer(graph, pack, linear, x, mask, f"l{layer}", last=layer == pack.arch["layers"] - 1)
    return graph.model(graph.add("LpNormalization", x, axis=-1, p=2), hidden)


def _embeddings(graph: Graph, pack: Pack) -> str:
    codes, scales = pack.grouped["word_emb"]
    rows = graph.add("Gather", graph.constant("word.q", codes.reshape(*scales.shape, -1)), "input_ids")
    steps = graph.add("Gather", graph.constant("word.s", scales[..., None]), "input_ids")
    words = graph.add("Mul", graph.add("Cast", rows, to=TensorProto.FLOAT), steps)
    words = graph.add("Reshape", words, graph.ints(0, 0, pack.arch["hidden"]))
    table = (pack.dense["pos_emb"] + pack.dense["type_emb"][0])[pack.arch["position_offset"] :]
    length = graph.add("Shape", "input_ids", start=1, end=2)
    places = graph.add("Slice", graph.constant("positions", table), graph.ints(0), length, graph.ints(0))
    return _norm(graph, pack, graph.add("Add", words, places), "emb_ln")


def _mask_bias(graph: Graph) -> str:
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    absent = graph.add("Sub", graph.constant("unit", np.float32(1)), mask)
    return graph.add("Unsqueeze", graph.add("Mul", absent, graph.constant("minus", np.float32(-10000))), graph.ints(1, 2))


def _layer(graph: Graph, pack: Pack, linear: Linear, x: str, mask: str, name: str, *, last: bool) -> str:
    context = _attention(graph, pack, linear, x, mask, name, first_only=last)
    x = _first_tokens(graph, pack, x) if last else x
    x = _norm(graph, pack, graph.add("Add", linear(graph, pack, context, f"{name}.ao"), x), f"{name}.aln")
    wide = graph.add("Gelu", linear(graph, pack, x, f"{name}.f1"))
    return _norm(graph, pack, graph.add("Add", linear(graph, pack, wide, f"{name}.f2"), x), f"{name}.fln")


def _attention(graph: Graph, pack: Pack, linear: Linear, x: str, mask: str, name: str, *, first_only: bool) -> str:
    heads, hidden = pack.arch["heads"], pack.arch["hidden"]
    shape = graph.add("Concat", graph.add("Shape", "input_ids"), graph.ints(3, heads, hidden // heads), axis=0)
    parts = graph.add("Transpose", graph.add("Reshape", linear(graph, pack, x, f"{name}.qkv"), shape), perm=[2, 0, 3, 1, 4])
    split = graph.split("Split", parts, outputs=3, axis=0, num_outputs=3)
    query, key, value = (graph.add("Squeeze", part, graph.ints(0)) for part in split)
    if first_only:
        query = graph.add("Slice", query, graph.ints(0), graph.ints(1), graph.ints(2))
    scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 1, 3, 2]))
    scores = graph.add("Mul", scores, graph.constant("per_head", np.float32((hidden // heads) ** -0.5)))
    weights = graph.add("Softmax", graph.add("Add", scores, mask), axis=-1)
    context = graph.add("Transpose", graph.add("MatMul", weights, value), perm=[0, 2, 1, 3])
    return graph.add("Reshape", context, graph.ints(-1, hidden))


def _first_tokens(graph: Graph, pack: Pack, x: str) -> str:
    shape = graph.add("Concat", graph.add("Shape", "input_ids"), graph.ints(pack.arch["hidden"]), axis=0)
    return graph.add("Gather", graph.add("Reshape", x, shape), graph.constant("first", np.int64(0)), axis=1)


def _norm(graph: Graph, pack: Pack, x: str, name: str) -> str:
    scale, bias = (graph.constant(f"{name}.{part}", pack.dense[f"{name}.{part}"]) for part in "wb")
    return graph.add("LayerNormalization", x, scale, bias, axis=-1, epsilon=pack.arch["layer_norm_eps"])
