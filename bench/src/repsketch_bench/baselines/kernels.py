"""What Fourier features and Nyström share: a Gaussian kernel on standardised inputs, tuned, and ridge regression.

The bandwidth is tried at multiples of the median distance of two rows. Scales of the columns and bandwidth are one
vector of d numbers, or some of the frequencies.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from repsketch.checks import check_count
from repsketch.errors import InputError
from repsketch.paper.initialize import InputScale
from repsketch.progress import track

from .compared import Compared
from .ridge import Features, fit_ridge, predict_linear
from .rows import Rows, as_inputs, as_vector, is_classes

BANDWIDTHS = (0.25, 0.5, 1.0, 2.0)  # times the median distance
STRENGTHS = (1e-6, 1e-4)  # of the ridge, against the mean square error; the kernel is 1 at distance 0
PAIRS = 2_000  # whose median distance is taken


def best_kernel_fit(
    name: str,
    rows: Rows,
    wanted: np.ndarray,
    features_at: Callable[[np.ndarray], Features],
    penalty_of: Callable[[Features], np.ndarray],
    sizes: dict[str, int],
    random_state: int,
    progress: bool,
) -> Compared:
    """The best of all bandwidths and strengths on the validation rows.

    Parameters
    ----------
    wanted : (n_train,) what the regression aims at
    features_at : scales (d,) times bandwidth -> features
    penalty_of : features -> (F, F) penalty of the weights
    sizes : ``n_numbers`` and ``flops``
    """
    scale = InputScale.fit(rows.X_train)
    median = _median_distance(scale.apply(rows.X_train), random_state)
    tried = []
    for bandwidth in track(BANDWIDTHS, f"fitting {name}", len(BANDWIDTHS), enabled=progress):
        features = features_at(scale.scale * median * bandwidth)
        lines = fit_ridge(features, rows.X_train, wanted, STRENGTHS, penalty_of(features))
        for strength, line in zip(STRENGTHS, lines, strict=True):
            settings = {"bandwidth": bandwidth, "strength": strength, "n_features": len(line.weights)}
            predict = predict_linear(features, line)
            tried.append(Compared(name, predict, nbytes=4 * sizes["n_numbers"], settings=settings, **sizes))
    return rows.best(tried)


def kernel_rows(X: Any, targets: Any, task: str, validation: Any, random_state: int) -> tuple[Rows, np.ndarray]:
    """Rows with classes or values as y, and what the ridge regression of the training rows aims at, (n_train,)."""
    inputs = as_inputs(X)
    given = as_vector(targets, len(inputs), "targets")
    if task != "classification":
        rows = Rows.split(inputs, given, task, validation, random_state)
        return rows, rows.y_train
    scores = 2.0 * given - 1.0 if is_classes(given) else given
    rows = Rows.split(inputs, scores > 0, task, validation, random_state)
    return rows, scores[rows.train_places]


def count_features(n_numbers: int, each: int, fixed: int, name: str) -> int:
    """How many features of ``each`` numbers fit into ``n_numbers`` beside the ``fixed`` ones.

    >>> count_features(10, each=3, fixed=2, name="landmark")
    2
    """
    check_count("n_numbers", n_numbers, 1 << 30)
    if n_numbers < each + fixed:
        raise InputError(f"n_numbers={n_numbers}; one {name} takes {each + fixed}, with scales and intercept.")
    return (n_numbers - fixed) // each


def _median_distance(Z: np.ndarray, random_state: int) -> float:
    """Median distance of pairs of standardised rows (n, d)."""
    first, second = np.random.default_rng([random_state, 7]).integers(len(Z), size=(2, PAIRS))
    return float(np.median(np.sqrt(((Z[first] - Z[second]) ** 2).sum(axis=1)))) or 1.0
