"""Losses that counters are fitted to, with their first and second derivatives (slope and curvature).

Outputs are log-odds (two classes), logits, or values in units of the targets' standard deviation.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

SMALLEST_CURVATURE = 1e-4


@dataclass(frozen=True, eq=False)
class Objective(ABC):
    """A loss over n rows and C outputs.

    Attributes
    ----------
    targets : (n, C) float64
    """

    targets: np.ndarray

    @property
    def n_outputs(self) -> int:
        """Outputs, C."""
        return self.targets.shape[1]

    def take(self, rows: np.ndarray) -> "Objective":
        """The same loss over some of the rows."""
        return replace(self, targets=self.targets[rows])

    @abstractmethod
    def slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope and curvature (n, C) of every row's loss at ``outputs`` (n, C)."""

    @abstractmethod
    def losses(self, outputs: np.ndarray) -> np.ndarray:
        """(n,) loss of each row's outputs (n, C)."""

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

    def slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope p - target and curvature p (1 - p)."""
        probability = 0.5 + 0.5 * np.tanh(0.5 * outputs)  # the logistic function, for outputs of any size
        return probability - self.targets, np.maximum(probability * (1.0 - probability), SMALLEST_CURVATURE)

    def losses(self, outputs: np.ndarray) -> np.ndarray:
        """Cross-entropies, the mean of several outputs."""
        return (np.logaddexp(0.0, outputs) - self.targets * outputs).mean(axis=1)


class Softmax(Objective):
    """Cross-entropy of logits with the probabilities of C classes.

    The curvature is twice the diagonal of the Hessian, which bounds the Hessian for steps in all outputs at once.
    """

    def slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope p - target and curvature 2 p (1 - p)."""
        powers = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        probabilities = powers / powers.sum(axis=1, keepdims=True)
        return probabilities - self.targets, np.maximum(2.0 * probabilities * (1.0 - probabilities), SMALLEST_CURVATURE)

    def losses(self, outputs: np.ndarray) -> np.ndarray:
        """Cross-entropies."""
        largest = outputs.max(axis=1)
        total = largest + np.log(np.exp(outputs - largest[:, None]).sum(axis=1))
        return total - (self.targets * outputs).sum(axis=1)


@dataclass(frozen=True, eq=False)
class Absolute(Objective):
    """Absolute error, rounded off within ``delta`` of 0: sqrt(r**2 + delta**2) - delta.

    >>> Absolute(np.array([[0.0], [1.0], [50.0]])).start(50).round(1).tolist()
    [1.0]
    """

    delta: float = 0.05

    def slopes(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slope r / s and curvature 1 / s with s = sqrt(r**2 + delta**2): a parabola above the loss."""
        residual = outputs - self.targets
        curvature = 1.0 / np.sqrt(residual * residual + self.delta * self.delta)
        return residual * curvature, curvature

    def losses(self, outputs: np.ndarray) -> np.ndarray:
        """Absolute errors, the mean of several outputs."""
        return np.abs(outputs - self.targets).mean(axis=1)

    def start(self, n_steps: int = 8) -> np.ndarray:
        """The median."""
        return np.median(self.targets, axis=0)
