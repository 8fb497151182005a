"""Linear models: the smallest thing to compare with, d + 1 numbers."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from repsketch.errors import require
from repsketch.paper.initialize import InputScale
from repsketch.progress import track

from .compared import Compared
from .layers import network_of
from .networks import compare_network
from .ridge import Line, fit_ridge
from .rows import Rows

STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2)  # of the squared weights, against the mean loss of a row
N_REWEIGHTINGS = 25
SMALLEST_RESIDUAL = 1e-3  # in standard deviations of y: smaller residuals count as this


def fit_linear(
    X: Any,
    y: Any,
    *,
    task: str,
    validation: tuple[Any, Any] | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> Compared:
    """Logistic regression, or the line of the least absolute error; on standardised inputs, folded into the weights.

    Parameters
    ----------
    X : (n, d) inputs
    y : (n,) classes 0 and 1, or values
    validation : (m, d) inputs and (m,) classes or values; without it a fifth of the rows

    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = fit_linear(X, 2.0 * X[:, 0] + 1.0, task="regression")
    >>> model.predict(np.array([[1.0, 0.0, 0.0]], np.float32)).round(2).tolist(), model.n_numbers
    ([3.0], 4)
    """
    rows = Rows.split(X, y, task, validation, random_state)
    scale = InputScale.fit(rows.X_train)
    inputs = scale.apply(rows.X_train).astype(np.float64)
    fits = _logistic(inputs, rows.y_train) if task == "classification" else _least_absolute(inputs, rows.y_train)
    tried = []
    for strength, line in track(fits, "fitting lines", len(STRENGTHS), enabled=progress):
        weights = line.weights / scale.scale
        network = network_of([weights[None]], [np.array([line.intercept - weights @ scale.mean])])
        tried.append(compare_network("linear", network, {"strength": strength}))
    return rows.best(tried)


def _logistic(inputs: np.ndarray, y: np.ndarray) -> Iterator[tuple[float, Line]]:
    linear_model = require("sklearn.linear_model", "train")
    for strength in STRENGTHS:
        model = linear_model.LogisticRegression(C=1.0 / (2.0 * strength * len(y)), max_iter=10_000).fit(inputs, y)
        yield strength, Line(model.coef_[0], float(model.intercept_[0]))


def _least_absolute(inputs: np.ndarray, y: np.ndarray) -> Iterator[tuple[float, Line]]:
    """Least squares again and again, each row weighed by one over its last residual."""
    deviation = y.std() or 1.0
    for strength in STRENGTHS:
        importance = np.ones(len(y))
        for _ in range(N_REWEIGHTINGS):
            (line,) = fit_ridge(lambda X: X, inputs, y, [strength], np.eye(inputs.shape[1]), importance)
            residuals = np.abs(inputs @ line.weights + line.intercept - y)
            importance = 1.0 / np.maximum(residuals, SMALLEST_RESIDUAL * deviation)
        yield strength, line
