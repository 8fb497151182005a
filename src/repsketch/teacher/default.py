"""The default teacher, for users who have none: gradient-boosted trees, trained on a raw table.

Takes a table as ``compress`` does, and labels; hands on a scikit-learn Pipeline. ``compress(None, X, y)``, the
estimators and ``repsketch compress --train`` all call ``default_teacher``.
"""

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from threadpoolctl import threadpool_limits  # comes with scikit-learn

from ..data.frames import as_columns
from ..data.targets import as_labels, read_labels
from ..errors import TeacherError
from ..progress import notify, progress_bar

TIME_SHARE = 0.1  # of a time limit: compress trains four more copies of the teacher
MAX_CATEGORIES = 255  # of a column that scikit-learn splits into sets; indices of more labels are treated as numbers
MIN_ROWS_TO_STOP_EARLY = 500  # with fewer rows, none are set aside for early stopping
MIN_ROWS_PER_CLASS = 10  # with fewer rows of some class, neither
MIN_THREADED_CELLS = 5_000_000  # cells of a table from which several threads are faster
MIN_SLOW_SECONDS = 2.0  # with less time, the learning rate is higher
FIRST_TREES = 5  # grown before the time they took is measured
FIRST_ROWS, ROW_FACTOR = 500, 4  # of the first measured fit, and how many times more each further one has
ROW_SHARE = 0.2  # of the time: more rows are tried if one tree of them can be expected within it

_log = logging.getLogger(__name__)


class ToNumbers(TransformerMixin, BaseEstimator):
    """A raw table as numbers, as sketches read it: a category becomes its index among the labels that ``fit`` found.

    A column without any value becomes 0: trees do not accept it.
    """

    def fit(self, X: Any, y: Any = None) -> "ToNumbers":
        """Keep the names and labels of X."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Keep the names and labels of X, and return its numbers."""
        found = as_columns(X)
        self.columns_ = replace(found, numbers=np.empty((0, found.numbers.shape[1]), np.float32))  # without its rows
        self.empty_ = np.isnan(found.numbers).all(axis=0)
        return self._filled(found.numbers)

    def transform(self, X: Any) -> np.ndarray:
        """Numbers (n, d), NaN where a value is missing."""
        return self._filled(as_columns(X, known=self.columns_).numbers)

    def _filled(self, numbers: np.ndarray) -> np.ndarray:
        return np.where(self.empty_, np.float32(0), numbers)


@contextmanager
def _alone(X: np.ndarray) -> Iterator[None]:
    """Inside, OpenMP uses one thread, or all threads for large tables; other threads of Python are not concerned.

    On a busy machine, threads that waited for each other at every tree took up to a hundred times as long as one.
    """
    with threadpool_limits(1 if X.size < MIN_THREADED_CELLS else None, "openmp"):
        yield


class _RegressorTrees(HistGradientBoostingRegressor):
    """A subclass, so that the copies of the teacher that ``compress`` trains use one thread, too."""

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> "_RegressorTrees":
        with _alone(X):
            return super().fit(X, y, sample_weight)

    def predict(self, X: np.ndarray) -> np.ndarray:
        with _alone(X):
            return super().predict(X)


class _ClassifierTrees(HistGradientBoostingClassifier):
    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> "_ClassifierTrees":
        with _alone(X):
            return super().fit(X, y, sample_weight)

    def predict(self, X: np.ndarray) -> np.ndarray:
        with _alone(X):
            return super().predict(X)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        with _alone(X):
            return super().predict_proba(X)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        with _alone(X):
            return super().decision_function(X)


def default_teacher(
    X: Any,
    y: Any,
    task: str | None,
    *,
    seed: int,
    time_limit: float | None = None,
    progress: bool = True,
    loss: str | None = None,
    quantile: float | None = None,
    sample_weight: np.ndarray | None = None,
) -> Pipeline | None:
    """The teacher of users who have none; None if y has several columns, for which there are no trees.

    Parameters
    ----------
    X : table as for ``compress``
    y : (n,) labels or values; (n, C) values
    task : "classification", "regression", or None to infer it from y
    time_limit : seconds of the caller; a share of them is spent here
    loss, quantile : of a regression, as for ``compress``
    sample_weight : (n,) weights of the rows, or None

    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> default_teacher(X, X[:, 0] > 0, None, seed=0, progress=False).classes_.tolist()
    [False, True]
    >>> default_teacher(X, X, None, seed=0, progress=False) is None
    True
    """
    found = _labels_and_task(X, y, task, progress)
    if found is None:
        return None
    seconds = None if time_limit is None else TIME_SHARE * time_limit
    with progress_bar("training a teacher", None, enabled=progress):
        return train_teacher(X, *found, seed, seconds, loss, quantile, sample_weight)


def untrained_teacher(
    X: Any,
    y: Any,
    task: str | None,
    *,
    seed: int,
    progress: bool = True,
    loss: str | None = None,
    quantile: float | None = None,
) -> Pipeline | None:
    """What ``default_teacher`` trains, not trained: enough to train copies of it. None where that gives None.

    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> untrained_teacher(X, X[:, 0] > 0, None, seed=0, progress=False)[-1].max_iter
    100
    """
    found = _labels_and_task(X, y, task, progress)
    return None if found is None else make_pipeline(*_untrained(X, *found, seed, None, loss, quantile)[:2])


def _labels_and_task(X: Any, y: Any, task: str | None, progress: bool) -> tuple[np.ndarray, str] | None:
    """Labels (n,) and the task; None, and a message, where y has several columns."""
    labels = as_labels(y)
    targets, task, _ = read_labels(labels, X.shape[0] if hasattr(X, "shape") else len(X), task, None)
    if task == "regression" and targets.shape[1] > 1:
        notify(_log, f"y has {targets.shape[1]} columns: no teacher is trained", enabled=progress)
        return None
    return labels.reshape(-1), task


def is_default(model: Any) -> bool:
    """True for a teacher that ``default_teacher`` gives: copies of it may be trained side by side."""
    return isinstance(model, Pipeline) and isinstance(model[-1], (_RegressorTrees, _ClassifierTrees))


def train_teacher(
    X: Any,
    y: np.ndarray,
    task: str,
    seed: int,
    seconds: float | None = None,
    loss: str | None = None,
    quantile: float | None = None,
    sample_weight: np.ndarray | None = None,
) -> Pipeline:
    """A fitted Pipeline that takes frames, arrays and sparse matrices like X.

    With ``seconds`` it has fewer trees if all of them would take longer, by the time of the first few. Regressors
    minimise ``loss``, None for the squared error.

    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> teacher = train_teacher(X, X[:, 0] > 0, "classification", seed=0)
    >>> float(teacher.score(X, X[:, 0] > 0)) > 0.95
    True
    """
    to_numbers, trees, numbers = _untrained(X, y, task, seed, seconds, loss, quantile)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes")  # the user chose these labels
            _grow(trees, numbers, y, seconds, sample_weight)
    except ValueError as error:  # such as labels that are no integers
        raise TeacherError(f"no trees can be trained from this table: {' '.join(str(error).split())}") from error
    return make_pipeline(to_numbers, trees)


def _untrained(
    X: Any, y: np.ndarray, task: str, seed: int, seconds: float | None, loss: str | None, quantile: float | None
) -> tuple[ToNumbers, Any, np.ndarray]:
    """The two steps of the Pipeline, the second not fitted, and X as numbers (n, d)."""
    to_numbers = ToNumbers()
    numbers = to_numbers.fit_transform(X)
    known = to_numbers.columns_.categories
    stops_early, leaf = len(y) >= MIN_ROWS_TO_STOP_EARLY, max(1, min(20, len(y) // 20))  # small data get small leaves
    if task == "classification":
        stops_early &= bool(np.unique(y, return_counts=True)[1].min() >= MIN_ROWS_PER_CLASS)
    options = {
        "categorical_features": [place for place, labels in known.items() if 1 < len(labels) <= MAX_CATEGORIES],
        "max_iter": 400 if stops_early else 100,
        "early_stopping": stops_early,
        "min_samples_leaf": leaf,
        "random_state": seed,
        "learning_rate": 0.1
        if seconds is None or seconds > MIN_SLOW_SECONDS
        else 0.3,  # few trees need a higher learning rate
    }
    if task == "classification":
        return to_numbers, _ClassifierTrees(**options), numbers
    return to_numbers, _RegressorTrees(loss=loss or "squared_error", quantile=quantile, **options), numbers


def _grow(
    trees: Any, numbers: np.ndarray, y: np.ndarray, seconds: float | None, weights: np.ndarray | None = None
) -> None:
    """Fit all trees at once or, with a time limit, twice as many each time until the next fit would take too long."""
    if seconds is None:
        trees.fit(numbers, y, weights)
        return
    max_trees, n_trees, started = trees.max_iter, min(FIRST_TREES, trees.max_iter), time.monotonic()
    if len(y) > FIRST_ROWS:
        rows, is_slow = _rows_in_time(trees, numbers, y, seconds)
        numbers, y, weights = numbers[rows], y[rows], None if weights is None else weights[rows]
        n_trees = 1 if is_slow else n_trees
    trees.set_params(warm_start=True)
    while True:
        trees.set_params(max_iter=n_trees).fit(numbers, y, weights)
        is_late = 2 * (time.monotonic() - started) > seconds  # the next fit takes as long as all so far
        if n_trees == max_trees or trees.n_iter_ < n_trees or is_late:
            break
        n_trees = min(2 * n_trees, max_trees)
    trees.set_params(warm_start=False, max_iter=trees.n_iter_)  # for copies, which do not start warm


def _rows_in_time(trees: Any, numbers: np.ndarray, y: np.ndarray, seconds: float) -> tuple[np.ndarray, bool]:
    """Rows (m,), rising, and whether even the first trees of these take too long.

    As many rows as the time allows, by fits of one tree to more and more of them; a few of every class.
    """
    order = np.random.default_rng([trees.random_state, 13]).permutation(len(y))
    if isinstance(trees, HistGradientBoostingClassifier):
        _, classes = np.unique(y[order], return_inverse=True)
        by_class = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[by_class], np.arange(classes.max() + 1))
        is_further = np.empty(len(y), bool)  # a class has enough rows before this one
        is_further[by_class] = np.arange(len(y)) - starts[classes[by_class]] >= MIN_ROWS_PER_CLASS
        order = order[np.argsort(is_further, kind="stable")]
    one_tree, n_rows = clone(trees).set_params(max_iter=1, early_stopping=False), FIRST_ROWS
    while True:
        rows, started = np.sort(order[:n_rows]), time.monotonic()
        one_tree.fit(numbers[rows], y[rows])
        taken = time.monotonic() - started
        if n_rows >= len(y) or ROW_FACTOR * taken > ROW_SHARE * seconds:
            return rows, FIRST_TREES * taken > seconds
        n_rows *= ROW_FACTOR
