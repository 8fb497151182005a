"""Layers of int8 weights, one step a unit, with ReLU between them: trained, stored, and computed from stored arrays."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import sqrt

import numpy as np
import torch
from torch import Tensor

from repsketch.compare.peer import offset_nbytes, stored_offset
from repsketch.model.numbers import decode_bfloat16, encode_bfloat16
from repsketch.train.training_data import TrainingData

from .rounding import rounded, rounded_halves, to_int8
from .stack import Parameters, Stack


class Layers(Stack):
    """Networks of these widths, inputs and outputs included; int8 weights, one step a unit."""

    def __init__(self, widths: Sequence[int], n_members: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.n_layers = len(widths) - 1
        self.work = n_members * sum(a * b for a, b in pairwise(widths))
        self.start = {}
        for layer, (n_inputs, n_units) in enumerate(pairwise(widths)):
            bound = 1.0 / sqrt(max(1, n_inputs))
            draws = torch.rand(n_members, n_inputs, n_units, generator=generator)
            self.start[f"weights{layer}"] = (2.0 * draws - 1.0) * bound
            self.start[f"biases{layer}"] = torch.zeros(n_members, 1, n_units)

    def weights(self, numbers: Parameters, layer: int) -> Tensor:
        """Weights (S, inputs, units)."""
        weights = numbers[f"weights{layer}"]
        return rounded(weights, (1,)) if self.is_rounded else weights

    def outputs(self, numbers: Parameters, values: Tensor) -> Tensor:
        """Outputs (S, n, C)."""
        for layer in range(self.n_layers):
            biases, is_last = numbers[f"biases{layer}"], layer == self.n_layers - 1
            biases = rounded_halves(biases) if self.is_rounded and not is_last else biases
            values = times(values, self.weights(numbers, layer)) + biases
            values = values if is_last else torch.relu(values)
        return values

    def stored(self, numbers: Parameters, data: TrainingData) -> dict[str, np.ndarray]:
        """Stored arrays of one network from its parameters, without the first axis; outputs in their own units."""
        arrays: dict[str, np.ndarray] = {}
        for layer in range(self.n_layers):
            is_last = layer == self.n_layers - 1
            unit = torch.from_numpy(data.unit.astype(np.float32)) if is_last else torch.ones(1)
            biases = numbers[f"biases{layer}"][0].numpy() * unit.numpy()
            arrays[f"weights{layer}"], arrays[f"steps{layer}"] = self.int8_weights(numbers, layer, unit)
            arrays[f"biases{layer}"] = stored_offset(data, biases + data.middle) if is_last else encode_bfloat16(biases)
        return arrays

    def int8_weights(self, numbers: Parameters, layer: int, unit: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Weights of a layer times ``unit``, int8, and their steps."""
        return to_int8(numbers[f"weights{layer}"] * unit, (0,))


def times(values: Tensor, weights: Tensor) -> Tensor:
    """Products (S, n, units) of values (S, n, inputs), or (n, inputs) for all, and weights (S, inputs, units)."""
    if values.dim() == 3:
        return torch.bmm(values, weights)
    joined = values @ weights.permute(1, 0, 2).flatten(1)  # one large product is faster than many small ones
    return joined.view(len(values), len(weights), -1).permute(1, 0, 2)


def layers_nbytes(widths: Sequence[int], data: TrainingData) -> int:
    """Bytes of int8 layers: one a weight, two a step, two a bias; offsets of outputs as in ``stored_offset``.

    >>> from types import SimpleNamespace
    >>> layers_nbytes([3, 2, 1], SimpleNamespace(task="classification", n_outputs=1))
    20
    """
    weights = sum(a * b for a, b in pairwise(widths))
    return weights + 4 * sum(widths[1:-1]) + 2 * widths[-1] + offset_nbytes(data)


def layers_outputs(stored: Mapping[str, np.ndarray], n_layers: int, values: np.ndarray) -> np.ndarray:
    """Outputs (n, C) of a network from its stored arrays and values (n, D)."""
    for layer in range(n_layers):
        weights = stored[f"weights{layer}"] * decode_bfloat16(stored[f"steps{layer}"])
        biases = stored[f"biases{layer}"]
        values = values @ weights + (decode_bfloat16(biases) if biases.dtype == np.uint16 else biases)
        if layer < n_layers - 1:
            values = np.maximum(values, 0.0)
    return values
