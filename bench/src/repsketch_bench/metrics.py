"""Whether probabilities are calibrated: the Brier score and the calibration error of ``predict_proba``."""

from typing import Any

import numpy as np

from repsketch.checks import check_count
from repsketch.errors import InputError

_MOST_BINS = 10_000


def brier_score(y: Any, probabilities: Any, classes: Any = None) -> float:
    """Mean squared distance of the probabilities from the truth; 0 is best.

    Of two classes the squared error of one of them counts, as in scikit-learn; of more, the sum over all.

    Parameters
    ----------
    y : (n,) true labels
    probabilities : (n, C), as from ``predict_proba``
    classes : (C,) labels of the columns; 0, 1, ... by default

    >>> brier_score([0, 1], [[0.8, 0.2], [0.4, 0.6]])
    0.1
    """
    places, probabilities = _read(y, probabilities, classes)
    squares = (probabilities - np.eye(probabilities.shape[1])[places]) ** 2
    return float(squares.sum(axis=1).mean()) / (2.0 if probabilities.shape[1] == 2 else 1.0)


def calibration_error(y: Any, probabilities: Any, classes: Any = None, *, n_bins: int = 15) -> float:
    """By how much the probability of the predicted class differs from how often it is right; 0 is best.

    Rows go to bins of equal width by that probability; the differences of the bins' means are averaged over the rows
    (the expected calibration error, ECE). Parameters as for ``brier_score``.

    >>> calibration_error([0, 0, 0, 1], [[0.75, 0.25]] * 4)
    0.0
    """
    places, probabilities = _read(y, probabilities, classes)
    check_count("n_bins", n_bins, _MOST_BINS)
    sure, is_right = probabilities.max(axis=1), probabilities.argmax(axis=1) == places
    bins = np.minimum((sure * n_bins).astype(np.int64), n_bins - 1)
    return float(np.abs(np.bincount(bins, sure - is_right, n_bins)).sum() / len(sure))


def _read(y: Any, probabilities: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    """Places of the true classes (n,) and probabilities (n, C), checked."""
    labels, probabilities = np.asarray(y), np.asarray(probabilities, np.float64)
    known = np.arange(probabilities.shape[-1]) if classes is None else np.asarray(classes)
    if (
        probabilities.ndim != 2
        or probabilities.shape[1] < 2
        or labels.shape != probabilities.shape[:1]
        or not len(labels)
    ):
        raise InputError(
            f"y of shape {labels.shape} and probabilities of shape {probabilities.shape}; allowed are (n,), (n, C)."
        )
    if known.shape != probabilities.shape[1:]:
        raise InputError(
            f"{known.size} classes for {probabilities.shape[1]} columns of probabilities; they must agree."
        )
    if not (np.all(probabilities >= 0.0) and np.allclose(probabilities.sum(axis=1), 1.0, atol=1e-4)):
        raise InputError("probabilities must be 0 or more and sum up to 1 in every row; pass those of predict_proba.")
    is_class = labels[:, None] == known
    if not is_class.any(axis=1).all():
        unknown = labels[~is_class.any(axis=1)]
        raise InputError(f"y holds {unknown[:4].tolist()}, which are none of the classes {known.tolist()[:8]}.")
    return is_class.argmax(axis=1), probabilities
