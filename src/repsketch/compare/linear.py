"""Linear models for every loss: Newton's method with an L2 penalty, then int8 weights with one step an output."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from ..model.numbers import decode_bfloat16, encode_bfloat16
from ..train.clock import never
from ..train.objective import Objective
from ..train.training_data import TrainingData
from .features import Features
from .peer import PeerModel, offset_nbytes, stored_offset, validation_loss
from .tuning import N_SCREENED, PeerMethod, Settings, tune_each

PENALTIES = (1e-6, 1.0)  # the smallest and the largest, as weights of |w|**2 / 2 beside the mean loss
LARGEST = 127
STEP_NBYTES = 2
MAX_NEWTON_STEPS, MAX_CG_STEPS, MAX_HALVINGS = 30, 20, 10
MAX_DIRECT = 200  # columns up to which a Newton step is solved directly; conjugate gradients are faster above
DAMPING = 1e-6  # share of the largest diagonal entry that is added
MIN_DECREASE = 1e-5  # of the mean loss; a Newton step that promises less ends the fit
CG_TOLERANCE = 0.1  # residual of a Newton step over its gradient
_SMALLEST_STEP, _TINY = 1e-12, np.finfo(float).tiny


class Linear(PeerMethod):
    """Logistic regression, or regression by the loss of the data."""

    name = "linear"

    @cached_property
    def features(self) -> Features:
        """How rows become features."""
        return Features.of(self.data)

    @cached_property
    def _columns(self) -> np.ndarray:
        """Features of the training rows and a last column of ones, (n, D + 1)."""
        return _with_ones(self.features.values(self.data.X[self.data.train_rows]))

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Penalties and weights of the soft labels."""
        for penalty, mixture in product(
            np.geomspace(*PENALTIES, N_SCREENED // len(self.mixtures)).tolist(), self.mixtures
        ):
            yield {"penalty": penalty, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[int, int] | None:
        """Inputs and outputs, if they fit."""
        n_inputs, n_outputs = self.features.n_values, self.data.n_outputs
        size = self.features.nbytes + (n_inputs + STEP_NBYTES) * n_outputs + offset_nbytes(self.data)
        return (n_inputs, n_outputs) if size <= nbytes else None

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """A model for each of the settings."""
        return [self._fit(setting) for setting in settings]

    def _fit(self, setting: Settings) -> PeerModel:
        data, features = self.data, self.features
        objective = data.objective(data.train_rows, setting["mixture"])
        weights = fit_weights(self._columns, objective, setting["penalty"], is_late=self.is_late) * data.unit
        numbers, steps = to_int8(weights[:-1])
        offset = stored_offset(data, weights[-1] + data.middle)
        stored = {**features.stored, "weights": numbers, "steps": steps, "offset": offset}

        def outputs(X: np.ndarray) -> np.ndarray:
            shift = decode_bfloat16(stored["offset"]) if offset.dtype == np.uint16 else stored["offset"]
            return features.values(X) @ (stored["weights"] * decode_bfloat16(stored["steps"])) + shift

        loss = validation_loss(data, outputs(data.X[data.validation_rows]))
        return PeerModel(self.name, outputs, stored, loss, setting | {"widths": [len(numbers), data.n_outputs]})


def fit_weights(
    columns: np.ndarray,
    objective: Objective,
    penalty: float,
    max_direct: int = MAX_DIRECT,
    is_late: Callable[[], bool] = never,
) -> np.ndarray:
    """Weights (D + 1, C) of columns (n, D + 1), the last of them all ones, that minimise the penalised mean loss.

    The last weight, the intercept, has no penalty. Up to ``max_direct`` columns, Newton steps are solved directly.
    Once ``is_late``, no further step is made.

    >>> from repsketch.train.objective import Squared
    >>> x = np.array([[0.0], [1.0], [2.0]], np.float32)
    >>> fit_weights(np.hstack([x, np.ones_like(x)]), Squared(2.0 * x + 1.0), 1e-9).round(3).ravel().tolist()
    [2.0, 1.0]
    """
    n, penalties = len(columns), np.full((columns.shape[1], 1), penalty)
    penalties[-1] = 0.0
    weights = np.zeros((columns.shape[1], objective.n_outputs))
    weights[-1] = objective.start()
    outputs = _times(columns, weights)
    for _ in range(MAX_NEWTON_STEPS):
        slope, curvature = objective.slopes(outputs)
        gradient = _times(columns.T, slope) / n + penalties * weights
        step = -solve_newton(columns, curvature, penalties, gradient, max_direct)
        change = _times(columns, step)
        descent, size = float((gradient * step).sum()), 1.0
        if -descent < MIN_DECREASE or is_late():
            break
        # Convex: a step is short enough while the loss still falls at its end, or rises at most half as fast.
        for _ in range(MAX_HALVINGS):
            slope, _ = objective.slopes(outputs + size * change)
            rise = float((slope * change).sum()) / n + float((penalties * (weights + size * step) * step).sum())
            if rise <= -0.5 * descent:
                break
            size *= 0.5
        weights, outputs = weights + size * step, outputs + size * change
    return weights


def solve_newton(
    columns: np.ndarray, curvature: np.ndarray, penalties: np.ndarray, gradient: np.ndarray, max_direct: int
) -> np.ndarray:
    """(D, C) the solution x of (columns' curvature columns / n + penalties) x = gradient, for each output alone."""
    if len(gradient) > max_direct:
        return _solve_by_gradients(columns, curvature, penalties, gradient)
    found = np.empty_like(gradient)
    for c in range(gradient.shape[1]):
        matrix = _times(columns.T, curvature[:, c : c + 1].astype(np.float32) * columns) / len(columns)
        # Sums in float32 of columns that depend on each other may be indefinite.
        damping = DAMPING * np.diagonal(matrix).max() + penalties[:, 0]
        found[:, c] = np.linalg.solve(matrix + np.diag(damping), gradient[:, c])
    return found


def _solve_by_gradients(
    columns: np.ndarray, curvature: np.ndarray, penalties: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """The same for many columns, by conjugate gradients scaled by the diagonal."""

    def apply(x: np.ndarray) -> np.ndarray:
        return _times(columns.T, curvature * _times(columns, x)) / len(columns) + penalties * x

    diagonal = np.maximum(_times(np.square(columns).T, curvature) / len(columns) + penalties, 1e-9)
    x, residual = np.zeros_like(gradient), gradient.copy()
    scaled = residual / diagonal
    direction, size = scaled, (residual * scaled).sum(axis=0)
    enough = np.maximum(CG_TOLERANCE**2 * size, _TINY)
    for _ in range(MAX_CG_STEPS):
        image = apply(direction)
        bend = (direction * image).sum(axis=0)
        rate = np.where((size > enough) & (bend > 0), size / np.maximum(bend, _TINY), 0.0)
        if not rate.any():
            break
        x, residual = x + rate * direction, residual - rate * image
        scaled = residual / diagonal
        before, size = size, (residual * scaled).sum(axis=0)
        direction = scaled + size / np.maximum(before, _TINY) * direction
    return x


def to_int8(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (D, C) as int8, and the step (C,) of each output in bfloat16.

    >>> numbers, steps = to_int8(np.array([[1.0, -2.0], [0.5, 1.0]]))
    >>> numbers.tolist()
    [[127, -127], [64, 64]]
    """
    steps = encode_bfloat16(np.maximum(np.abs(weights).max(axis=0), _SMALLEST_STEP) / LARGEST)
    return np.clip(np.rint(weights / decode_bfloat16(steps)), -LARGEST, LARGEST).astype(np.int8), steps


def _with_ones(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values, np.ones((len(values), 1), np.float32)], axis=1)


def _times(matrix: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A product with the columns, in float32: in float64 they would be copied every time."""
    return (matrix @ other.astype(np.float32, copy=False)).astype(np.float64)


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best linear model, or None if it takes more than ``nbytes`` bytes."""
    return tune_each(Linear, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
