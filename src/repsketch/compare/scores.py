"""The score of a comparison: the metric of the user, or what fits the loss (accuracy, R2, MAE, pinball loss)."""

from collections.abc import Callable

import numpy as np

from ..predictor import to_choice
from ..train.metric import classes_of
from ..train.objective import Quantile
from ..train.training_data import TrainingData

ACCURACY, R2, MAE, PINBALL = "accuracy", "R2", "MAE", "pinball loss"
_BY_LOSS = {"log_loss": ACCURACY, "squared_error": R2, "absolute_error": MAE, "quantile": PINBALL}


def metric_of(data: TrainingData) -> str:
    """The name of the score."""
    return _BY_LOSS[data.loss] if data.metric is None else data.metric.name


def sign_of(metric: str) -> float:
    """1 if more is better, -1 if less is.

    >>> sign_of("R2"), sign_of("MAE")
    (1.0, -1.0)
    """
    return -1.0 if metric in (MAE, PINBALL) else 1.0


def row_scores(data: TrainingData, outputs: np.ndarray) -> np.ndarray:
    """Numbers (k,) whose mean is the score of outputs (m, C) for the validation rows, to estimate its noise.

    One for each row; with a metric of the user, one for each group of rows (``Metric.losses``).
    """
    if data.metric is not None:
        return -data.validation_losses((outputs - data.middle) / data.unit)
    labels = data.labels[data.validation_rows]
    if data.task == "classification":
        return (to_choice(outputs) == classes_of(labels)).astype(np.float64)
    labels = labels * data.unit + data.middle
    if data.loss == "squared_error":
        variances = np.maximum(labels.var(axis=0), np.finfo(float).tiny)
        return (1.0 - (outputs - labels) ** 2 / variances).mean(axis=1)
    if data.loss == "quantile":
        return Quantile(labels, level=data.level).losses(outputs)
    return np.abs(outputs - labels).mean(axis=1)


def score_of(data: TrainingData, scores: np.ndarray, outputs: Callable[[np.ndarray], np.ndarray]) -> float:
    """The score of a model with these ``row_scores``: their mean, or the metric of the user itself."""
    if data.metric is None:
        return float(scores.mean())
    rows = data.validation_rows
    weights = None if data.weights is None else data.weights[rows]
    return data.metric.score(data.labels[rows] * data.unit + data.middle, outputs(data.X[rows]), weights)
