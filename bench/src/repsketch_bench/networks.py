"""The teacher itself as a peer: in ONNX Runtime, float32 and int8, and in eager torch; one thread each."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import nn

from repsketch.errors import require

from .baselines.graphs import onnx_graph, onnx_model, onnx_session, quiet_root_logger
from .baselines.layers import layers_of
from .engine import Engine, Predict
from .teachers import Case

BLOCK_ROWS = 512  # a call: the fastest for all of these networks; more rows and the hidden layers leave the caches


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
    model = onnx_model([node], [first], case.X_test.shape[1])
    return [replace(_engine("ONNX Runtime, empty graph", model.SerializeToString()), nbytes=None, is_model=False)]


def eager_torch(case: Case) -> list[Engine]:
    """The teacher as a torch module; the caller runs it inside ``one_torch_thread``."""

    def outputs(X: np.ndarray) -> torch.Tensor:
        with torch.inference_mode():
            return case.teacher(torch.from_numpy(X))

    nbytes = sum(4 * (weight.size + bias.size) for weight, bias in layers_of(case.teacher))
    return [Engine("torch eager", _in_blocks(lambda X: outputs(X).numpy()), row=outputs, nbytes=nbytes)]


def int8_model(network: nn.Sequential) -> bytes:
    """The graph of ``network`` after ONNX Runtime's dynamic quantisation."""
    quantization = require("onnxruntime.quantization", "bench")
    with TemporaryDirectory(prefix="repsketch-bench-") as folder, quiet_root_logger():
        path = Path(folder) / "int8.onnx"
        quantization.quantize_dynamic(onnx_graph(network), path)
        return path.read_bytes()


def _engine(name: str, model: bytes) -> Engine:
    session = onnx_session(model)
    wanted = ["y"]

    def outputs(X: np.ndarray) -> np.ndarray:
        return session.run(wanted, {"x": X})[0]

    return Engine(name, _in_blocks(outputs), row=outputs, nbytes=len(model))


def _in_blocks(outputs: Predict) -> Predict:
    """Outputs (n,) of any number of rows, from a function that gives (n, 1) for a block of them."""
    return lambda X: np.concatenate([outputs(X[i : i + BLOCK_ROWS])[:, 0] for i in range(0, len(X), BLOCK_ROWS)])
