"""The score by which sketches are chosen: any scorer of scikit-learn, on the validation rows.

Most scores are no means over rows, so the noise of a difference of two scores is estimated by the jackknife: the score
without each of a few groups of rows. Takes labels and outputs; hands on one number for each group, less being better,
so that metrics and losses are compared in the same way.
"""

import warnings
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from ..errors import InputError
from ..predictor import to_choice, to_probabilities

N_GROUPS = 16
_REGRESSION = ("neg_mean_", "neg_median_", "neg_root_", "neg_max_", "r2", "explained_variance", "d2_", "max_error")
_FAILED = -1e9  # the score of outputs that a scorer refuses or for which it returns NaN


class _Outputs(BaseEstimator):
    """An estimator whose predictions are known: "row i" is predicted by outputs[i]."""

    def __init__(self, outputs: np.ndarray) -> None:
        self.outputs = outputs

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _of(self, rows: np.ndarray) -> np.ndarray:
        return self.outputs[rows[:, 0]]


class _Classifier(ClassifierMixin, _Outputs):
    def __init__(self, outputs: np.ndarray) -> None:
        super().__init__(outputs)
        self.classes_ = np.arange(max(2, outputs.shape[1]))

    def predict(self, rows: np.ndarray) -> np.ndarray:
        return to_choice(self._of(rows))

    def predict_proba(self, rows: np.ndarray) -> np.ndarray:
        return to_probabilities(self._of(rows))

    def decision_function(self, rows: np.ndarray) -> np.ndarray:
        return self._of(rows).squeeze(axis=1) if self.outputs.shape[1] == 1 else self._of(rows)


class _Regressor(RegressorMixin, _Outputs):
    def predict(self, rows: np.ndarray) -> np.ndarray:
        return self._of(rows).squeeze(axis=1) if self.outputs.shape[1] == 1 else self._of(rows)


class Metric:
    """A scorer of scikit-learn by its name. A class is its number; of two classes, the second is the positive one.

    >>> metric = Metric("accuracy", "classification")
    >>> metric.score(np.array([[1.0], [0.0]]), np.array([[2.0], [3.0]]))
    0.5
    """

    def __init__(self, name: str, task: str) -> None:
        check_name(name)
        is_regression = name.startswith(_REGRESSION)
        if is_regression == (task == "classification"):
            kind = "regressions" if is_regression else "classifications"
            raise InputError(f"metric={name!r} scores {kind}; this is a {task}.")
        self.name, self.task, self._scorer = name, task, get_scorer(name)

    def check(self, labels: np.ndarray) -> None:
        """Refuse labels (m, C) that the metric cannot score, before a search."""
        why = self._refusal(labels)
        if why is not None:
            others = [name for name in get_scorer_names() if name.startswith(f"{self.name}_")]
            able = [repr(name) for name in others if Metric(name, self.task)._refusal(labels) is None]
            instead = f" It can be scored by {' or '.join(able)}." if able else ""
            raise InputError(f"metric={self.name!r} cannot score this {self.task}: {why.rstrip('.')}.{instead}")

    def _refusal(self, labels: np.ndarray) -> str | None:
        """Why the scorer refuses labels (m, C), in one line, or None."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._call(labels, labels, None)
        except ValueError as error:
            return " ".join(str(error).split())
        return None

    def _call(self, labels: np.ndarray, outputs: np.ndarray, weights: np.ndarray | None) -> float:
        model: Any
        if self.task == "classification":
            truth, model = classes_of(labels), _Classifier(outputs)
        else:
            truth, model = labels.squeeze(axis=1) if labels.shape[1] == 1 else labels, _Regressor(outputs)
        options = {} if weights is None else {"sample_weight": weights}
        return float(self._scorer(model, np.arange(len(labels))[:, None], truth, **options))

    def score(self, labels: np.ndarray, outputs: np.ndarray, weights: np.ndarray | None = None) -> float:
        """The score, more being better, of outputs (m, C) for labels (m, C): probabilities of classes, or values."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                score = self._call(labels, outputs, weights)
        except ValueError:
            return _FAILED
        return score if np.isfinite(score) else _FAILED

    def losses(self, labels: np.ndarray, outputs: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Jackknife pseudo-values (G,) of the negative score: their mean is about the negative score.

        The standard deviation of G differences of two models, over sqrt(G), is the standard error of the difference
        of their scores (Efron and Stein, 1981).
        """
        groups = stratified_groups(labels, N_GROUPS)
        n = int(groups.max()) + 1
        all_rows = self.score(labels, outputs, weights)
        if n < 2:
            return np.array([-all_rows])
        without = np.array(
            [
                self.score(labels[rows], outputs[rows], None if weights is None else weights[rows])
                for rows in (groups != group for group in range(n))
            ]
        )
        return -(n * all_rows - (n - 1) * without)


def check_name(name: Any) -> None:
    """Refuse what is not the name of a scorer of scikit-learn.

    >>> check_name("roc_auc")
    """
    if isinstance(name, str) and name in get_scorer_names():
        return
    near = get_close_matches(str(name), get_scorer_names(), 3) or ["accuracy", "roc_auc", "r2"]
    raise InputError(
        f"metric={name!r} is no scorer of scikit-learn; did you mean {' or '.join(map(repr, near))}? "
        "sklearn.metrics.get_scorer_names() lists all."
    )


def classes_of(labels: np.ndarray) -> np.ndarray:
    """Numbers (m,) of the most probable classes, from probabilities (m, C); of the second class, if C is 1."""
    return (labels[:, 0] > 0.5).astype(np.int64) if labels.shape[1] == 1 else labels.argmax(axis=1)


def stratified_groups(labels: np.ndarray, n_groups: int) -> np.ndarray:
    """Numbers (m,) of groups in which labels (m, C) are distributed alike.

    >>> stratified_groups(np.array([[1.0], [0.0], [1.0], [0.0]]), 2).tolist()
    [0, 0, 1, 1]
    """
    order = np.lexsort(labels.T)
    groups = np.empty(len(labels), np.int64)
    groups[order] = np.arange(len(labels)) % n_groups
    return groups
