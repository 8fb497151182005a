"""Int8 networks: static quantisation by ONNX Runtime, weights and activations in 8 bits each."""

from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from torch import nn

from repsketch.data.arrays import check_width
from repsketch.errors import require
from repsketch.paper.initialize import InputScale
from repsketch.progress import track
from repsketch.theory import Cost

from .compared import Compared
from .graphs import onnx_graph, onnx_session, quiet_root_logger
from .layers import fold_network, layers_of, rescale_network
from .mlp import widths_of
from .networks import BLOCK_ROWS, check_one_output, compare_network
from .rows import Rows, as_inputs

METHODS = ("MinMax", "Percentile")  # how the range of an activation is read off the calibration rows
PERCENTILE = 99.9  # of an activation's values that Percentile keeps in range
CALIBRATION_ROWS = 2048  # at most; ranges hardly move beyond


def quantize_network(network: nn.Sequential, X_calibration: Any, *, progress: bool = True) -> Compared:
    """The network with int8 weights and activations, ranges of the latter fixed beforehand on ``X_calibration``.

    Two ways to find the ranges are tried, each with one scale a layer and one a unit; the closest to the float
    network on the calibration rows is taken, and ``validation_error`` is its mean distance there. Raw columns of
    different size would share one 8-bit range, so inputs are standardised first, by two float32 numbers a column,
    which count. Both operands are signed: signed times unsigned bytes saturate on some processors.

    Parameters
    ----------
    network : of ``train_mlp``, or Linear and ReLU layers in turn, one output; it stays as it is
    X_calibration : (n, d) inputs like those to come; the first 2048 are used

    >>> from repsketch_bench.baselines.layers import fresh_network
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> small = quantize_network(fresh_network([3, 8, 1]), X)
    >>> small.predict(X.astype(np.float32)).shape, small.settings["n_tried"]
    ((100,), 4)
    """
    plain = check_one_output(fold_network(network))
    inputs = as_inputs(X_calibration, "X_calibration")[:CALIBRATION_ROWS]
    check_width(inputs, widths_of(plain)[0], "X_calibration")
    wanted = compare_network("float32", plain).predict(inputs).astype(np.float64)
    rows = Rows("regression", inputs, wanted, inputs, wanted, np.arange(len(inputs)))
    scale = InputScale.fit(inputs)
    standardised = rescale_network(plain, scale.scale, scale.mean)
    choices = list(product(METHODS, (False, True)))
    tried = [
        _compared(standardised, scale, _quantize(standardised, scale.apply(inputs), *choice), *choice)
        for choice in track(choices, "quantising", len(choices), enabled=progress)
    ]
    return rows.best(tried)


def int8_nbytes(network: nn.Sequential, per_channel: bool) -> int:
    """Bytes of a quantised network, without what standardises its inputs.

    One for a weight and four for a bias; a float32 scale for the weights of each layer, or of each unit; a scale and a
    zero point for the inputs of each layer and for the output. Scales of biases follow from the others.

    >>> from repsketch_bench.baselines.layers import fresh_network
    >>> int8_nbytes(fresh_network([3, 2, 1]), False), int8_nbytes(fresh_network([3, 2, 1]), True)
    (43, 47)
    """
    layers = layers_of(network)
    n_scales = sum(len(bias) if per_channel else 1 for _, bias in layers)
    return sum(weight.size + 4 * bias.size for weight, bias in layers) + 4 * n_scales + 5 * (len(layers) + 1)


def _compared(network: nn.Sequential, scale: InputScale, model: bytes, method: str, per_channel: bool) -> Compared:
    session = onnx_session(model)

    def predict(X: np.ndarray) -> np.ndarray:
        blocks = (scale.apply(X[i : i + BLOCK_ROWS]) for i in range(0, len(X), BLOCK_ROWS))
        return np.concatenate([session.run(["y"], {"x": block})[0][:, 0] for block in blocks])

    cost, n_features = Cost.of_mlp(widths_of(network)), len(scale.mean)
    nbytes = int8_nbytes(network, per_channel) + 8 * n_features
    settings = {"calibration": method, "per_channel": per_channel}
    return Compared("int8 network", predict, cost.parameters + 2 * n_features, int(cost.paper_flops), nbytes, settings)


def _quantize(network: nn.Sequential, inputs: np.ndarray, method: str, per_channel: bool) -> bytes:
    quantization = require("onnxruntime.quantization", "bench")
    with TemporaryDirectory(prefix="repsketch-int8-") as folder, quiet_root_logger(), redirect_stdout(StringIO()):
        path = Path(folder) / "int8.onnx"
        quantization.quantize_static(
            onnx_graph(network),
            path,
            _Reader([{"x": inputs}]),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=per_channel,
            activation_type=quantization.QuantType.QInt8,
            weight_type=quantization.QuantType.QInt8,
            calibrate_method=quantization.CalibrationMethod[method],
            extra_options={"CalibPercentile": PERCENTILE},
        )
        return path.read_bytes()


class _Reader:
    """Hands rows to the quantiser, block by block; all it calls is ``get_next``."""

    def __init__(self, blocks: list[dict[str, np.ndarray]]):
        self._blocks = iter(blocks)

    def get_next(self) -> dict[str, np.ndarray] | None:
        """The next rows, or None at the end."""
        return next(self._blocks, None)
