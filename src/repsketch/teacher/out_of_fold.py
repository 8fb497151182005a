"""What a teacher says about rows it was not trained on: copies of it, each trained without a part of the rows.

A teacher is too sure of its own training rows; a student that believes it learns the noise in their labels.
"""

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from copy import deepcopy
from io import StringIO
from typing import Any, NamedTuple

import numpy as np

from ..data.frames import is_frame
from ..errors import TeacherError, require
from ..predictor import to_probabilities
from ..progress import notify, track
from . import TeacherOutputs, as_teacher

N_FOLDS = 4
FEWEST = 40  # rows; of fewer, those left out are answered by what is not like them
LONGEST = 60.0  # seconds that all copies may take, as the first one tells
N_PILOT = 2_000  # rows of a copy that tells how long others will take, where there is a time limit

_log = logging.getLogger(__name__)


class Fold(NamedTuple):
    """Rows that one copy of a teacher is trained on, those it answers, and the weight (m, 1) of each answer."""

    inside: np.ndarray
    outside: np.ndarray
    weights: np.ndarray

    @classmethod
    def split(cls, n_rows: int, kept: np.ndarray, seed: int) -> "Iterator[Fold]":
        """Folds in which each row that is kept is answered once, and any other one by all, each counting a share."""
        number = np.full(n_rows, -1)
        number[kept] = np.random.default_rng([seed, 9]).permutation(len(kept)) % N_FOLDS
        for fold in range(N_FOLDS):
            outside = np.flatnonzero((number < 0) | (number == fold))
            weights = np.where(number[outside] < 0, 1.0 / N_FOLDS, 1.0).reshape(-1, 1)
            yield cls(np.flatnonzero((number >= 0) & (number != fold)), outside, weights)


def is_refittable(model: Any) -> bool:
    """True for estimators with scikit-learn's contract, of which a copy can be trained.

    >>> from sklearn.linear_model import LogisticRegression
    >>> is_refittable(LogisticRegression()), is_refittable(len)
    (True, False)
    """
    return all(callable(getattr(model, name, None)) for name in ("fit", "predict", "get_params", "set_params"))


def as_chances(outputs: TeacherOutputs) -> np.ndarray:
    """Answers in the measure of labels: chances of classes (of the second, if there are two), or values; (n, C)."""
    if outputs.task != "classification":
        return outputs.values
    chances = to_probabilities(outputs.values)
    return chances[:, 1:] if chances.shape[1] == 2 else chances


def answers_out_of_fold(
    model: Any, X: Any, y: Any, kept: np.ndarray, like: TeacherOutputs, *, seed: int, longest: float = LONGEST,
    progress: bool = True,
) -> np.ndarray | None:  # fmt: skip
    """Answers (n, C) of copies of ``model`` to rows they were not trained on, as ``as_chances`` gives them.

    Parameters
    ----------
    kept : rows that copies may be trained on; to any other row the answer is the mean of all copies
    like : the answers of the model itself: copies must answer in the same way, knowing the same classes
    longest : seconds that training may take; when the first copy tells that it will take more, none is used

    Returns
    -------
    None where copies take too long or cannot be trained, or where rows are too few; the log says which
    """
    about = f"out-of-fold answers of {type(model).__name__}"
    if len(kept) < FEWEST:
        _log.info("%s: not used, because there are only %d rows to train on, of %d needed", about, len(kept), FEWEST)
        return None
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    answers = np.zeros((len(labels), np.shape(like.values)[1]))
    try:
        if longest < LONGEST and (expected := _pilot_seconds(model, X, labels, kept, seed)) > longest:
            _log.info("%s: not used, because training copies would take %.0f seconds", about, expected)
            return None
        started = time.monotonic()
        for number, fold in enumerate(
            track(Fold.split(len(labels), kept, seed), "training copies of the teacher", N_FOLDS, enabled=progress)
        ):
            with _quiet():
                given = _answers_of_a_copy(model, X, labels, fold, like)
            expected = (time.monotonic() - started) * N_FOLDS / (number + 1)
            if expected > longest:
                shown = "not used, because training copies would take %.0f seconds, of %.0f allowed"
                _log.info(f"%s: {shown}", about, expected, longest)
                return None
            answers[fold.outside] += fold.weights * as_chances(given)
    except Exception as error:  # whatever a library raises, a sketch can be trained without these answers
        reason = " ".join(str(error).split())
        shown = f"not used, because a copy cannot be trained ({type(error).__name__}: {reason:.300})"
        notify(_log, f"{about}: {shown}", enabled=progress)
        return None
    _log.info("%s: used, from %d copies", about, N_FOLDS)
    return answers


def _pilot_seconds(model: Any, X: Any, labels: np.ndarray, kept: np.ndarray, seed: int) -> float:
    """Seconds that all copies will take, as one that is trained on few rows tells: as many times longer, about."""
    n_rows = len(kept) * (N_FOLDS - 1) // N_FOLDS
    if n_rows <= N_PILOT:
        return 0.0
    some = np.sort(np.random.default_rng([seed, 12]).choice(kept, N_PILOT, replace=False))
    started = time.monotonic()
    with _quiet():
        _unfitted(model).fit(_take(X, some), labels[some])
    return (time.monotonic() - started) * N_FOLDS * n_rows / N_PILOT


def _answers_of_a_copy(model: Any, X: Any, labels: np.ndarray, fold: Fold, like: TeacherOutputs) -> TeacherOutputs:
    copy = _unfitted(model)
    copy.fit(_take(X, fold.inside), labels[fold.inside])
    classes = like.classes if not hasattr(copy, "classes_") and like.task == "classification" else None
    given = as_teacher(copy, like.task, classes).label(_take(X, fold.outside))
    if given.values.shape[1] != np.shape(like.values)[1] or not _same(given.classes, like.classes):
        raise TeacherError("it knows other classes, or has another number of outputs, than the teacher")
    return given


def _unfitted(model: Any) -> Any:
    """A copy of ``model`` that is not fitted."""
    try:
        return require("sklearn.base", "train").clone(model)
    except RuntimeError:  # constructors that copy their parameters, as CatBoost does with cat_features
        return type(model)(**deepcopy(model.get_params(deep=False)))


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what a fit prints and warns of from users, who did not call it."""
    with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        warnings.simplefilter("ignore")
        yield


def _same(classes: np.ndarray | None, others: np.ndarray | None) -> bool:
    return others is None if classes is None else others is not None and np.array_equal(classes, others)


def _take(X: Any, rows: np.ndarray) -> Any:
    """Some rows of a table of any kind."""
    if is_frame(X):
        frame = require("narwhals", "frames").from_native(X, eager_only=True)
        return frame[rows.tolist()].to_native()
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
