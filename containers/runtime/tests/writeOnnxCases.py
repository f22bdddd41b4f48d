"""Writes onnxCases.json: models of attention and of fused operators with inputs, and what ONNX and ONNX Runtime answer.

    pip install onnx onnxruntime && python writeOnnxCases.py
"""

import base64
import json
import os
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.backend.test.case.node import collect_testcases

warnings.simplefilter("ignore")
FROM_ONNX = [
    "attention_3d", "attention_3d_attn_mask", "attention_3d_causal", "attention_3d_diff_heads_sizes", "attention_3d_gqa",
    "attention_3d_gqa_causal", "attention_3d_scaled", "attention_3d_softcap", "attention_3d_with_past_and_present",
    "attention_4d_attn_mask_bool_4d", "attention_4d_attn_mask_4d_causal", "attention_4d_diff_heads_mask4d_padded_kv",
    "attention_4d_gqa_with_past_and_present", "attention_4d_with_qk_matmul_softcap", "attention_4d_with_qk_matmul_softmax",
    "rms_normalization_3d_axis1_epsilon", "rms_normalization_default_axis", "rotary_embedding", "rotary_embedding_3d_input",
    "rotary_embedding_interleaved", "rotary_embedding_with_rotary_dim", "rotary_embedding_no_position_ids",
]
TYPES = {np.dtype("float32"): TensorProto.FLOAT, np.dtype("int32"): TensorProto.INT32, np.dtype("int64"): TensorProto.INT64}
random = np.random.default_rng(7)
# Cases whose answers are what numpy makes of the operator's definition.
DEFINED = set()


def packed(array):
    array = np.asarray(array)
    return {"dims": list(array.shape), "values": base64.b64encode(array.astype("<f4").tobytes()).decode()}


def of_onnx():
    cases = {case.name: case for case in collect_testcases(None)}
    for name in FROM_ONNX:
        case = cases[f"test_{name}"]
        [(inputs, outputs)] = case.data_sets
        yield name, case.model.SerializeToString(), inputs, outputs


def floats(*shape):
    return random.normal(size=shape).astype(np.float32)


def whole(high, *shape, kind=np.int32):
    return random.integers(0, high, size=shape).astype(kind)


def fused(name, op, inputs, constants=(), outputs=1, domain="com.microsoft", expected=None, **attributes):
    """One node, whose first extent is the batch; constants are the names of inputs that are weights.

    expected: where ONNX Runtime has the operator for GPUs alone, what its definition in numpy gives.
    """
    there = {key: value for key, value in inputs.items() if value is not None}
    shapes = {key: [*value.shape] for key, value in there.items()}
    asked = [key for key in there if key not in constants]
    open_shapes = {key: ["N", *shapes[key][1:]] for key in asked}
    names = [f"y{place}" if place in (outputs if isinstance(outputs, list) else range(outputs)) else "" for place in range(4)]
    while names[-1] == "":
        names.pop()
    node = helper.make_node(op, [key if value is not None else "" for key, value in inputs.items()], names, domain=domain, **attributes)
    # Lengths are the second output of EmbedLayerNormalization.
    kinds = [TensorProto.INT32 if op.startswith("Embed") and place == 1 else TensorProto.FLOAT for place in range(len(names))]
    made = [helper.make_tensor_value_info(one, kind, None) for one, kind in zip(names, kinds) if one]
    graph = helper.make_graph(
        [node], name,
        [helper.make_tensor_value_info(key, TYPES[there[key].dtype], open_shapes[key]) for key in asked],
        made,
        [onnx.numpy_helper.from_array(there[key], key) for key in there if key in constants],
    )
    return answered(name, graph, {key: there[key] for key in asked}, expected)


def answered(name, graph, asked, expected=None):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
    if expected is not None:
        DEFINED.add(name)
        return name, model.SerializeToString(), list(asked.values()), [expected]
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return name, model.SerializeToString(), list(asked.values()), session.run(None, asked)


def bert():
    """Two layers as ONNX Runtime's optimizer leaves a BERT: every node but the products is fused."""
    weights, nodes = {}, []

    def weight(*shape):
        name = f"w{len(weights)}"
        weights[name] = floats(*shape) * 0.4
        return name

    def node(op, inputs, outputs, **attributes):
        domain = "" if op == "MatMul" else "com.microsoft"
        nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs[0]

    hidden, wide = 16, 32
    tables = [weight(30, hidden), weight(8, hidden), weight(2, hidden), weight(hidden), weight(hidden)]
    x = node("EmbedLayerNormalization", ["ids", "segments", *tables, "mask"], ["x", "lengths"], epsilon=1e-5)
    for layer in range(2):
        a = node("Attention", [x, weight(hidden, 3 * hidden), weight(3 * hidden), "lengths"], [f"a{layer}"], num_heads=4)
        m = node("MatMul", [a, weight(hidden, hidden)], [f"m{layer}"])
        s = node("SkipLayerNormalization", [m, x, weight(hidden), weight(hidden), weight(hidden)], [f"s{layer}"], epsilon=1e-5)
        f = node("BiasGelu", [node("MatMul", [s, weight(hidden, wide)], [f"f{layer}"]), weight(wide)], [f"g{layer}"])
        o = node("MatMul", [f, weight(wide, hidden)], [f"o{layer}"])
        x = node("SkipLayerNormalization", [o, s, weight(hidden), weight(hidden), weight(hidden)], [f"x{layer}"], epsilon=1e-5)
    asked = {"ids": whole(30, 3, 6), "segments": whole(2, 3, 6), "mask": np.array([[1] * 6, [1] * 4 + [0] * 2, [1] + [0] * 5], dtype=np.int32)}
    graph = helper.make_graph(
        nodes, "bert", [helper.make_tensor_value_info(key, TensorProto.INT32, ["N", 6]) for key in asked],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, None)], [onnx.numpy_helper.from_array(value, key) for key, value in weights.items()],
    )
    return answered("BERT of fused nodes", graph, asked)


def of_runtime():
    x, rows = floats(3, 5, 8), {"x": floats(3, 5, 8)}
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=np.int32)
    weights = {"w": floats(8, 24), "b": floats(24)}
    yield fused("Attention", "Attention", {"x": x, **weights}, ("w", "b"), num_heads=2)
    yield fused("Attention, a mask of keys", "Attention", {"x": x, **weights, "mask": mask}, ("w", "b"), num_heads=2)
    yield fused("Attention, lengths", "Attention", {"x": x, **weights, "mask": mask.sum(axis=1).astype(np.int32)}, ("w", "b"), num_heads=4)
    yield fused("Attention, causal with a mask of rows and keys", "Attention", {"x": x, **weights, "mask": np.tril(np.tile(mask[:, None], (1, 5, 1)))}, ("w", "b"), num_heads=2, unidirectional=1)
    yield fused("Attention, a bias, other sizes of values", "Attention", {"x": x, "w": floats(8, 20), "b": floats(20), "mask": None, "past": None, "bias": floats(3, 2, 5, 5)}, ("w", "b"), num_heads=2, qkv_hidden_sizes=[8, 8, 4], scale=0.3)
    qkv = {"q": floats(2, 4, 8), "k": floats(2, 6, 8), "v": floats(2, 6, 8)}
    keys = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1]], dtype=np.int32)
    yield fused("MultiHeadAttention", "MultiHeadAttention", qkv, num_heads=2)
    yield fused("MultiHeadAttention, biased, a mask of keys", "MultiHeadAttention", {**qkv, "b": floats(24), "mask": keys}, ("b",), num_heads=4)
    yield fused("MultiHeadAttention, a bias of scores", "MultiHeadAttention", {**qkv, "b": None, "mask": None, "bias": floats(2, 2, 4, 6)}, num_heads=2, scale=0.5)
    same = {"q": floats(2, 4, 8), "k": floats(2, 4, 8), "v": floats(2, 4, 8)}
    yield fused("MultiHeadAttention, causal", "MultiHeadAttention", same, num_heads=2, unidirectional=1)
    row = {"gamma": floats(8), "beta": floats(8), "bias": floats(8)}
    yield fused("SkipLayerNormalization", "SkipLayerNormalization", {**rows, "skip": floats(3, 5, 8), **row}, tuple(row), outputs=[0, 3], epsilon=1e-5)
    yield fused("SkipSimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization", {**rows, "skip": floats(3, 5, 8), "gamma": floats(8)}, ("gamma",), outputs=[0, 3], epsilon=1e-5)
    tables = {"words": floats(20, 8), "places": floats(9, 8), "kinds": floats(2, 8), "gamma": floats(8), "beta": floats(8)}
    yield fused("EmbedLayerNormalization", "EmbedLayerNormalization", {"ids": whole(20, 3, 5), "segments": whole(2, 3, 5), **tables, "mask": mask}, tuple(tables), outputs=2)
    yield fused("EmbedLayerNormalization, words alone", "EmbedLayerNormalization", {"ids": whole(20, 3, 5), "segments": None, **{**tables, "kinds": None}}, tuple(tables), outputs=2)
    yield fused("FastGelu", "FastGelu", {**rows, "b": floats(8)}, ("b",))
    yield fused("Gelu", "Gelu", rows)
    yield fused("BiasGelu", "BiasGelu", {**rows, "b": floats(8)}, ("b",))
    yield fused("QuickGelu", "QuickGelu", rows, alpha=1.5)
    angles = {"cos": np.cos(floats(9, 2)), "sin": np.sin(floats(9, 2))}
    yield fused("RotaryEmbedding", "RotaryEmbedding", {**rows, "places": whole(9, 3, 5, kind=np.int64), **angles}, tuple(angles))
    yield fused("RotaryEmbedding, interleaved heads", "RotaryEmbedding", {"x": floats(3, 2, 5, 4), "places": whole(9, 3, 5, kind=np.int64), **angles}, tuple(angles), interleaved=1)
    yield fused("RotaryEmbedding, a first place", "RotaryEmbedding", {**rows, "places": np.array([2], dtype=np.int64), **angles}, ("places", *angles))
    yield fused("FusedMatMul", "FusedMatMul", {"x": floats(3, 5, 8), "y": floats(3, 6, 8)}, transB=1, alpha=0.25)
    yield bert()
    yield fused("SimplifiedLayerNormalization", "SimplifiedLayerNormalization", {**rows, "gamma": row["gamma"]}, ("gamma",), domain="", epsilon=1e-5)
    yield fused("BiasAdd", "BiasAdd", {**rows, "bias": row["bias"], "skip": rows["x"] * 2}, ("bias",), expected=3 * rows["x"] + row["bias"])
    image, channels = floats(2, 3, 2, 6), {"gamma": floats(6), "beta": floats(6)}
    groups = image.reshape(2, 6, 3, 2)
    apart = (groups - groups.mean(axis=(1, 3), keepdims=True)) / np.sqrt(groups.var(axis=(1, 3), keepdims=True) + 1e-5)
    normal = apart.reshape(image.shape) * channels["gamma"] + channels["beta"]
    yield fused("GroupNorm, of three groups, with an activation", "GroupNorm", {"x": image, **channels}, tuple(channels), expected=normal / (1 + np.exp(-normal)), groups=3, epsilon=1e-5, activation=1, channels_last=1)
    yield fused("CDist", "CDist", {"x": floats(3, 4), "points": floats(6, 4)}, ("points",), metric="euclidean")


def main():
    cases = []
    for source, made in (("ONNX", of_onnx()), ("ONNX Runtime", of_runtime())):
        for name, model, inputs, outputs in made:
            cases.append({
                "name": name, "source": "its definition" if name in DEFINED else source, "model": base64.b64encode(model).decode(),
                "inputs": [packed(array) for array in inputs], "outputs": [packed(array) for array in outputs],
            })
    head = {"source": f"ONNX {onnx.__version__}'s node tests (Apache-2.0), and answers of ONNX Runtime {onnxruntime.__version__}", "cases": cases}
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnxCases.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(head, indent=1) + "\n")


if __name__ == "__main__":
    main()
