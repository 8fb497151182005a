"""Teachers: boosted trees, a network, or the mean of both, whichever answers best rows it has not seen."""

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
#: Inputs and labels to learn from -> a function of inputs that gives chances or values (n, C).
Fit = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]


def best_answers(case: Case) -> tuple[np.ndarray, dict[str, Any]]:
    """Answers (n, C) for the training rows, each from a teacher that has not seen the row, and what was found out.

    What is compared is the loss of these answers on all training rows; test rows play no part.
    """
    boosted, network = (answers_of(case, fit) for fit in (boosted_fit(case), network_fit(case)))
    found = {"boosted": boosted, "network": network, "mean": 0.5 * (boosted + network)}
    losses = {name: loss_of(case, answers) for name, answers in found.items()}
    best = min(losses, key=lambda name: losses[name])
    return found[best], {"best": best, "losses": losses}


def answers_of(case: Case, fit: Fit) -> np.ndarray:
    """Out-of-fold answers (n, C) of one kind of teacher; rows held out teach nobody and get the mean of all answers."""
    X, y = case.table.X_train, case.table.y_train
    answers = np.zeros(case.plain.labels.shape)
    for inside, outside, weights in Fold.split(len(X), case.plain.train_rows, case.seed):
        answers[outside] += weights * fit(X[inside], y[inside])(X[outside])
    return answers


def loss_of(case: Case, answers: np.ndarray) -> float:
    """Cross-entropy, or mean absolute error, of answers (n, C) for the training rows."""
    if case.table.task == "regression":
        return float(np.abs(answers[:, 0] - case.table.y_train).mean())
    chances = np.hstack([1.0 - answers, answers]) if answers.shape[1] == 1 else answers
    return float(-np.log(np.maximum(chances[np.arange(len(chances)), case.table.y_train], 1e-6)).mean())


def boosted_fit(case: Case) -> Fit:
    """LightGBM, stopped when rows it has not seen no longer gain."""
    lightgbm, table = require("lightgbm", "bench"), case.table
    n_classes = table.n_classes
    params: dict[str, Any] = {**FIXED, "num_leaves": LEAVES, "learning_rate": RATE, "seed": case.seed}
    params["objective"] = "regression_l1" if not n_classes else "binary" if n_classes == 2 else "multiclass"
    params |= {"num_class": n_classes} if n_classes > 2 else {}

    def fit(X: np.ndarray, y: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        order = np.random.default_rng([case.seed, 11]).permutation(len(X))
        n_held = max(1, int(STOPPING_FRACTION * len(X)))
        options = {"categorical_feature": list(table.n_categories), "params": FIXED}
        data = lightgbm.Dataset(X[order[n_held:]], y[order[n_held:]], **options)
        held = lightgbm.Dataset(X[order[:n_held]], y[order[:n_held]], reference=data, **options)
        stopping = lightgbm.early_stopping(PATIENCE, verbose=False)
        booster = lightgbm.train(params, data, MOST_ROUNDS, valid_sets=[held], callbacks=[stopping])
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

        def answers(X: np.ndarray) -> np.ndarray:
            with torch.inference_mode():
                outputs = network(torch.from_numpy(features.values(X))).numpy()
            return TeacherOutputs(outputs, case.table.task, None).soft_labels

        return answers

    return fit
