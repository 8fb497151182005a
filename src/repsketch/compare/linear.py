"""Linear models: int8 weights, one step an output."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch

from ..errors import require
from ..train.training_data import TrainingData
from .layers import Layers, layers_nbytes, layers_outputs
from .network import Network
from .peer import Budgeted
from .tuning import Settings, tune_each

RATES = (3e-3, 1e-2, 3e-2)
FEW_DECAYS = (0.0, 1e-3, 1e-2, 1e-1)  # where a teacher is there
DECAYS = (0.0, *(1e-4 * 2.0**power for power in range(11)))


class Linear(Network):
    """Networks without a hidden layer: logistic regression, or the line of the least absolute error."""

    name = "linear"

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Rates, weight decays and shares of the teacher."""
        decays = FEW_DECAYS if self.is_distilled else DECAYS
        for rate, decay, mixture in product(RATES, decays, self.mixtures):
            yield {"rate": rate, "decay": decay, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[int, ...] | None:
        """Inputs and outputs, if they fit."""
        widths = self.features.n_values, self.problem.n_outputs
        return widths if self.features.nbytes + layers_nbytes(widths, self.problem) <= nbytes else None


class SolvedLinear(Linear):
    """The same without gradient descent, in a fraction of a second: scikit-learn solves it, for labels alone."""

    def fit(self, shape: Any, settings: list[Settings]) -> list[Budgeted]:
        """One model for each of the settings, all alike."""
        models, problem = require("sklearn.linear_model", "train"), self.problem
        values, labels = self.features.values(problem.X[problem.kept]), problem.labels[problem.kept]
        if problem.task == "regression":
            solved = models.Ridge(alpha=1.0).fit(values, labels)
        else:
            classes = labels[:, 0] > 0.5 if problem.n_outputs == 1 else labels.argmax(axis=1)
            solved = models.LogisticRegression(max_iter=200).fit(values, classes)
        numbers = {
            "weights0": torch.tensor(solved.coef_.reshape(problem.n_outputs, -1).T.astype(np.float32)),
            "biases0": torch.tensor(np.reshape(solved.intercept_, (1, problem.n_outputs)).astype(np.float32)),
        }
        stored = Layers(shape, 1, self.seed).stored(numbers, problem)
        return [self.model(stored, setting, lambda kept, given: layers_outputs(kept, 1, given)) for setting in settings]


def fit(problem: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> Budgeted | None:
    """The best linear model, or None where it takes more than ``nbytes`` bytes."""
    return tune_each(Linear, problem, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
