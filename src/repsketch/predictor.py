"""From raw outputs to predictions: the base class of kernel models and sketches."""

from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np

from .data.arrays import as_table, check_not_empty, check_width, iterate_blocks
from .errors import InputError

TASKS = ("classification", "regression")


class Predictor(ABC):
    """Anything with outputs (n, C): log-odds, logits or values.

    Subclasses provide ``task`` ("classification", "regression", or None for a plain function),
    ``classes`` (labels, or None), ``n_features``, ``n_outputs`` and ``_outputs`` for one block.
    """

    task: str | None
    classes: np.ndarray | None
    __dataclass_fields__: ClassVar[dict]  # every subclass is a dataclass

    def __getstate__(self) -> dict[str, Any]:
        """The fields of the dataclass; cached properties are computed again when needed."""
        return {item.name: self.__dict__[item.name] for item in fields(self)}

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of input features, d."""

    @property
    @abstractmethod
    def n_outputs(self) -> int:
        """Number of outputs, C."""

    @abstractmethod
    def _outputs(self, block: np.ndarray) -> np.ndarray:
        """Outputs (n, C) of a finite float32 block (n, d)."""

    def outputs(self, X: Any) -> np.ndarray:
        """Raw outputs, float32 of shape (n, C)."""
        table = as_table(X)
        check_width(table, self.n_features)
        check_not_empty(table)
        result = np.empty((table.shape[0], self.n_outputs), np.float32)
        for start, block in iterate_blocks(table):
            result[start : start + len(block)] = self._outputs(block)
        return result

    def decision_function(self, X: Any) -> np.ndarray:
        """Raw outputs; shape (n,) if there is one output, else (n, C)."""
        outputs = self.outputs(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict(self, X: Any) -> np.ndarray:
        """Labels for classification, values for regression and plain functions."""
        if self.task != "classification":
            return self.decision_function(X)
        return self._labels[to_choice(self.outputs(X))]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, float64 of shape (n, number of classes)."""
        if self.task != "classification":
            raise InputError(f"predict_proba on a model with task={self.task!r}; only classifiers have probabilities.")
        return to_probabilities(self.outputs(X))

    @property
    def _labels(self) -> np.ndarray:
        return np.arange(max(2, self.n_outputs)) if self.classes is None else self.classes


def to_choice(outputs: np.ndarray) -> np.ndarray:
    """Index of the predicted class (n,) for outputs (n, C); one column holds log-odds of the second class.

    >>> to_choice(np.array([[-1.0], [2.0]])).tolist()
    [0, 1]
    """
    return (outputs[:, 0] > 0).astype(np.int64) if outputs.shape[1] == 1 else outputs.argmax(axis=1)


def to_probabilities(outputs: np.ndarray) -> np.ndarray:
    """Softmax of outputs (n, C), or the two-class logistic for one column; float64.

    >>> to_probabilities(np.array([[0.0]])).tolist()
    [[0.5, 0.5]]
    """
    outputs = outputs.astype(np.float64)
    if outputs.shape[1] == 1:
        outputs = np.hstack([np.zeros_like(outputs), outputs])
    powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
