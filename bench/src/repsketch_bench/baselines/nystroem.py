"""Nyström's approximation with ridge regression: a kernel machine that stores landmarks."""

from typing import Any

import numpy as np

from repsketch.errors import require
from repsketch.paper.initialize import InputScale

from .compared import Compared
from .kernels import best_kernel_fit, count_features, kernel_rows
from .ridge import MOST_FEATURES, Features

SAMPLE_ROWS = 10_000  # that landmarks are chosen from


def fit_nystroem(
    X: Any,
    targets: Any,
    n_numbers: int,
    *,
    task: str,
    validation: tuple[Any, Any] | None = None,
    random_state: int = 0,
    progress: bool = True,
) -> Compared:
    """Ridge regression on the kernel with landmarks, the centres of k-means (Zhang, Tsang and Kwok 2008).

    Parameters
    ----------
    X, targets, validation : as for ``fit_fourier``
    n_numbers : at most so many are stored: d scales, d + 1 numbers a landmark, and an intercept

    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> model = fit_nystroem(X, np.sin(2.0 * X[:, 0]), 100, task="regression")
    >>> model.n_numbers, model.settings["n_features"], model.settings["n_tried"]
    (99, 32, 8)
    """
    rows, wanted = kernel_rows(X, targets, task, validation, random_state)
    d = rows.n_features
    n_landmarks = min(count_features(n_numbers, d + 1, d + 1, "landmark"), MOST_FEATURES)
    scale = InputScale.fit(rows.X_train)
    rng = np.random.default_rng([random_state, 6])
    sample = np.unique(rng.permutation(rows.X_train)[:SAMPLE_ROWS], axis=0)
    n_landmarks = min(n_landmarks, len(sample))
    cluster = require("sklearn.cluster", "train")
    machine = cluster.KMeans(n_landmarks, init="random", n_init=1, max_iter=20, random_state=random_state)
    landmarks = machine.fit(scale.apply(sample)).cluster_centers_ * scale.scale + scale.mean
    landmarks = landmarks.astype(np.float32)

    def features_at(scales: np.ndarray) -> Features:
        centres = (landmarks - scale.mean) / scales
        half_norms = 0.5 * (centres**2).sum(axis=1)

        def features(inputs: np.ndarray) -> np.ndarray:
            z = (inputs - scale.mean) / scales
            return np.exp(np.minimum(z @ centres.T - half_norms - 0.5 * (z**2).sum(axis=1, keepdims=True), 0.0))

        return features

    sizes = {"n_numbers": n_landmarks * (d + 1) + d + 1, "flops": n_landmarks * (d + 1)}
    return best_kernel_fit(
        "Nyström", rows, wanted, features_at, lambda features: features(landmarks), sizes, random_state, progress
    )
