"""Boosted trees of a given size: LightGBM, packed as tightly as trees can be."""

from itertools import product
from typing import Any

import numpy as np

from repsketch.checks import check_count
from repsketch.compare.trees import FIXED, MAX_TREES, PATIENCE, tree_nbytes
from repsketch.errors import require
from repsketch.progress import track

from .compared import Compared
from .rows import Rows

LEAVES = (4, 8, 16, 31)  # of a tree
RATES = (0.1, 0.3)


def fit_boosted(
    X: Any,
    y: Any,
    nbytes: int,
    *,
    task: str,
    validation: tuple[Any, Any] | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> Compared:
    """The best LightGBM model of at most ``nbytes`` packed bytes; early-stopped on the validation rows.

    A split counts as two numbers, a leaf as one. Trees multiply nothing: ``flops`` are comparisons on the way of a mean
    training row, and one addition a tree.

    Parameters
    ----------
    X : (n, d) inputs
    y : (n,) classes 0 and 1, or values; regression minimises the absolute error
    nbytes : at least 5, a tree of two leaves
    validation : (m, d) inputs and (m,) classes or values; without it a fifth of the rows

    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = fit_boosted(X, X[:, 0] > 0, 200, task="classification")
    >>> 0 < model.nbytes <= 200, model.settings["n_tried"]
    (True, 8)
    """
    lightgbm = require("lightgbm", "bench")
    check_count("nbytes", nbytes, 1 << 40, smallest=5)
    rows = Rows.split(X, y, task, validation, random_state)
    leaves = [n for n in LEAVES if tree_nbytes(n) <= nbytes] or [(nbytes + 3) // 4]
    choices = list(product(leaves, RATES))
    data = lightgbm.Dataset(rows.X_train, rows.y_train, params=FIXED, free_raw_data=False)
    validation = data.create_valid(rows.X_valid, rows.y_valid)
    tried = []
    for n_leaves, rate in track(choices, "boosting trees", len(choices), enabled=progress):
        booster = lightgbm.train(
            {
                **FIXED,
                "objective": "binary" if task == "classification" else "regression_l1",
                "num_leaves": n_leaves,
                "learning_rate": rate,
                "seed": random_state,
            },
            data,
            min(MAX_TREES, nbytes // tree_nbytes(n_leaves)),
            valid_sets=[validation],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
        tried.append(_compared(booster, {"n_leaves": n_leaves, "learning_rate": rate}))
    return rows.best(tried)


def booster_nbytes(model: Any) -> int:
    """Bytes of a fitted LightGBM estimator packed tightly."""
    return sum(tree_nbytes(tree["num_leaves"]) for tree in model.booster_.dump_model()["tree_info"])


def booster_outputs(model: Any, X: np.ndarray) -> np.ndarray:
    """Log-odds or values (n,) of a LightGBM estimator, in one thread."""
    return model.booster_.predict(X, raw_score=True, num_threads=1)


def _compared(booster: Any, settings: dict[str, Any]) -> Compared:
    trees = booster.dump_model()["tree_info"]  # up to the best one, as predict
    leaves = [tree["num_leaves"] for tree in trees]
    return Compared(
        "boosted trees",
        lambda X: booster.predict(X, raw_score=True, num_threads=1),
        n_numbers=sum(3 * n - 2 for n in leaves),
        flops=round(sum(_mean_depth(tree["tree_structure"]) + 1.0 for tree in trees)),
        nbytes=sum(map(tree_nbytes, leaves)),
        settings={**settings, "n_trees": len(trees)},
    )


def _mean_depth(node: dict[str, Any]) -> float:
    """Splits that a training row passes below ``node``, on average."""
    if "left_child" not in node:
        return 0.0
    children = node["left_child"], node["right_child"]
    counts = [child.get("internal_count", child.get("leaf_count", 0)) for child in children]
    return 1.0 + float(np.average([_mean_depth(child) for child in children], weights=counts))
