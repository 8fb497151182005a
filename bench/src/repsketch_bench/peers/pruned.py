"""Pruned networks: wide ones that drop their smallest weights in training, and store the rest in int8 with places."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from repsketch.compare.descent import GradientTrained
from repsketch.compare.layers import Layers, layers_outputs
from repsketch.compare.network import MAX_UNITS, widest
from repsketch.compare.peer import PeerModel, offset_nbytes
from repsketch.compare.rounding import rounded, to_int8
from repsketch.compare.stack import ROUNDED_FROM, Parameters
from repsketch.compare.tuning import Settings, tune_each
from repsketch.train.training_data import TrainingData

from .sparse import most_nonzeros, pack_matrix, unpack_matrix

FACTORS = (2, 4)  # times as wide as the network of the same bytes that keeps all its weights
RATES = (3e-3, 1e-2, 3e-2)
BEGIN, END = 0.1, ROUNDED_FROM  # shares of the training between which weights are dropped
_TIMES = 100  # that weights are dropped in a training


class SparseLayers(Layers):
    """Networks whose smallest weights, of all layers together, become zeros; one step a layer."""

    def __init__(self, widths: Sequence[int], n_nonzeros: int, n_members: int, seed: int) -> None:
        super().__init__(widths, n_members, seed)
        self.widths, self.n_nonzeros, self._done = widths, n_nonzeros, -1
        self.masks: list[Tensor] = [torch.ones(1)] * self.n_layers

    def advance(self, numbers: Parameters, share: float) -> None:
        """Drop weights, many at first and few in the end, as Zhu and Gupta (2017) do."""
        super().advance(numbers, share)
        now = int(_TIMES * min(share, END))
        if share < BEGIN or now == self._done:
            return
        self._done = now
        left = 1.0 - (min(share, END) - BEGIN) / (END - BEGIN)
        with torch.no_grad():
            sizes = [numbers[f"weights{layer}"].abs() for layer in range(self.n_layers)]
            together = torch.cat([size.flatten(1) for size in sizes], dim=1)
            n_nonzeros = self.n_nonzeros + round((together.shape[1] - self.n_nonzeros) * left**3)
            if n_nonzeros < together.shape[1]:
                border = together.kthvalue(together.shape[1] - n_nonzeros, dim=1).values
                self.masks = [(size > border.view(-1, 1, 1)).float() for size in sizes]

    def weights(self, numbers: Parameters, layer: int) -> Tensor:
        """Weights (S, inputs, units) that are left."""
        weights = numbers[f"weights{layer}"] * self.masks[layer]
        return rounded(weights, (1, 2)) if self.is_rounded else weights

    def stored(self, numbers: Parameters, data: TrainingData, member: int = 0) -> dict[str, np.ndarray]:
        """What one network keeps, of its numbers without the first axis."""
        masked = {
            f"weights{layer}": numbers[f"weights{layer}"] * self.masks[layer][min(member, len(self.masks[layer]) - 1)]
            for layer in range(self.n_layers)
        }
        arrays = super().stored(numbers | masked, data)
        for layer in range(self.n_layers):
            packed = pack_matrix(arrays.pop(f"weights{layer}").T)
            arrays |= {f"{name}{layer}": array for name, array in packed.items()}
        return arrays

    def int8_weights(self, numbers: Parameters, layer: int, unit: Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Weights of a layer times ``unit``, int8, and their step."""
        return to_int8(numbers[f"weights{layer}"] * unit, (0, 1))


def sparse_outputs(stored: Mapping[str, np.ndarray], widths: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Outputs (n, C) of a pruned network from what it keeps and values (n, D)."""
    full = dict(stored)
    for layer, (n_inputs, n_units) in enumerate(pairwise(widths)):
        packed = {name: stored[f"{name}{layer}"] for name in ("dense", "numbers", "bits", "columns", "starts")
                  if f"{name}{layer}" in stored}  # fmt: skip
        full[f"weights{layer}"] = unpack_matrix(packed, (n_units, n_inputs)).T
    return layers_outputs(full, len(widths) - 1, values)


class Pruned(GradientTrained):
    """Networks twice and four times as wide as those of all weights."""

    name = "pruned network"

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Widths, depths, rates and shares of the teacher."""
        for factor, n_hidden, rate, mixture in product(FACTORS, (1, 2), RATES, self.mixtures):
            yield {"factor": factor, "n_hidden": n_hidden, "rate": rate, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[tuple[int, ...], int] | None:
        """Widths, and weights that are left; at least one for each unit and output."""
        features = self.features
        narrow = widest(features.n_values, setting["n_hidden"], self.data, nbytes - features.nbytes)
        if narrow is None:
            return None
        hidden = [min(MAX_UNITS, setting["factor"] * width) for width in narrow[1:-1]]
        widths = (narrow[0], *hidden, narrow[-1])
        fixed = features.nbytes + 2 * sum(hidden) + 2 * (len(widths) - 1) + offset_nbytes(self.data)
        n_nonzeros = most_nonzeros(widths, nbytes - fixed)
        return (widths, n_nonzeros) if n_nonzeros >= sum(widths[1:]) else None

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """Networks of these widths with so many weights left."""
        widths, n_nonzeros = shape
        stack = SparseLayers(widths, n_nonzeros, len(settings), self.seed)
        return [
            self.model(
                stack.stored(numbers, self.data, member),
                setting | {"widths": list(widths), "n_nonzeros": n_nonzeros, "stopped": float(numbers["stopped"])},
                lambda stored, values: sparse_outputs(stored, widths, values),
            )
            for member, (setting, numbers) in enumerate(
                zip(settings, self.trained(stack, settings, self.row_sets), strict=True)
            )
        ]


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best pruned network of at most ``nbytes`` bytes, or None where none is so small."""
    return tune_each(Pruned, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
