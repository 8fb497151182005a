"""Small training data with numbers, booleans, categories and gaps."""

import numpy as np

from repsketch.train.training_data import TrainingData

BUDGETS = (160, 600)
N_CATEGORIES = 4


def rows_of(seed: int, n: int = 700) -> np.ndarray:
    """Two numbers of very different size, a boolean, a category, a constant; a tenth of each number missing."""
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            1000.0 + 30.0 * rng.normal(size=n),
            rng.integers(0, 2, n),
            rng.integers(0, N_CATEGORIES, n),
            np.full(n, 7.0),
        ]
    )
    X[rng.random(n) < 0.1, 0] = np.nan
    X[rng.random(n) < 0.05, 3] = np.nan
    return X.astype(np.float32)


def values_of(X: np.ndarray) -> np.ndarray:
    """A curved function that needs every column but the constant, far from zero; a gap counts like a value of 2."""
    filled = np.where(np.isnan(X), 2.0, X).astype(np.float64)
    category = np.array([0.0, 2.0, -1.0, 1.0])[filled[:, 3].astype(int)]
    return 50.0 + np.sin(2.0 * filled[:, 0]) + 0.03 * (filled[:, 1] - 1000.0) + category * (1.0 + filled[:, 2])


def data_of(task: str, has_soft_labels: bool = True) -> TrainingData:
    X = rows_of(0)
    values = values_of(X)
    if task == "values":
        labels, soft_labels = values[:, None] + np.random.default_rng(1).normal(0, 0.1, (len(X), 1)), values[:, None]
    elif task == "two classes":
        labels, soft_labels = np.float64(values > 50.0)[:, None], 1.0 / (1.0 + np.exp(-3.0 * (values[:, None] - 50.0)))
    else:
        labels = np.eye(3)[np.digitize(values, [49.3, 51.0])]
        soft_labels = 0.8 * labels + 0.2 / 3.0
    name = "regression" if task == "values" else "classification"
    return TrainingData.of(X, labels, soft_labels if has_soft_labels else None, name, n_categories={3: N_CATEGORIES})
