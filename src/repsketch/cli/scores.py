"""Scores of predictions for a table: its labels as a model knows them, and the score of ``compare.scores``."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..predictor import to_choice
from ..sketch import Sketch
from ..teacher import TeacherOutputs


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores models on the rows of a table by the metric of a comparison.

    Attributes
    ----------
    metric : "accuracy", "R2", "MAE", "pinball loss", or the name of a scorer of scikit-learn
    truth : (n,) labels, or values (n,) or (n, C)
    classes : (C,) labels of a classification, or None
    level : of the quantile, for the pinball loss
    weights : (n,) of the rows, or None for 1

    >>> Scorer("accuracy", np.array([1, 3]), np.array(["1", "2"])).score(np.array([[-1.0], [2.0]]))
    0.5
    """

    metric: str
    truth: np.ndarray
    classes: np.ndarray | None
    level: float = 0.5
    weights: np.ndarray | None = None

    def score(self, outputs: np.ndarray) -> float:
        """The score of outputs (n, C): log-odds, logits or values."""
        from ..compare.scores import ACCURACY, BUILT_IN, scores_by
        from ..train.metric import Metric

        if self.classes is None:
            values = as_values(self.truth, outputs.shape)
            if self.metric in BUILT_IN:
                outputs = outputs.astype(np.float64)
                return float(scores_by(self.metric, values, outputs, self.level, self.weights).mean())
            return Metric(self.metric, "regression").score(values, outputs, self.weights)
        numbers, n_classes = numbers_of(self.truth, self.classes), len(self.classes)
        if self.metric == ACCURACY:
            return float(scores_by(ACCURACY, numbers, outputs, weights=self.weights).mean())
        labels = np.eye(n_classes)[numbers][:, 1:] if n_classes == 2 else np.eye(n_classes)[numbers]
        is_known = numbers >= 0  # a test row of another class has no place in most metrics
        weights = None if self.weights is None else self.weights[is_known]
        return Metric(self.metric, "classification").score(labels[is_known], outputs[is_known], weights)


def scorer_of(sketch: Sketch, truth: np.ndarray, weights: np.ndarray | None = None) -> Scorer:
    """A scorer by the metric of the sketch's ``summary``; without one, by accuracy, R2, or MAE of a plain function."""
    from ..compare.scores import ACCURACY, MAE, PINBALL, R2

    summary: Any = getattr(sketch, "summary", None)
    if sketch.task == "classification":
        classes = np.arange(max(2, sketch.n_outputs)) if sketch.classes is None else sketch.classes
        return Scorer(ACCURACY if summary is None else summary.metric, truth, classes, weights=weights)
    metric = (MAE if sketch.task is None else R2) if summary is None else summary.metric
    level = 0.5 if metric != PINBALL else summary.quantile
    if level is None:  # in a file of an earlier version
        metric, level = MAE, 0.5
    return Scorer(metric, truth, None, level, weights)


def numbers_of(truth: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Numbers (n,) of the classes of labels (n,); -1 where a label is none of them. Text may stand for a number.

    >>> numbers_of(np.array([2, 1, 5]), np.array(["1", "2"])).tolist()
    [1, 0, -1]
    >>> numbers_of(np.array(["2", "1", "x"]), np.array([1, 2])).tolist()
    [1, 0, -1]
    """
    if "U" in (truth.dtype.kind, classes.dtype.kind):
        truth, classes = truth.astype(str), classes.astype(str)
    known = {label: number for number, label in enumerate(classes.tolist())}
    return np.array([known.get(label, -1) for label in truth.tolist()])


def as_values(truth: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Values as float64 of this shape (n, C); text, and another number of values, are refused."""
    if truth.dtype.kind not in "biuf":
        raise InputError(f"the target holds text, such as {str(truth[0])!r}, but this model predicts numbers.")
    if truth.size != np.prod(shape):
        raise InputError(f"the target has shape {truth.shape}, but this model predicts {shape[1]} values a row.")
    return truth.astype(np.float64).reshape(shape)


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
