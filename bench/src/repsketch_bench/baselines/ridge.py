"""Ridge regression on features made block by block, for kernel machines and linear models."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

BLOCK_ROWS = 4096
MOST_FEATURES = 8_192  # unknowns of the dense system: 512 MiB

#: Inputs (n, d) -> features (n, F).
Features = Callable[[np.ndarray], np.ndarray]


class Line(NamedTuple):
    """The function features @ weights + intercept, weights (F,)."""

    weights: np.ndarray
    intercept: float


def fit_ridge(
    features: Features,
    X: np.ndarray,
    wanted: np.ndarray,
    strengths: Sequence[float],
    penalty: np.ndarray,
    row_weights: np.ndarray | None = None,
) -> list[Line]:
    """For each strength the line that minimises mean square error + strength * weights' penalty weights.

    Parameters
    ----------
    X : (n, d) inputs
    wanted : (n,) values
    penalty : (F, F), symmetric, not negative
    row_weights : (n,) importance of the rows; all alike without it

    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> line, = fit_ridge(lambda X: X, X, 2.0 * X[:, 0] + 1.0, [1e-9], np.eye(1))
    >>> [round(float(number), 3) for number in (*line.weights, line.intercept)]
    [2.0, 1.0]
    """
    importance = np.ones(len(X)) if row_weights is None else row_weights
    importance = importance / importance.sum()
    size = len(penalty)
    gram, cross, mean = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for start in range(0, len(X), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        made = features(X[block])
        weighted = made * importance[block, None].astype(made.dtype)
        gram += weighted.T @ made
        cross += weighted.T.astype(np.float64) @ wanted[block]
        mean += weighted.sum(axis=0, dtype=np.float64)
    middle = float(importance @ wanted)
    gram -= np.outer(mean, mean)
    cross -= mean * middle
    lines = []
    for strength in strengths:
        system = gram + strength * penalty
        system[np.diag_indices(size)] += 1e-7 * np.trace(system) / size  # float32 products are no finer
        weights = np.linalg.solve(system, cross).astype(np.float32).astype(np.float64)  # as they are stored
        lines.append(Line(weights, middle - float(mean @ weights)))
    return lines


def predict_linear(features: Features, line: Line) -> Callable[[np.ndarray], np.ndarray]:
    """The function of raw inputs (n, d) -> (n,) that evaluates ``line``, block by block.

    >>> predict_linear(lambda X: X, Line(np.array([2.0]), 1.0))(np.ones((3, 1))).tolist()
    [3.0, 3.0, 3.0]
    """

    def predict(X: np.ndarray) -> np.ndarray:
        blocks = (X[start : start + BLOCK_ROWS] for start in range(0, len(X), BLOCK_ROWS))
        return np.concatenate([features(block) @ line.weights + line.intercept for block in blocks])

    return predict
