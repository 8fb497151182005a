"""Random Fourier features with ridge regression: a kernel machine whose frequencies may come from a seed."""

from typing import Any

import numpy as np

from repsketch.errors import InputError

from .compared import Compared
from .kernels import best_kernel_fit, count_features, kernel_rows
from .ridge import MOST_FEATURES, Features


def fit_fourier(
    X: Any,
    targets: Any,
    n_numbers: int,
    *,
    task: str,
    stores_frequencies: bool = False,
    validation: tuple[Any, Any] | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> Compared:
    """Ridge regression on cosines and sines of random frequencies (Rahimi and Recht 2007).

    Parameters
    ----------
    X : (n, d) inputs
    targets : (n,) log-odds of a teacher, classes 0 and 1, or values
    n_numbers : at most so many are stored. Frequencies that come from the seed cost nothing, as the hashes of a sketch:
        d scales, two weights a frequency, and an intercept. Stored ones cost d + 2 numbers each, and an intercept
    validation : (m, d) inputs and (m,) classes or values; without it a fifth of the rows

    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = fit_fourier(X, np.sin(2.0 * X[:, 0]), 100, task="regression")
    >>> model.n_numbers, model.settings["n_features"], model.settings["n_tried"]
    (99, 96, 8)
    """
    rows, wanted = kernel_rows(X, targets, task, validation, random_state)
    d = rows.n_features
    each, fixed = (d + 2, 1) if stores_frequencies else (2, d + 1)
    n_frequencies = count_features(n_numbers, each, fixed, "frequency")
    if 2 * n_frequencies > MOST_FEATURES:
        raise InputError(
            f"n_numbers={n_numbers} makes {2 * n_frequencies} features; allowed are {MOST_FEATURES}: "
            f"at most {MOST_FEATURES // 2 * each + fixed} numbers."
        )
    frequencies = np.random.default_rng([random_state, 5]).normal(size=(d, n_frequencies))

    def features_at(scales: np.ndarray) -> Features:
        matrix = (frequencies / scales[:, None]).astype(np.float32)

        def features(inputs: np.ndarray) -> np.ndarray:
            angles = inputs @ matrix  # the mean of the inputs only turns each pair of weights
            return np.hstack([np.cos(angles), np.sin(angles)])

        return features

    name = "Fourier features, stored" if stores_frequencies else "Fourier features"
    penalty = n_frequencies * np.eye(2 * n_frequencies)
    sizes = {"n_numbers": each * n_frequencies + fixed, "flops": n_frequencies * (d + 2)}
    return best_kernel_fit(name, rows, wanted, features_at, lambda features: penalty, sizes, random_state, progress)
