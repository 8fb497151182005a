"""Scores of predictions: accuracy of labels, mean absolute error of values."""

import numpy as np

from ..errors import InputError
from ..predictor import to_choice
from ..teacher import TeacherOutputs

METRICS: dict[str | None, str] = {"classification": "accuracy", "regression": "MAE", None: "MAE"}


def score(predicted: np.ndarray, truth: np.ndarray, task: str | None) -> float:
    """Accuracy, or the mean absolute error where the task is not classification.

    >>> score(np.array(["1", "2"]), np.array([1, 3]), "classification")
    0.5
    """
    if task == "classification":
        if "U" in (predicted.dtype.kind, truth.dtype.kind):
            predicted, truth = predicted.astype(str), truth.astype(str)
        return float((predicted == truth).mean())
    if truth.dtype.kind not in "biuf":
        raise InputError(f"the target holds text, such as {str(truth[0])!r}, but this model predicts numbers.")
    return float(np.abs(predicted - truth.astype(np.float64).reshape(len(truth), *predicted.shape[1:])).mean())


def predicted_by(outputs: TeacherOutputs) -> np.ndarray:
    """Predictions of a teacher, as from ``Sketch.predict``: labels, or values."""
    if outputs.classes is not None:
        return outputs.classes[to_choice(outputs.values)]
    return outputs.values[:, 0] if outputs.values.shape[1] == 1 else outputs.values


def format_score(value: float, task: str | None) -> str:
    """A score with a suitable number of digits.

    >>> format_score(0.87654, "classification"), format_score(1.5, "regression"), format_score(12345.678, "regression")
    ('0.8765', '1.500', '12,346')
    """
    is_small = task == "classification" or abs(value) < 1
    return f"{value:,.{4 if is_small else max(0, 4 - len(str(int(abs(value)))))}f}"
