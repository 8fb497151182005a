"""Teachers: boosted trees, a network, or the mean of both, whichever has the smallest out-of-fold loss."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from repsketch.compare.features import Features
from repsketch.errors import require
from repsketch.teacher import TeacherOutputs
from repsketch.teacher.out_of_fold import Fold

from ..baselines import train_mlp
from ..baselines.boosted import FIXED
from .case import Case

HIDDEN, STEPS, BATCH_SIZE = (128, 64), 3_000, 256
LEAVES, RATE, MOST_ROUNDS, PATIENCE = 31, 0.05, 600, 40
STOPPING_FRACTION = 0.1
#: Training inputs and labels -> a function of inputs that gives probabilities or values (n, C).
Fit = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]


def best_soft_labels(case: Case) -> tuple[np.ndarray, dict[str, Any]]:
    """Out-of-fold soft labels (n, C) of the training rows from the best kind of teacher, with the losses of all kinds.

    Kinds are compared by the loss of their soft labels on all training rows; test rows are not read.
    """
    boosted, network = (soft_labels_of(case, fit) for fit in (boosted_fit(case), network_fit(case)))
    found = {"boosted": boosted, "network": network, "mean": 0.5 * (boosted + network)}
    losses = {name: loss_of(case, soft_labels) for name, soft_labels in found.items()}
    best = min(losses, key=lambda name: losses[name])
    return found[best], {"best": best, "losses": losses}


def soft_labels_of(case: Case, fit: Fit) -> np.ndarray:
    """Out-of-fold soft labels (n, C) of one kind of teacher.

    Validation rows train no copy; their soft labels are means over all copies.
    """
    X, y = case.table.X_train, case.table.y_train
    soft_labels = np.zeros(case.plain.labels.shape)
    for inside, outside, weights in Fold.split(len(X), case.plain.train_rows, case.seed):
        soft_labels[outside] += weights * fit(X[inside], y[inside])(X[outside])
    return soft_labels


def loss_of(case: Case, soft_labels: np.ndarray) -> float:
    """Cross-entropy, or mean absolute error, of soft labels (n, C) of the training rows."""
    if case.table.task == "regression":
        return float(np.abs(soft_labels[:, 0] - case.table.y_train).mean())
    probabilities = np.hstack([1.0 - soft_labels, soft_labels]) if soft_labels.shape[1] == 1 else soft_labels
    return float(-np.log(np.maximum(probabilities[np.arange(len(probabilities)), case.table.y_train], 1e-6)).mean())


def boosted_fit(case: Case) -> Fit:
    """LightGBM with early stopping."""
    lightgbm, table = require("lightgbm", "bench"), case.table
    n_classes = table.n_classes
    params: dict[str, Any] = {**FIXED, "num_leaves": LEAVES, "learning_rate": RATE, "seed": case.seed}
    params["objective"] = "regression_l1" if not n_classes else "binary" if n_classes == 2 else "multiclass"
    params |= {"num_class": n_classes} if n_classes > 2 else {}

    def fit(X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        order = np.random.default_rng([case.seed, 11]).permutation(len(X))
        n_validation = max(1, int(STOPPING_FRACTION * len(X)))
        options = {"categorical_feature": list(table.n_categories), "params": FIXED}
        data = lightgbm.Dataset(X[order[n_validation:]], y[order[n_validation:]], **options)
        validation = lightgbm.Dataset(X[order[:n_validation]], y[order[:n_validation]], reference=data, **options)
        stopping = lightgbm.early_stopping(PATIENCE, verbose=False)
        booster = lightgbm.train(params, data, MOST_ROUNDS, valid_sets=[validation], callbacks=[stopping])
        return lambda X: booster.predict(X, num_threads=1).reshape(len(X), -1)

    return fit


def network_fit(case: Case) -> Fit:
    """A network of two hidden layers on standardised columns."""
    features = Features.of(case.plain)

    def fit(X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        n_epochs = int(np.clip(STEPS * BATCH_SIZE / len(X), 4, 80))
        network = train_mlp(
            features.values(X), y, HIDDEN, task=case.table.task, n_epochs=n_epochs,
            batch_size=min(BATCH_SIZE, max(16, len(X) // 16)), dropout=0.1, random_state=case.seed, progress=False,
        )  # fmt: skip

        def predict(X: np.ndarray) -> np.ndarray:
            with torch.inference_mode():
                outputs = network(torch.from_numpy(features.values(X))).numpy()
            return TeacherOutputs(outputs, case.table.task, None).soft_labels

        return predict

    return fit
