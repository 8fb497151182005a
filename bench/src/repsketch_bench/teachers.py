"""The networks that the speed benchmark starts from: the paper's shapes, trained on the paper's data.

Takes a dataset's name, hands on a ``Case``: the trained teacher and the rows that every contestant is
trained, chosen and tested on. Inputs are standardised once, before any clock runs, so that no contestant
pays for it and 8-bit activations of the int8 network see columns of one scale.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from torch import nn

from repsketch.paper.initialize import InputScale

from .baselines import train_mlp
from .datasets import load_split, paper_sizes, synthetic_split
from .layers import fold_network, read_network, write_network

MOST_ROWS = 60_000  # rows to train on: enough for a good teacher of every dataset, and minutes instead of hours
# With fewer different rows in a loop a branch predictor learns them by heart: if-else trees then look twice as fast.
N_QUERIES = 8192
VALIDATION_FRACTION = 0.2  # of the training rows: where peers of the teacher's quality are chosen

#: Training that gets each teacher within reach of a well-trained one on one core in about a minute.
TRAINING: dict[str, dict] = {
    "a9a": {"n_epochs": 5, "dropout": 0.5},
    "phishing": {"n_epochs": 20, "dropout": 0.2},
    "skin": {"n_epochs": 5, "dropout": 0.0},
    "susy": {"n_epochs": 4, "dropout": 0.2},
    "abalone": {"n_epochs": 40, "dropout": 0.0, "batch_size": 64},
    "yearmsd": {"n_epochs": 12, "dropout": 0.5},
}


@dataclass(frozen=True)
class Case:
    """A trained teacher and its data; inputs are standardised float32, y class numbers or values."""

    name: str
    task: str
    teacher: nn.Sequential  # Linear and ReLU layers only, one output: log-odds or a value
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    scale: InputScale | None = None  # raw inputs are X * scale.scale + scale.mean
    is_synthetic: bool = False

    def queries(self, n: int) -> np.ndarray:
        """``n`` different rows to predict while a clock runs, test rows first, or all there are; C-contiguous."""
        inputs = [self.X_test, self.X_valid, self.X_train]
        return np.ascontiguousarray(np.concatenate([X[:n] for X in inputs])[:n])

    def score(self, outputs: np.ndarray, y: np.ndarray) -> float:
        """Accuracy of outputs (n,) whose sign says the class, or mean absolute error."""
        if self.task == "classification":
            return float(((outputs > 0) == y).mean())
        return float(np.abs(outputs - y).mean())

    def is_close(self, score: float) -> bool:
        """True for a validation score within 0.2 points of the teacher's accuracy, or within 1 % of its error."""
        if self.task == "classification":
            return score >= self.teacher_score - 0.002
        return score <= self.teacher_score * 1.01

    @cached_property
    def teacher_score(self) -> float:
        """The teacher's score on the validation rows."""
        with torch.inference_mode():
            return self.score(self.teacher(torch.from_numpy(self.X_valid))[:, 0].numpy(), self.y_valid)


def load_case(name: str, cache: str | os.PathLike, *, seed: int = 0, progress: bool = True) -> Case:
    """The teacher of the dataset called ``name``, from the folder ``cache`` or trained and stored there.

    Without REPSKETCH_DATA the data are invented, and ``is_synthetic`` says so.
    """
    sizes = paper_sizes(name)
    is_synthetic = not os.environ.get("REPSKETCH_DATA")
    split = synthetic_split(name, seed) if is_synthetic else load_split(name, seed)
    order = np.random.default_rng(seed).permutation(len(split.X_train))[:MOST_ROWS]
    n_valid = int(len(order) * VALIDATION_FRACTION)
    scale = InputScale.fit(split.X_train[order])
    X_train, X_test = scale.apply(split.X_train[order]), scale.apply(split.X_test)
    y_train = split.y_train[order]
    train = X_train[n_valid:], y_train[n_valid:]
    options = {**TRAINING[name], "task": split.task, "random_state": seed}
    mark = hashlib.sha256(repr((sizes.hidden, sorted(options.items()), is_synthetic, MOST_ROWS)).encode())
    mark.update(train[0].tobytes())
    path = Path(cache) / f"teacher-{name}-{mark.hexdigest()[:16]}.npz"
    if path.is_file():
        teacher = read_network(path)
    else:
        teacher = fold_network(train_mlp(*train, sizes.hidden, progress=progress, **options))
        write_network(path, teacher)
    validation = X_train[:n_valid], y_train[:n_valid]
    return Case(name, split.task, teacher, *train, *validation, X_test, split.y_test, scale, is_synthetic)
