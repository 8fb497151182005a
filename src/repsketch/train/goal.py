"""What the user wants optimised: the loss, the metric that sketches are chosen by, the weights of rows and classes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_choice, check_number
from ..errors import InputError
from .metric import Metric, check_name, classes_of
from .objective import REGRESSION_LOSSES


@dataclass(frozen=True, eq=False)
class Goal:
    """Loss, metric and weights as the user gave them; ``options`` checks them against the task.

    Attributes
    ----------
    loss : of a regression, one of ``REGRESSION_LOSSES``; None for the first
    quantile : level of the loss "quantile", between 0 and 1
    metric : name of a scorer of scikit-learn; None to choose by the loss
    sample_weight : (n,) weights of rows, none of them negative; None for 1
    class_weight : "balanced", or weights by label; None for 1
    """

    loss: str | None = None
    quantile: float | None = None
    metric: str | None = None
    sample_weight: Any = None
    class_weight: str | Mapping | None = None

    def __post_init__(self) -> None:
        if self.loss is not None:
            check_choice("loss", self.loss, REGRESSION_LOSSES)
        if (self.quantile is not None) != (self.loss == "quantile"):
            raise InputError(
                f"loss={self.loss!r} with quantile={self.quantile!r}; the loss 'quantile' needs the level of its "
                "quantile, such as quantile=0.9, and no other loss has one."
            )
        if self.quantile is not None:
            check_number("quantile", self.quantile, 0.0, 1.0, open_ends=True)
        if self.metric is not None:
            check_name(self.metric)
        if isinstance(self.class_weight, str) or not isinstance(self.class_weight, Mapping | None):
            check_choice("class_weight", self.class_weight, ("balanced",))

    @property
    def level(self) -> float:
        """The level of the quantile; 0.5 for other losses."""
        return 0.5 if self.quantile is None else float(self.quantile)

    def row_weights(self, n_rows: int) -> np.ndarray | None:
        """The weights of rows (n,), float64, checked; None for 1."""
        if self.sample_weight is None:
            return None
        try:
            weights = np.asarray(self.sample_weight, np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "sample_weight holds something that is no number; allowed are numbers from 0 up."
            ) from None
        if weights.shape != (n_rows,):
            raise InputError(
                f"sample_weight has shape {weights.shape}; needed is one number for each of {n_rows} rows."
            )
        if not np.isfinite(weights).all() or weights.min() < 0:
            raise InputError("sample_weight holds negative numbers, NaN or infinities; allowed are numbers from 0 up.")
        if not weights.any():
            raise InputError("sample_weight is 0 for all rows; allowed are weights that are not all zero.")
        return weights

    def options(self, task: str, labels: np.ndarray, classes: np.ndarray | None) -> dict[str, Any]:
        """What ``TrainingData.of`` takes: loss, level, metric and weights, for labels (n, C) of this task.

        Scores count the weights of rows alone, as everywhere in scikit-learn; the loss counts those of classes, too.
        """
        if task == "classification" and self.loss is not None:
            raise InputError(f"loss={self.loss!r} is for regressions; a classification minimises the log loss.")
        if task == "regression" and self.class_weight is not None:
            raise InputError("class_weight is for classifications; this is a regression. Use sample_weight.")
        metric = None if self.metric is None else Metric(self.metric, task)
        if metric is not None:
            metric.check(labels)
        weights = score_weights = self.row_weights(len(labels))
        if self.class_weight is not None and classes is not None:
            of_rows = self._weights_of_classes(labels, classes)[classes_of(labels)]
            weights = of_rows if weights is None else of_rows * weights
        if weights is not None:
            weights = weights / weights.mean()
        return {
            "loss": self.loss, "level": self.level, "metric": metric, "weights": weights,
            "score_weights": score_weights,
        }  # fmt: skip

    def reweighted(self, soft_labels: np.ndarray, labels: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
        """Soft labels (n, C) of a teacher as if it had been trained with the weights of classes: Bayes' rule."""
        if self.class_weight is None or classes is None:
            return soft_labels
        weights = self._weights_of_classes(labels, classes)
        if soft_labels.shape[1] == 1:
            odds = weights[1] * soft_labels
            return odds / np.maximum(odds + weights[0] * (1.0 - soft_labels), np.finfo(float).tiny)
        shares = soft_labels * weights
        return shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)

    def _weights_of_classes(self, labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Weights of the classes, at least two, for labels (n, C)."""
        if isinstance(self.class_weight, Mapping):
            known = classes.tolist()
            unknown = [label for label in self.class_weight if label not in known]
            if unknown:
                raise InputError(f"class_weight names {unknown[0]!r}; allowed are the classes {known}.")
            found = [check_number("class_weight", self.class_weight.get(label, 1.0), 0.0) for label in known]
            if not any(found):
                raise InputError("class_weight is 0 for all classes; at least one must count.")
            return np.array(found)
        counts = np.bincount(classes_of(labels), minlength=len(classes))
        return len(labels) / (np.count_nonzero(counts) * np.maximum(counts, 1))
