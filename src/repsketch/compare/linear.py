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
from .peer import PeerModel
from .tuning import Settings, tune_each

LEARNING_RATES = (3e-3, 1e-2, 3e-2)
FEW_WEIGHT_DECAYS = (0.0, 1e-3, 1e-2, 1e-1)  # with a teacher
WEIGHT_DECAYS = (0.0, *(1e-4 * 2.0**power for power in range(11)))


class Linear(Network):
    """Networks without a hidden layer: logistic regression, or regression by the loss of the data."""

    name = "linear"

    def settings(self, nbytes: int) -> Iterator[Settings]:
        """Learning rates, weight decays and weights of the soft labels."""
        decays = FEW_WEIGHT_DECAYS if self.is_distilled else WEIGHT_DECAYS
        for rate, decay, mixture in product(LEARNING_RATES, decays, self.mixtures):
            yield {"rate": rate, "decay": decay, "mixture": mixture}

    def shape(self, setting: Settings, nbytes: int) -> tuple[int, ...] | None:
        """Inputs and outputs, if they fit."""
        widths = self.features.n_values, self.data.n_outputs
        return widths if self.features.nbytes + layers_nbytes(widths, self.data) <= nbytes else None


class SolvedLinear(Linear):
    """The same by a solver of scikit-learn, in a fraction of a second; fitted to labels alone."""

    def fit(self, shape: Any, settings: list[Settings]) -> list[PeerModel]:
        """One model for each of the settings, all the same."""
        models, data = require("sklearn.linear_model", "train"), self.data
        values, labels = self.features.values(data.X[data.train_rows]), data.labels[data.train_rows]
        weights = None if data.weights is None else data.weights[data.train_rows]
        if data.task == "regression":
            solved = models.Ridge(alpha=1.0).fit(values, labels, weights)
        else:
            classes = labels[:, 0] > 0.5 if data.n_outputs == 1 else labels.argmax(axis=1)
            solved = models.LogisticRegression(max_iter=200).fit(values, classes, weights)
        numbers = {
            "weights0": torch.tensor(solved.coef_.reshape(data.n_outputs, -1).T.astype(np.float32)),
            "biases0": torch.tensor(np.reshape(solved.intercept_, (1, data.n_outputs)).astype(np.float32)),
        }
        stored = Layers(shape, 1, self.seed).stored(numbers, data)
        return [
            self.model(stored, setting, lambda stored, values: layers_outputs(stored, 1, values))
            for setting in settings
        ]


def fit(data: TrainingData, nbytes: int, *, seed: int = 0, is_distilled: bool = False) -> PeerModel | None:
    """The best linear model, or None if it takes more than ``nbytes`` bytes."""
    return tune_each(Linear, data, [nbytes], seed=seed, is_distilled=is_distilled)[nbytes]
