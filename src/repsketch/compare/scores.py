"""The score of a comparison: the metric of the user, or what fits the loss (accuracy, R2, MAE, pinball loss).

One definition for validation rows, for tables that the command line scores, and for the teacher.
"""

import numpy as np

from ..predictor import to_choice
from ..train.metric import classes_of
from ..train.objective import Quantile
from ..train.training_data import TrainingData

BUILT_IN = ACCURACY, R2, MAE, PINBALL = "accuracy", "R2", "MAE", "pinball loss"
_BY_LOSS = {"log_loss": ACCURACY, "squared_error": R2, "absolute_error": MAE, "quantile": PINBALL}
_SMALLEST_PROBABILITY = 1e-12  # of a class, where a teacher's probability becomes log-odds


def metric_of(data: TrainingData) -> str:
    """The name of the score."""
    return _BY_LOSS[data.loss] if data.metric is None else data.metric.name


def sign_of(metric: str) -> float:
    """1 if more is better, -1 if less is.

    >>> sign_of("R2"), sign_of("MAE")
    (1.0, -1.0)
    """
    return -1.0 if metric in (MAE, PINBALL) else 1.0


def scores_by(
    metric: str, truth: np.ndarray, outputs: np.ndarray, level: float = 0.5, weights: np.ndarray | None = None
) -> np.ndarray:
    """Numbers (n,), one for each row, whose mean is the score of outputs (n, C).

    Parameters
    ----------
    metric : "accuracy", "R2", "MAE" or "pinball loss"
    truth : numbers of classes (n,) for the accuracy, else values (n, C)
    level : of the quantile, for the pinball loss
    weights : (n,) of the rows, or None for 1

    >>> scores_by("MAE", np.array([[1.0], [3.0]]), np.array([[1.5], [3.0]])).tolist()
    [0.5, 0.0]
    """
    if weights is None or not weights.any():
        weights = np.ones(len(outputs))
    weights = weights / weights.mean()
    if metric == ACCURACY:
        return weights * (to_choice(outputs) == truth)
    if metric == PINBALL:
        return weights * Quantile(truth, level=level).losses(outputs)
    if metric == MAE:
        return weights * np.abs(outputs - truth).mean(axis=1)
    middle = np.average(truth, axis=0, weights=weights)
    errors, variances = (outputs - truth) ** 2, np.average((truth - middle) ** 2, axis=0, weights=weights)
    shares = 1.0 - errors / np.where(variances > 0, variances, np.inf)
    shares[:, (variances == 0) & errors.any(axis=0)] = 0.0  # of values that never change, as scikit-learn has it
    return weights * shares.mean(axis=1)


def row_scores(data: TrainingData, outputs: np.ndarray) -> np.ndarray:
    """Numbers (k,) whose mean is the score of outputs (m, C) for the validation rows, to estimate its noise.

    One for each row; with a metric of the user, one for each group of rows (``Metric.losses``).
    """
    if data.metric is not None:
        return -data.validation_losses((outputs - data.middle) / data.unit)
    labels = data.labels[data.validation_rows]
    truth = classes_of(labels) if data.task == "classification" else labels * data.unit + data.middle
    return scores_by(metric_of(data), truth, outputs, data.level, data.validation_weights)


def score_of(data: TrainingData, outputs: np.ndarray) -> float:
    """The score of outputs (m, C) for the validation rows: the mean of ``row_scores``, or the metric of the user."""
    if data.metric is None:
        return float(row_scores(data, outputs).mean())
    labels = data.labels[data.validation_rows] * data.unit + data.middle
    return data.metric.score(labels, outputs, data.validation_weights)


def as_outputs(data: TrainingData, labels: np.ndarray) -> np.ndarray:
    """Labels (m, C) like those of the data, such as a teacher's, as outputs (m, C): log-odds, logits or values."""
    if data.task != "classification":
        return labels * data.unit + data.middle
    shares = np.clip(labels, _SMALLEST_PROBABILITY, 1.0 - _SMALLEST_PROBABILITY)
    return np.log(shares) - np.log1p(-shares) if labels.shape[1] == 1 else np.log(shares)
