"""The paper's six datasets, split into training and test rows, and its sizes for them.

Rows come from the folder REPSKETCH_DATA: its archive of the dataset, else the complete files of LIBSVM or UCI; else
from earlier downloads, else from LIBSVM. Hands on raw inputs and class numbers or values.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from repsketch.errors import InputError

from .download import load_or_download, read_checked
from .sources import ADVICE, SOURCES, Rows, Source, read_archive

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


def _sizes(name: str, hidden: tuple[int, ...], n_rows: int, n_concat: int, n_components: int) -> PaperSizes:
    source = SOURCES[name]
    return PaperSizes(source.file, source.task, source.n_features, hidden, n_rows, n_concat, n_components)


PAPER_SIZES = {
    "a9a": _sizes("a9a", (512, 256, 128), 500, 1, 8),
    "phishing": _sizes("phishing", (512, 256, 128), 300, 3, 22),
    "skin": _sizes("skin", (256, 128, 64), 300, 3, 12),
    "susy": _sizes("susy", (1024, 512, 256, 128, 64), 1000, 2, 250),
    "abalone": _sizes("abalone", (256, 128), 300, 1, 18),
    "yearmsd": _sizes("yearmsd", (1024, 512, 256, 128), 500, 3, 128),
}


@dataclass(frozen=True)
class Split:
    """A training and a test set.

    Inputs are (n, d) as the files hold them. y is (n,): int64 class numbers or float64 values. ``note`` is a sentence
    to print beside every number that comes from this split, empty for a complete dataset.
    """

    task: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    note: str = ""

    @property
    def is_subset(self) -> bool:
        """True if the dataset has more rows than were at hand."""
        return bool(self.note)


def paper_sizes(name: str) -> PaperSizes:
    """The paper's sizes for the dataset called ``name``.

    >>> paper_sizes("abalone").hidden
    (256, 128)
    """
    if name not in PAPER_SIZES:
        raise InputError(f"dataset {name!r} is unknown; allowed are {sorted(PAPER_SIZES)}.")
    return PAPER_SIZES[name]


def source_of(name: str) -> Source:
    """Where the dataset called ``name`` comes from.

    >>> source_of("skin").n_features
    3
    >>> source_of("iris")
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: dataset 'iris' is unknown; allowed are [...]
    """
    if name not in SOURCES:
        raise InputError(f"dataset {name!r} is unknown; allowed are {sorted(SOURCES)}.")
    return SOURCES[name]


def load_split(name: str, seed: int = 0, *, keep_duplicates_together: bool = False) -> Split:
    """Real data, split as published, else 80/20 at random by ``seed``.

    Published are the splits of a9a, of the full SUSY and YearPredictionMSD, and of the sample of the latter.

    Parameters
    ----------
    name : dataset, one of ``SOURCES``
    seed : of the random split
    keep_duplicates_together : rows with the same inputs all go to one side. Refused where a split is published:
        moving its rows would make another split, leaving them would break the promise.
    """
    source = source_of(name)
    rows = load_rows(source)
    if rows.given_split is not None and keep_duplicates_together:
        raise InputError(f"{name} has a published split, so keep_duplicates_together must be False; it was True.")
    train, test = rows.given_split or split_rows(rows.X, seed, keep_duplicates_together=keep_duplicates_together)
    y = (rows.y == 1).astype(np.int64) if source.task == "classification" else rows.y.astype(np.float64)
    return Split(source.task, rows.X[train], y[train], rows.X[test], y[test], rows.note)


def load_rows(source: Source) -> Rows:
    """All rows of ``source``, from the first place that has them.

    Where REPSKETCH_DATA holds both an archive and complete files, the archive is taken, be it a sample or not. What
    an archive holds is not compared with a digest.
    """
    if folder := os.environ.get("REPSKETCH_DATA"):
        archive = Path(folder) / source.file
        if archive.is_file():
            return read_archive(source, archive)
        if paths := source.find(Path(folder)):
            return read_checked(source, paths, ADVICE)
    return load_or_download(source)


def split_rows(X: np.ndarray, seed: int, *, keep_duplicates_together: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of four fifths of the rows for training and of one fifth for testing, in random order.

    With ``keep_duplicates_together`` equal rows of X (n, d) go to one side. The test set then ends where a fifth of
    all rows is nearest: off by at most half of a group of equal rows, unless a single group is larger than a fifth.

    >>> train, test = split_rows(np.array([[1], [2], [1], [3], [1]]), 0, keep_duplicates_together=True)
    >>> sorted(train.tolist()), test.tolist()
    ([0, 1, 2, 4], [3])
    """
    rng = np.random.default_rng(seed)
    n_test = len(X) // 5
    if not keep_duplicates_together:
        order = rng.permutation(len(X))
        return order[n_test:], order[:n_test]
    X = np.ascontiguousarray(X + X.dtype.type(0))  # -0.0 becomes 0.0: equal rows must have equal bytes
    as_bytes = X.view(np.dtype((np.void, X.itemsize * X.shape[1]))).ravel()  # many times faster than unique(axis=0)
    _, group, sizes = np.unique(as_bytes, return_inverse=True, return_counts=True)
    if len(sizes) < 2:
        raise InputError("all rows are equal: no split can keep them together; keep_duplicates_together must be False.")
    shuffled = rng.permutation(len(sizes))
    ends = np.cumsum(sizes[shuffled])  # rows in the first one, two, ... groups; all of them are never the nearest
    is_test = np.zeros(len(sizes), bool)
    is_test[shuffled[: np.argmin(np.abs(ends - n_test)) + 1]] = True
    order = rng.permutation(len(X))
    chosen = is_test[group[order]]
    return order[~chosen], order[chosen]


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
