"""Scores of predictions: accuracy of labels, mean absolute error of values, or the metric of a comparison."""

from dataclasses import dataclass

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
    return float(np.abs(predicted - as_values(truth).reshape(len(truth), *predicted.shape[1:])).mean())


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores models on test rows by the metric of the comparison.

    Attributes
    ----------
    metric : "accuracy", "R2", "MAE", "pinball loss", or the name of a scorer of scikit-learn
    truth : (n,) labels, or values (n,) or (n, C)
    classes : (C,) labels of a classification, or None
    level : of the quantile, for the pinball loss
    """

    metric: str
    truth: np.ndarray
    classes: np.ndarray | None
    level: float = 0.5

    def score(self, outputs: np.ndarray) -> float:
        """The score of outputs (n, C): log-odds, logits or values."""
        from ..train.metric import Metric
        from ..train.objective import Quantile

        if self.classes is not None:
            if self.metric == METRICS["classification"]:
                return score(self.classes[to_choice(outputs)], self.truth, "classification")
            known = {str(label): place for place, label in enumerate(self.classes.tolist())}
            numbers = np.array([known.get(str(label), -1) for label in self.truth.tolist()])
            labels = np.eye(len(known))[numbers][:, 1:] if len(known) == 2 else np.eye(len(known))[numbers]
            is_known = numbers >= 0  # a test row of another class has no place in most metrics
            return Metric(self.metric, "classification").score(labels[is_known], outputs[is_known])
        if self.metric == METRICS["regression"]:
            return score(outputs, self.truth, "regression")
        values = as_values(self.truth).reshape(outputs.shape)
        if self.metric == "pinball loss":
            return Quantile(values, level=self.level).loss(outputs.astype(np.float64))
        return Metric("r2" if self.metric == "R2" else self.metric, "regression").score(values, outputs)


def as_values(truth: np.ndarray) -> np.ndarray:
    """Values as float64; text is refused."""
    if truth.dtype.kind not in "biuf":
        raise InputError(f"the target holds text, such as {str(truth[0])!r}, but this model predicts numbers.")
    return truth.astype(np.float64)


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
