"""Out-of-fold outputs of a teacher: copies of it, each trained without one fold, predict that fold.

A teacher is overconfident on its own training rows; a student trained on those outputs learns the noise of the labels.
"""

import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from functools import partial
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from ..data.frames import some_rows
from ..errors import TeacherError, require
from ..parallel import Workers
from ..progress import notify, track
from . import TeacherOutputs, as_teacher
from .targets import Targets

N_FOLDS = 4
MANY_ROWS, N_FOLDS_OF_MANY = 100_000, 2  # from so many training rows on, fewer copies, of half of the rows each
MIN_ROWS = 40  # training rows; copies trained on fewer are too unlike the teacher
MAX_SECONDS = 60.0  # that training all copies may take, estimated from the first
PILOT_ROWS = 2_000  # with a time limit, a copy is trained on this many rows first, to estimate the time

_log = logging.getLogger(__name__)


class Fold(NamedTuple):
    """Rows that one copy of a teacher is trained on, rows that it predicts, and weights (m, 1) of these outputs."""

    train: np.ndarray
    evaluated: np.ndarray
    weights: np.ndarray

    @classmethod
    def split(
        cls, n_rows: int, train_rows: np.ndarray, seed: int, groups: np.ndarray | None = None
    ) -> "Iterator[Fold]":
        """Cross-validation folds: a training row is predicted by one copy, any other row by the mean of all copies.

        Rows of one group, of ``groups`` (n,), are in the same fold.
        """
        n_copies = n_folds(len(train_rows))
        number = np.full(n_rows, -1)  # of the fold; -1 for rows that are no training rows
        place = np.random.default_rng([seed, 9]).permutation(len(train_rows))
        if groups is not None:
            least = np.full(n_rows, len(train_rows))
            np.minimum.at(least, groups[train_rows], place)
            place = least[groups[train_rows]]
        number[train_rows] = place % n_copies
        for fold in range(n_copies):
            evaluated = np.flatnonzero((number < 0) | (number == fold))
            weights = np.where(number[evaluated] < 0, 1.0 / n_copies, 1.0).reshape(-1, 1)
            yield cls(np.flatnonzero((number >= 0) & (number != fold)), evaluated, weights)


def n_folds(n_rows: int) -> int:
    """Copies for ``n_rows`` training rows.

    >>> n_folds(99_999), n_folds(100_000)
    (4, 2)
    """
    return N_FOLDS if n_rows < MANY_ROWS else N_FOLDS_OF_MANY


def is_refittable(model: Any) -> bool:
    """True for estimators with scikit-learn's interface, of which a copy can be trained.

    >>> from sklearn.linear_model import LogisticRegression
    >>> is_refittable(LogisticRegression()), is_refittable(len)
    (True, False)
    """
    return all(callable(getattr(model, name, None)) for name in ("fit", "predict", "get_params", "set_params"))


def out_of_fold_outputs(
    model: Any,
    X: Any,
    y: Any,
    train_rows: np.ndarray,
    targets: Targets,
    *,
    seed: int,
    max_seconds: float = MAX_SECONDS,
    progress: bool = True,
    sample_weight: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    n_threads: int | None = None,
) -> np.ndarray | None:
    """Outputs (n, C) of copies of ``model`` for rows they were not trained on, as soft labels.

    Parameters
    ----------
    train_rows : rows that copies are trained on; other rows get the mean of all copies
    targets : of all rows: copies must have the same classes and number of outputs
    max_seconds : seconds that training may take; if it would take more, no copy is used
    sample_weight : (n,) weights of the rows; copies that take no weights are trained without
    groups : (n,) numbers of groups of equal rows, which one copy predicts
    n_threads : copies that are trained side by side, each in one thread, for models of which that is known to be safe;
        None for one after the other

    Returns
    -------
    (n, C), or None if copies take too long or cannot be trained, or if rows are too few; the log says which
    """
    about = f"out-of-fold outputs of {type(model).__name__}"
    if len(train_rows) < MIN_ROWS:
        _log.info(
            "%s: not used, because there are only %d rows to train on, of %d needed", about, len(train_rows), MIN_ROWS
        )
        return None
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    outputs = np.zeros((len(labels), targets.labels.shape[1]))
    try:
        if max_seconds <= 0:
            _log.info("%s: not used, because no time is left", about)
            return None
        if max_seconds < MAX_SECONDS and (expected := _pilot_seconds(model, X, labels, train_rows, seed)) > max_seconds:
            _log.info("%s: not used, because training copies would take %.0f seconds", about, expected)
            return None
        started = time.monotonic()
        folds = list(Fold.split(len(labels), train_rows, seed, groups))
        fit = partial(_outputs_of_copy, model, X, labels, targets=targets, sample_weight=sample_weight)
        at_once = n_threads or 1
        starts = range(0, len(folds), at_once)
        for first in track(starts, "training copies of the teacher", len(starts), enabled=progress):
            together = folds[first : first + at_once]
            with _quiet():
                copies = [fit(fold) for fold in together] if n_threads is None else _side_by_side(fit, together)
            expected = (time.monotonic() - started) * len(folds) / (first + len(together))
            if expected > max_seconds:
                shown = "not used, because training copies would take %.0f seconds, of %.0f allowed"
                _log.info(f"%s: {shown}", about, expected, max_seconds)
                return None
            for fold, copied in zip(together, copies, strict=True):
                outputs[fold.evaluated] += fold.weights * copied.soft_labels
    except Exception as error:  # whatever a library raises, a sketch can be trained without these outputs
        reason = " ".join(str(error).split())
        shown = f"not used, because a copy cannot be trained ({type(error).__name__}: {reason:.300})"
        notify(_log, f"{about}: {shown}", enabled=progress)
        return None
    _log.info("%s: used, from %d copies", about, len(folds))
    return outputs


def _side_by_side(fit: Callable[[Fold], TeacherOutputs], folds: list[Fold]) -> list[TeacherOutputs]:
    """In one thread each: with more, sums of gradients would depend on their number."""

    def fit_alone(fold: Fold) -> TeacherOutputs:
        with require("threadpoolctl", "train").threadpool_limits(1, "openmp"):
            return fit(fold)

    with Workers(len(folds)) as workers:
        return workers.map([partial(fit_alone, fold) for fold in folds])


def _pilot_seconds(model: Any, X: Any, labels: np.ndarray, train_rows: np.ndarray, seed: int) -> float:
    """Estimated seconds to train all copies, in proportion to the time of one on few rows."""
    n_copies = n_folds(len(train_rows))
    n_rows = len(train_rows) * (n_copies - 1) // n_copies
    if n_rows <= PILOT_ROWS:
        return 0.0
    some = np.sort(np.random.default_rng([seed, 12]).choice(train_rows, PILOT_ROWS, replace=False))
    started = time.monotonic()
    with _quiet():
        _unfitted(model).fit(some_rows(X, some), labels[some])
    return (time.monotonic() - started) * n_copies * n_rows / PILOT_ROWS


def _outputs_of_copy(
    model: Any,
    X: Any,
    labels: np.ndarray,
    fold: Fold,
    *,
    targets: Targets,
    sample_weight: np.ndarray | None = None,
) -> TeacherOutputs:
    copy = _unfitted(model)
    weights = {} if sample_weight is None else _weights_for(copy, sample_weight[fold.train])
    copy.fit(some_rows(X, fold.train), labels[fold.train], **weights)
    classes = targets.classes if not hasattr(copy, "classes_") and targets.task == "classification" else None
    copied = as_teacher(copy, targets.task, classes).label(some_rows(X, fold.evaluated))
    if copied.values.shape[1] != targets.labels.shape[1] or not _same(copied.classes, targets.classes):
        raise TeacherError("it has other classes, or another number of outputs, than the teacher")
    return copied


def _weights_for(model: Any, weights: np.ndarray) -> dict[str, np.ndarray]:
    """The argument of ``fit`` for weights of rows; of a Pipeline, that of its last step; empty if it has none."""
    steps = getattr(model, "steps", None)
    name, taker = (f"{steps[-1][0]}__sample_weight", steps[-1][1]) if steps else ("sample_weight", model)
    has_weights = require("sklearn.utils.validation", "train").has_fit_parameter(taker, "sample_weight")
    return {name: weights} if has_weights else {}


def _unfitted(model: Any) -> Any:
    """A copy of ``model`` that is not fitted."""
    try:
        return require("sklearn.base", "train").clone(model)
    except RuntimeError:  # a constructor that copies its parameters, as CatBoost does with cat_features
        return type(model)(**deepcopy(model.get_params(deep=False)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide what a fit prints and its warnings: the user did not call it."""
    with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        yield


def _same(classes: np.ndarray | None, others: np.ndarray | None) -> bool:
    return others is None if classes is None else others is not None and np.array_equal(classes, others)
