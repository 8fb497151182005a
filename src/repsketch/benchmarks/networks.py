"""The teacher itself as a peer: in ONNX Runtime, float32 and int8, and in eager torch; one thread each."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import nn

from ..errors import require
from .engine import Engine, Predict
from .layers import layers_of
from .teachers import Case

OPSET, IR_VERSION = 17, 8
BLOCK_ROWS = 512  # a call: the fastest for all of these networks; more rows and the hidden layers leave the caches


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Torch runs in one thread inside, and in as many as before afterwards."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)


def onnx_float32(case: Case) -> list[Engine]:
    """The teacher as Gemm and Relu nodes in ONNX Runtime."""
    return [_engine("ONNX Runtime float32", onnx_graph(case.teacher).SerializeToString())]


def onnx_int8(case: Case) -> list[Engine]:
    """The same graph with int8 weights and activations quantised at each call."""
    return [_engine("ONNX Runtime int8", int8_model(case.teacher))]


def onnx_overhead(case: Case) -> list[Engine]:
    """A graph that hands on one column: what a call of ONNX Runtime costs before any network runs."""
    onnx = require("onnx", "bench")
    first = onnx.numpy_helper.from_array(np.array([0], np.int64), "first")
    node = onnx.helper.make_node("Gather", ["x", "first"], ["y"], axis=1)
    model = _model([node], [first], case.X_test.shape[1])
    return [replace(_engine("ONNX Runtime, empty graph", model.SerializeToString()), nbytes=None, is_model=False)]


def eager_torch(case: Case) -> list[Engine]:
    """The teacher as a torch module; the caller runs it inside ``one_torch_thread``."""

    def outputs(X: np.ndarray) -> torch.Tensor:
        with torch.inference_mode():
            return case.teacher(torch.from_numpy(X))

    nbytes = sum(4 * (weight.size + bias.size) for weight, bias in layers_of(case.teacher))
    return [Engine("torch eager", _in_blocks(lambda X: outputs(X).numpy()), row=outputs, nbytes=nbytes)]


def onnx_graph(network: nn.Sequential) -> Any:
    """An ONNX model of a network of Linear and ReLU layers: x (rows, d) -> y (rows, c), float32."""
    onnx = require("onnx", "bench")
    nodes, constants, given = [], [], "x"
    layers = layers_of(network)
    for i, (weight, bias) in enumerate(layers):
        is_last = i == len(layers) - 1
        constants += [onnx.numpy_helper.from_array(array, f"{part}{i}") for part, array in (("w", weight), ("b", bias))]
        product = "y" if is_last else f"product{i}"
        nodes.append(onnx.helper.make_node("Gemm", [given, f"w{i}", f"b{i}"], [product], name=f"layer{i}", transB=1))
        if not is_last:
            given = f"hidden{i}"
            nodes.append(onnx.helper.make_node("Relu", [product], [given], name=f"relu{i}"))
    return _model(nodes, constants, layers[0][0].shape[1], layers[-1][0].shape[0])


def int8_model(network: nn.Sequential) -> bytes:
    """The graph of ``network`` after ONNX Runtime's dynamic quantisation."""
    quantization = require("onnxruntime.quantization", "bench")
    with TemporaryDirectory(prefix="repsketch-bench-") as folder, _quiet_root_logger():
        path = Path(folder) / "int8.onnx"
        quantization.quantize_dynamic(onnx_graph(network), path)
        return path.read_bytes()


def _model(nodes: list, constants: list, n_features: int, n_outputs: int = 1) -> Any:
    onnx = require("onnx", "bench")
    x, y = (
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", width])
        for name, width in (("x", n_features), ("y", n_outputs))
    )
    graph = onnx.helper.make_graph(nodes, "teacher", [x], [y], constants)
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _engine(name: str, model: bytes) -> Engine:
    runtime = require("onnxruntime", "bench")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    wanted = ["y"]

    def outputs(X: np.ndarray) -> np.ndarray:
        return session.run(wanted, {"x": X})[0]

    return Engine(name, _in_blocks(outputs), row=outputs, nbytes=len(model))


def _in_blocks(outputs: Predict) -> Predict:
    """Outputs (n,) of any number of rows, from a function that gives (n, 1) for a block of them."""
    return lambda X: np.concatenate([outputs(X[i : i + BLOCK_ROWS])[:, 0] for i in range(0, len(X), BLOCK_ROWS)])


@contextmanager
def _quiet_root_logger() -> Iterator[None]:
    """The quantiser advises on the root logger to optimise the graph first; ONNX Runtime does so when it loads it."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(level)
