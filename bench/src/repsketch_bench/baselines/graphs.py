"""Networks as ONNX graphs, and sessions that run them in one thread."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from repsketch.errors import require

from .layers import layers_of

OPSET, IR_VERSION = 17, 8


def onnx_graph(network: nn.Sequential) -> Any:
    """An ONNX model of a network of Linear and ReLU layers: x (rows, d) -> y (rows, c), float32.

    >>> from repsketch_bench.baselines.layers import fresh_network
    >>> [node.op_type for node in onnx_graph(fresh_network([3, 2, 1])).graph.node]
    ['Gemm', 'Relu', 'Gemm']
    """
    onnx = require("onnx", "bench")
    nodes, constants, given = [], [], "x"
    layers = layers_of(network)
    for i, (weight, bias) in enumerate(layers):
        is_last = i == len(layers) - 1
        constants += [onnx.numpy_helper.from_array(array, f"{name}{i}") for name, array in (("w", weight), ("b", bias))]
        product = "y" if is_last else f"product{i}"
        nodes.append(onnx.helper.make_node("Gemm", [given, f"w{i}", f"b{i}"], [product], name=f"layer{i}", transB=1))
        if not is_last:
            given = f"hidden{i}"
            nodes.append(onnx.helper.make_node("Relu", [product], [given], name=f"relu{i}"))
    return onnx_model(nodes, constants, layers[0][0].shape[1], layers[-1][0].shape[0])


def onnx_model(nodes: list, constants: list, n_features: int, n_outputs: int = 1) -> Any:
    """An ONNX model of these nodes: x (rows, n_features) -> y (rows, n_outputs), float32."""
    onnx = require("onnx", "bench")
    x, y = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width])
        for name, width in (("x", n_features), ("y", n_outputs))
    )
    graph = onnx.helper.make_graph(nodes, "teacher", [x], [y], constants)
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def onnx_session(model: bytes) -> Any:
    """A session of ONNX Runtime on the CPU, in one thread, that logs errors only."""
    runtime = require("onnxruntime", "bench")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@contextmanager
def quiet_root_logger() -> Iterator[None]:
    """The quantiser advises on the root logger to optimise the graph first; ONNX Runtime does so when it loads it."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(before)
