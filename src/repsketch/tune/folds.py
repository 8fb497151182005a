"""What a teacher says about rows it was not trained on: copies of it, each trained without a part of the rows.

A teacher is too sure of its own training rows; a student that believes it learns the noise in their labels.
"""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..errors import RepSketchError, require
from ..frames import is_frame
from ..predictor import to_probabilities
from ..progress import track
from ..teacher import TeacherOutputs, as_teacher

N_FOLDS = 4
FEWEST = 40  # rows; of fewer, those left out are answered by what is not like them
LONGEST = 60.0  # seconds that all copies may take, as the first one tells


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
    None where copies take too long or cannot be trained, or where rows are too few
    """
    if len(kept) < FEWEST:
        return None
    labels = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
    answers = np.zeros((len(labels), np.shape(like.values)[1]))
    started = time.monotonic()
    folds = track(Fold.split(len(labels), kept, seed), "training copies of the teacher", N_FOLDS, enabled=progress)
    for number, (inside, outside, weights) in enumerate(folds):
        try:
            copy = require("sklearn.base", "train").clone(model)
            copy.fit(_take(X, inside), labels[inside])
            given = as_teacher(copy, like.task).label(_take(X, outside))
        except (ValueError, TypeError, RepSketchError):  # such as a class that a fold has none of
            return None
        if given.values.shape != (len(outside), np.shape(like.values)[1]) or not _same(given.classes, like.classes):
            return None
        if (time.monotonic() - started) * N_FOLDS / (number + 1) > longest:
            return None
        answers[outside] += weights * as_chances(given)
    return answers


def _same(classes: np.ndarray | None, others: np.ndarray | None) -> bool:
    return others is None if classes is None else others is not None and np.array_equal(classes, others)


def _take(X: Any, rows: np.ndarray) -> Any:
    """Some rows of a table of any kind."""
    if is_frame(X):
        frame = require("narwhals", "frames").from_native(X, eager_only=True)
        return frame[rows.tolist()].to_native()
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
