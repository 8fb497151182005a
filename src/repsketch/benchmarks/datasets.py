"""The paper's six datasets, found through the environment variable REPSKETCH_DATA, and its sizes for them.

Hands on raw inputs and class numbers or values, split into training and test rows.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError

SYNTHETIC_ROWS = 6000


@dataclass(frozen=True)
class PaperSizes:
    """Teacher and sketch sizes of one dataset as the paper's tables give them (erratum 4)."""

    file: str
    task: str
    n_features: int  # d
    hidden: tuple[int, ...]  # widths of the teacher's hidden layers
    n_rows: int  # L
    n_concat: int  # K; 2^K buckets
    n_components: int  # p


PAPER_SIZES = {
    "a9a": PaperSizes("a9a.npz", "classification", 123, (512, 256, 128), 500, 1, 8),
    "phishing": PaperSizes("phishing.npz", "classification", 68, (512, 256, 128), 300, 3, 22),
    "skin": PaperSizes("skin_nonskin.npz", "classification", 3, (256, 128, 64), 300, 3, 12),
    "susy": PaperSizes("susy_sample.npz", "classification", 18, (1024, 512, 256, 128, 64), 1000, 2, 250),
    "abalone": PaperSizes("abalone.npz", "regression", 8, (256, 128), 300, 1, 18),
    "yearmsd": PaperSizes("yearpredictionmsd_sample.npz", "regression", 90, (1024, 512, 256, 128), 500, 3, 128),
}


@dataclass(frozen=True)
class Split:
    """A training and a test set; y holds class numbers or values."""

    task: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def paper_sizes(name: str) -> PaperSizes:
    """The paper's sizes for the dataset called ``name``.

    >>> paper_sizes("abalone").hidden
    (256, 128)
    """
    if name not in PAPER_SIZES:
        raise InputError(f"dataset {name!r} is unknown; allowed are {sorted(PAPER_SIZES)}.")
    return PAPER_SIZES[name]


def load_split(name: str, seed: int) -> Split:
    """Real data: the official split of a9a, the published one of yearmsd, else 80/20 at random by ``seed``."""
    sizes = paper_sizes(name)
    arrays = _open(sizes.file)
    if name == "a9a":
        y_train, y_test = ((arrays[key] > 0).astype(np.int64) for key in ("y_train", "y_test"))
        return Split(sizes.task, arrays["X_train"], y_train, arrays["X_test"], y_test)
    X, y = arrays["X"], arrays["y"]
    if name == "skin":
        y = y == 1  # 1 is skin, 2 is not
    y = y.astype(np.int64 if sizes.task == "classification" else np.float64)
    if name == "yearmsd":
        test, train = (np.flatnonzero(chosen) for chosen in (arrays["origin"] == 1, arrays["origin"] != 1))
    else:
        order = np.random.default_rng(seed).permutation(len(X))
        test, train = order[: len(X) // 5], order[len(X) // 5 :]
    return Split(sizes.task, X[train], y[train], X[test], y[test])


def synthetic_split(name: str, seed: int) -> Split:
    """Invented data with the width and the task of the dataset called ``name``, for machines without the real ones.

    >>> split = synthetic_split("skin", 0)
    >>> split.X_train.shape, split.task, sorted(set(split.y_test.tolist()))
    ((4800, 3), 'classification', [0, 1])
    """
    sizes = paper_sizes(name)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(SYNTHETIC_ROWS, sizes.n_features)).astype(np.float32)
    u, v = rng.normal(size=(2, sizes.n_features)) @ X.T / np.sqrt(sizes.n_features)
    y = np.sin(2.0 * u) + u * v + 0.2 * rng.normal(size=len(X))
    if sizes.task == "classification":
        y = (y > np.median(y)).astype(np.int64)
    n_test = len(X) // 5
    return Split(sizes.task, X[n_test:], y[n_test:], X[:n_test], y[:n_test])


def _open(file: str) -> dict[str, np.ndarray]:
    folder = os.environ.get("REPSKETCH_DATA")
    path = Path(folder or ".") / file
    if not folder or not path.is_file():
        raise InputError(f"{file} not found: set REPSKETCH_DATA to the folder that holds it (now {folder!r}).")
    with np.load(path, allow_pickle=False) as archive:
        return dict(archive)
