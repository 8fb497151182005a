"""The data and the teacher of one dataset and seed, as all jobs see them; inputs are raw."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from repsketch.teacher import TeacherOutputs, as_teacher

from ..baselines import train_mlp
from ..datasets import load_split
from ..layers import fold_network, read_network, write_network
from .settings import MOST_ROWS, QUICK_EPOCHS, QUICK_ROWS, SETTINGS, Settings
from .store import Job

VALIDATION_FRACTION = 0.1  # of the training rows, on which methods choose their settings


@dataclass(frozen=True)
class PaperCase:
    """One dataset with one seed; the teacher is trained on first use, and stored in ``cache``."""

    job: Job
    cache: Path
    is_grouped: bool = False  # equal rows all on one side of the split

    @property
    def settings(self) -> Settings:
        """How this dataset is trained."""
        return SETTINGS[self.job.dataset]

    @property
    def task(self) -> str:
        """What is predicted: "classification" or "regression"."""
        return self.settings.sizes.task

    @cached_property
    def _data(self) -> tuple[np.ndarray, ...]:
        options = {"keep_duplicates_together": True} if self.is_grouped else {}
        split = load_split(self.job.dataset, self.job.seed, **options)
        X_train, X_test = (np.ascontiguousarray(X, np.float32) for X in (split.X_train, split.X_test))
        order = np.random.default_rng(self.job.seed).permutation(len(X_train))
        n_valid = int(len(order) * VALIDATION_FRACTION)
        valid, train = order[:n_valid], order[n_valid:]
        if self.job.is_quick:
            train = train[:QUICK_ROWS]
        y = split.y_train
        return X_train[train], y[train], X_train[valid], y[valid], X_test, split.y_test

    @property
    def train(self) -> tuple[np.ndarray, np.ndarray]:
        """Training rows: raw float32 (n, d), and class numbers or values (n,)."""
        return self._data[0], self._data[1]

    @cached_property
    def some(self) -> tuple[np.ndarray, np.ndarray]:
        """The first of the training rows, as many as all methods of the budget curve are trained on."""
        return self.train[0][:MOST_ROWS], self.train[1][:MOST_ROWS]

    @property
    def valid(self) -> tuple[np.ndarray, np.ndarray]:
        """Validation rows, on which settings are chosen."""
        return self._data[2], self._data[3]

    @property
    def test(self) -> tuple[np.ndarray, np.ndarray]:
        """Test rows, looked at once."""
        return self._data[4], self._data[5]

    @cached_property
    def network(self) -> nn.Sequential:
        """The trained teacher: Linear and ReLU layers, one output."""
        group = "-grouped" if self.is_grouped else ""
        path = self.cache / f"{Job(self.job.dataset, self.job.seed, 'network', self.job.is_quick).key}{group}.npz"
        if path.is_file():
            return read_network(path)
        options = {**self.settings.teacher, "task": self.task, "random_state": self.job.seed, "progress": False}
        if self.job.is_quick:  # few rows need more passes
            options["n_epochs"] = max(options["n_epochs"], QUICK_EPOCHS)
        network = fold_network(train_mlp(*self.train, self.settings.sizes.hidden, **options))
        os.makedirs(self.cache, exist_ok=True)
        write_network(path, network)
        return network

    @cached_property
    def labels(self) -> TeacherOutputs:
        """What the kernel learns on the training rows: the teacher's values, or its probabilities less one half.

        A network's output is its probability, and that is what the paper's loss compares. Log-odds far from 0 would
        make the kernel fit mostly rows that are classified with ease.
        """
        labels = as_teacher(self.network, self.task).label(self.train[0])
        if self.task == "regression":
            return labels
        probability = 1.0 / (1.0 + np.exp(-labels.values.astype(np.float64)))
        return replace(labels, values=(probability - 0.5).astype(np.float32))

    @property
    def targets(self) -> np.ndarray:
        """The labels of the training rows in the units of ``labels``, float32 (n,)."""
        y = self.train[1].astype(np.float32)
        return y if self.task == "regression" else y - np.float32(0.5)

    @cached_property
    def mixture(self) -> np.ndarray:
        """Half teacher, half labels for the rows of ``some``, float32 (n, 1): what counters are refitted to as well."""
        n = len(self.some[0])
        return 0.5 * (self.labels.values[:n] + self.targets[:n, None])

    def outputs(self, network: nn.Module, X: np.ndarray) -> np.ndarray:
        """Outputs (n,) of a network."""
        with torch.inference_mode():
            return network(torch.from_numpy(X))[:, 0].numpy()

    def score(self, outputs: np.ndarray, y: np.ndarray) -> float:
        """Accuracy of outputs whose sign says the class, or mean absolute error."""
        outputs = np.asarray(outputs).reshape(len(y))
        if self.task == "classification":
            return float(((outputs > 0) == y).mean())
        return float(np.abs(outputs - y).mean())

    def test_score(self, outputs_of) -> float:
        """Test score of a function from rows to outputs."""
        X, y = self.test
        return self.score(outputs_of(X), y)

    def valid_score(self, model: Any) -> float:
        """How good a model with ``outputs`` is on the validation rows; more is better."""
        X, y = self.valid
        score = self.score(model.outputs(X), y)
        return score if self.task == "classification" else -score
