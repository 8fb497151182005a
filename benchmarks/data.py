"""The real data of the benchmarks, found through the environment variable REPSKETCH_DATA."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Split:
    """A training and a test set; y holds class numbers or values."""

    task: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def load_split(name: str, seed: int) -> Split:
    """a9a with its official split, or abalone split 80/20 at random by ``seed``."""
    arrays = _open(f"{name}.npz")
    if name == "a9a":
        return Split(
            "classification",
            arrays["X_train"],
            (arrays["y_train"] > 0).astype(np.int64),
            arrays["X_test"],
            (arrays["y_test"] > 0).astype(np.int64),
        )
    X, y = arrays["X"], arrays["y"].astype(np.float64)
    order = np.random.default_rng(seed).permutation(len(X))
    test, train = order[: len(X) // 5], order[len(X) // 5 :]
    return Split("regression", X[train], y[train], X[test], y[test])


def _open(file: str) -> dict[str, np.ndarray]:
    folder = os.environ.get("REPSKETCH_DATA")
    path = Path(folder or ".") / file
    if not folder or not path.is_file():
        sys.exit(f"{file} not found: set REPSKETCH_DATA to the folder that holds it (now {folder!r}).")
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)
