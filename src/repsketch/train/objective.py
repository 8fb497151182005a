"""Losses that counters are fitted to, with their first and second derivatives (slope and curvature).

Outputs are log-odds (two classes), logits, or values in units of the targets' standard deviation.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

SMALLEST_CURVATURE = 1e-4
#: Losses of a regression, the default first.
REGRESSION_LOSSES = ("squared_error", "absolute_error", "quantile")
CLASSIFICATION_LOSS = "log_loss"


@dataclass(frozen=True, eq=False)
class Objective(ABC):
    """A loss over n rows and C outputs.

    Attributes
    ----------
    targets : (n, C) float64
    weights : (n,) float64 weight of each row's loss, or None for 1
    """

    targets: np.ndarray
    weights: np.ndarray | None = None

    @property
    def n_outputs(self) -> int:
        """Outputs, C."""
        return self.targets.shape[1]

    def take(self, rows: np.ndarray) -> "Objective":
        """The same loss over some of the rows."""
        return replace(self, targets=self.targets[rows], weights=None if self.weights is None else self.weights[rows])

    def slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope and curvature (n, C) of every row's loss at ``outputs`` (n, C)."""
        slope, curvature = self._slopes(outputs)
        if self.weights is None:
            return slope, curvature
        return slope * self.weights[:, None], curvature * self.weights[:, None]

    def losses(self, outputs: np.ndarray) -> np.ndarray:
        """(n,) loss of each row's outputs (n, C), times its weight."""
        losses = self._losses(outputs)
        return losses if self.weights is None else losses * self.weights

    @abstractmethod
    def _slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same as ``slopes`` without weights."""

    @abstractmethod
    def _losses(self, outputs: np.ndarray) -> np.ndarray:
        """The same as ``losses`` without weights."""

    def loss(self, outputs: np.ndarray) -> float:
        """Mean loss of outputs (n, C)."""
        return float(self.losses(outputs).mean())

    def start(self, n_steps: int = 8) -> np.ndarray:
        """The best constant outputs (C,), by Newton steps from 0."""
        constant = np.zeros(self.n_outputs)
        for _ in range(n_steps):
            slope, curvature = self.slopes(np.repeat(constant[None], len(self.targets), axis=0))
            constant -= slope.sum(axis=0) / curvature.sum(axis=0)
        return constant


class Logistic(Objective):
    """Cross-entropy of log-odds with the probability of class 1, which may be soft.

    >>> Logistic(np.array([[1.0], [1.0], [0.0], [1.0]])).start().round(4).tolist()
    [1.0986]
    """

    def _slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope p - target and curvature p (1 - p)."""
        probability = 0.5 + 0.5 * np.tanh(0.5 * outputs)  # the logistic function, for outputs of any size
        return probability - self.targets, np.maximum(probability * (1.0 - probability), SMALLEST_CURVATURE)

    def _losses(self, outputs: np.ndarray) -> np.ndarray:
        """Cross-entropies, the mean of several outputs."""
        return (np.logaddexp(0.0, outputs) - self.targets * outputs).mean(axis=1)


class Softmax(Objective):
    """Cross-entropy of logits with the probabilities of C classes.

    The curvature is twice the diagonal of the Hessian, which bounds the Hessian for steps in all outputs at once.
    """

    def _slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope p - target and curvature 2 p (1 - p)."""
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        probabilities = powers / powers.sum(axis=1, keepdims=True)
        return probabilities - self.targets, np.maximum(2.0 * probabilities * (1.0 - probabilities), SMALLEST_CURVATURE)

    def _losses(self, outputs: np.ndarray) -> np.ndarray:
        """Cross-entropies."""
        largest = outputs.max(axis=1)
        total = largest + np.log(np.exp(outputs - largest[:, None]).sum(axis=1))
        return total - (self.targets * outputs).sum(axis=1)


class Squared(Objective):
    """Squared error. Slope and curvature are those of half of it.

    >>> Squared(np.array([[0.0], [1.0], [50.0]])).start().tolist()
    [17.0]
    """

    def _slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope r and curvature 1."""
        return outputs - self.targets, np.ones(outputs.shape)

    def _losses(self, outputs: np.ndarray) -> np.ndarray:
        """Squared errors, the mean of several outputs."""
        return np.square(outputs - self.targets).mean(axis=1)


@dataclass(frozen=True, eq=False)
class Quantile(Objective):
    """Pinball loss of a quantile: |r| / 2 + (level - 1/2) (target - output), rounded off within ``delta`` of 0.

    >>> Quantile(np.arange(101.0)[:, None], level=0.9).start().tolist()
    [90.0]
    """

    level: float = 0.5
    delta: float = 0.05

    def _slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope r / 2s - (level - 1/2), curvature 1 / 2s, s = sqrt(r**2 + delta**2): a parabola above the loss."""
        residual = outputs - self.targets
        curvature = 0.5 / np.sqrt(residual * residual + self.delta * self.delta)
        return residual * curvature - (self.level - 0.5), curvature

    def _losses(self, outputs: np.ndarray) -> np.ndarray:
        """Pinball losses, the mean of several outputs."""
        residual = outputs - self.targets
        return (0.5 * np.abs(residual) - (self.level - 0.5) * residual).mean(axis=1)

    def start(self, n_steps: int = 8) -> np.ndarray:
        """The quantile of the targets."""
        return np.stack([weighted_quantile(column, self.level, self.weights) for column in self.targets.T])


@dataclass(frozen=True, eq=False)
class Absolute(Objective):
    """Absolute error, rounded off within ``delta`` of 0: sqrt(r**2 + delta**2) - delta.

    >>> Absolute(np.array([[0.0], [1.0], [50.0]])).start(50).round(1).tolist()
    [1.0]
    """

    delta: float = 0.05

    def _slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope r / s and curvature 1 / s with s = sqrt(r**2 + delta**2): a parabola above the loss."""
        residual = outputs - self.targets
        curvature = 1.0 / np.sqrt(residual * residual + self.delta * self.delta)
        return residual * curvature, curvature

    def _losses(self, outputs: np.ndarray) -> np.ndarray:
        """Absolute errors, the mean of several outputs."""
        return np.abs(outputs - self.targets).mean(axis=1)

    def start(self, n_steps: int = 8) -> np.ndarray:
        """The median."""
        return np.stack([weighted_quantile(column, 0.5, self.weights) for column in self.targets.T])


def weighted_quantile(values: np.ndarray, level: float, weights: np.ndarray | None = None) -> np.float64:
    """Quantile of values (n,); with weights (n,), the smallest value up to which their sum reaches ``level``.

    >>> float(weighted_quantile(np.array([3.0, 1.0, 2.0]), 0.5, np.array([0.2, 1.0, 0.1])))
    1.0
    """
    if weights is None:
        return np.quantile(values, level)
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    return values[order[min(int(np.searchsorted(sums, level * sums[-1])), len(values) - 1)]]


def center_of(values: np.ndarray, loss: str, level: float, weights: np.ndarray | None = None) -> np.ndarray:
    """The constants (C,) with the least loss for values (n, C): mean, median or quantile."""
    if loss == "squared_error":
        return np.average(values, axis=0, weights=weights)
    level = level if loss == "quantile" else 0.5
    return np.stack([weighted_quantile(column, level, weights) for column in values.T])


def objective_of(loss: str, targets: np.ndarray, weights: np.ndarray | None = None, *, level: float = 0.5) -> Objective:
    """The objective called ``loss`` over targets (n, C); ``level`` is that of a quantile."""
    if loss == "quantile":
        return Quantile(targets, weights, level)
    if loss == CLASSIFICATION_LOSS:
        return (Logistic if targets.shape[1] == 1 else Softmax)(targets, weights)
    return {"squared_error": Squared, "absolute_error": Absolute}[loss](targets, weights)
