"""Prototypes in a learned projection, as in ProtoNN (Gupta and others 2017): a sum of Gaussian kernels, all in int8."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from repsketch.compare.peer import PeerModel, offset_nbytes, stored_offset
from repsketch.compare.tuning import Settings, tune_each
from repsketch.model.numbers import decode_bfloat16
from repsketch.paper.initialize import initial_bandwidth, initial_points, initial_projection
from repsketch.train.training_data import TrainingData

from .descent import GradientTrained
from .layers import times
from .rounding import rounded, to_int8
from .stack import Parameters, Stack, TrainingRows

COMPONENTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
RATES = (3e-3, 1e-2, 3e-2)
N_SHAPES = 4
MOST_POINTS = 256  # more take minutes
_MOST_OF_BUDGET = 0.75  # that a projection may take
_ROWS = 4_096


class Kernels(Stack):
    """Weighted Gaussian kernels around points of a projection; its scale holds the width of the kernel."""

    def __init__(self, train: TrainingRows, n_components: int, n_points: int, n_members: int, seed: int) -> None:
        rng = np.random.default_rng([seed, 6])
        values, wanted = train.values[:4_096].numpy(), train.soft_labels[:4_096].numpy()
        matrix = initial_projection(values - values.mean(axis=0), wanted - wanted.mean(axis=0), n_components, rng)
        points = initial_points(values @ matrix, n_points, rng)
        width = initial_bandwidth(points, 1)
        one = {
            "matrix": matrix / width,
            "points": points / width,
            "weights": 0.1 * rng.normal(size=(n_points, wanted.shape[1])),
            "biases": np.zeros((1, wanted.shape[1])),
        }
        self.start = {
            name: torch.from_numpy(value.astype(np.float32)).expand(n_members, *value.shape).contiguous()
            for name, value in one.items()
        }
        self.work = n_members * (n_components * (len(matrix) + n_points) + 8.0 * n_points)

    def outputs(self, numbers: Parameters, values: Tensor) -> Tensor:
        """Outputs (S, n, C)."""
        matrix, points, weights = (numbers[name] for name in ("matrix", "points", "weights"))
        if self.is_rounded:
            matrix, points, weights = rounded(matrix, (1,)), rounded(points, (1, 2)), rounded(weights, (1,))
        z = times(values, matrix)
        far = z.square().sum(dim=2, keepdim=True) + points.square().sum(dim=2).unsqueeze(1)
        far = torch.baddbmm(far, z, points.transpose(1, 2), alpha=-2.0)
        return torch.baddbmm(numbers["biases"], torch.exp(-far), weights)

    def stored(self, numbers: Parameters, data: TrainingData) -> dict[str, np.ndarray]:
        """What one model keeps, of its numbers without the first axis."""
        unit = data.unit.astype(np.float32)
        arrays = {"biases": stored_offset(data, numbers["biases"][0].numpy() * unit + data.middle)}
        arrays["matrix"], arrays["matrix_steps"] = to_int8(numbers["matrix"], (0,))
        arrays["points"], arrays["points_step"] = to_int8(numbers["points"], (0, 1))
        arrays["weights"], arrays["weights_steps"] = to_int8(numbers["weights"] * torch.from_numpy(unit), (0,))
        return arrays


def kernels_outputs(stored: Mapping[str, np.ndarray], values: np.ndarray) -> np.ndarray:
    """Outputs (n, C) from the stored arrays and values (n, D)."""
    matrix, points, weights = (
        stored[name] * decode_bfloat16(stored[steps])
        for name, steps in (("matrix", "matrix_steps"), ("points", "points_step"), ("weights", "weights_steps"))
    )
    biases = stored["biases"]
    made = np.empty((len(values), weights.shape[1]), np.float32)
    for start in range(0, len(values), _ROWS):
        z = values[start : start + _ROWS] @ matrix
        far = (z**2).sum(axis=1, keepdims=True) + (points**2).sum(axis=1) - 2.0 * z @ points.T
        made[start : start + _ROWS] = np.exp(-far) @ weights
    return made + (decode_bfloat16(biases) if biases.dtype == np.uint16 else biases)


class Prototypes(GradientTrained):
    """Projections to p coordinates, and as many points as then fit."""

    name = "prototypes"

    def _n_points(self, n_components: int, nbytes: int) -> int:
        n_outputs = self.data.n_outputs
        fixed = self.features.nbytes + (self.features.n_values + 2) * n_components + 2
        fixed += 2 * n_outputs + offset_nbytes(self.data)
        return min(MOST_POINTS, (nbytes - fixed) // (n_components + n_outputs))

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Numbers of coordinates, from the largest that leaves room for points, rates and shares of the teacher."""
        most = _MOST_OF_BUDGET * nbytes / max(1, self.features.n_values)
        fitting = [p for p in COMPONENTS if p == 1 or p <= min(most, self.features.n_values)]
        for p, rate, mixture in product(fitting[-N_SHAPES:], RATES, self.mixtures):
            yield {"n_components": p, "rate": rate, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[int, int] | None:
        """Coordinates and points."""
        n_points = self._n_points(setting["n_components"], nbytes)
        return (setting["n_components"], n_points) if n_points > 0 else None

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """Models of one shape."""
        n_components, n_points = shape
        stack = Kernels(self.row_sets[0], n_components, n_points, len(settings), self.seed)
        return [
            self.model(
                stack.stored(numbers, self.data),
                setting | {"n_points": n_points, "stopped": float(numbers["stopped"])},
                kernels_outputs,
            )
            for setting, numbers in zip(settings, self.trained(stack, settings, self.row_sets), strict=True)
        ]


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best sum of kernels of at most ``nbytes`` bytes, or None where not one point fits."""
    return tune_each(Prototypes, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
