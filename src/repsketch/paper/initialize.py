"""Initialisation of stage 1: a projection along which the teacher varies, points on the data, weights by ridge.

Takes a sample of inputs and teacher outputs, both standardised; hands on float32 arrays that
``distill`` refines by gradient descent.
"""

from dataclasses import dataclass

import numpy as np

_WIDE, _WIDE_ROWS = 512, 1_024  # columns of a wide table, and the rows of it that are used


@dataclass
class InputScale:
    """Affine map of raw features to comparable units: (x - mean) / scale, column by column."""

    mean: np.ndarray  # (d,) float64
    scale: np.ndarray  # (d,) float64, > 0

    @classmethod
    def fit(cls, sample: np.ndarray) -> "InputScale":
        """Mean and scale of each column of ``sample`` (n, d).

        The scale is the standard deviation, but half the range for columns of at most two values: a
        rare indicator must not be blown up. Constant columns have scale 1.

        >>> InputScale.fit(np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0]])).scale.tolist()
        [0.5, 1.0]
        """
        sample = np.asarray(sample, np.float64)
        low, high = sample.min(axis=0), sample.max(axis=0)
        two_valued = ((sample == low) | (sample == high)).all(axis=0)
        scale = np.where(two_valued, 0.5 * (high - low), sample.std(axis=0))
        return cls(sample.mean(axis=0), np.where(scale > 0, scale, 1.0))

    def apply(self, X: np.ndarray) -> np.ndarray:
        """Standardised float32 copy of ``X`` (n, d)."""
        return ((X - self.mean) / self.scale).astype(np.float32)


def initial_projection(X: np.ndarray, targets: np.ndarray, n_components: int, rng: np.random.Generator) -> np.ndarray:
    """A (d, p) projection of standardised inputs to coordinates of unit variance.

    First the directions of a ridge regression of the teacher's outputs, where the function is known
    to vary; then the leading principal directions of what is left; then random ones if p exceeds d.

    Parameters
    ----------
    X : (n, d) standardised inputs; targets : (n, C) standardised outputs
    """
    d = X.shape[1]
    rows = slice(_WIDE_ROWS if d > _WIDE else None)  # wide data: fewer rows, the decomposition grows with their square
    X, targets = X[rows].astype(np.float64) / np.sqrt(len(X[rows])), targets[rows] / np.sqrt(len(X[rows]))
    ridge, right = _ridge(X, targets)
    columns = np.linalg.svd(ridge, full_matrices=False)[0][:, : max(1, n_components // 2)]
    candidates = np.hstack([columns, right.T, rng.normal(size=(d, n_components))])
    basis, _ = np.linalg.qr(candidates[:, : n_components + columns.shape[1]])
    return _unit_variance(X, basis[:, :n_components], n_components, rng)


def _ridge(X: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ridge coefficients (d, C), and the right singular vectors of X."""
    left, sizes, right = np.linalg.svd(X, full_matrices=False)
    shrunk = sizes / (sizes**2 + 1e-3 * (sizes**2).sum() / X.shape[1] + 1e-9)
    return right.T @ (shrunk[:, None] * (left.T @ targets)), right


def _unit_variance(X: np.ndarray, basis: np.ndarray, n_components: int, rng: np.random.Generator) -> np.ndarray:
    """The basis, completed by random directions, scaled so that coordinates have unit variance; float32."""
    if basis.shape[1] < n_components:
        missing = n_components - basis.shape[1]
        basis = np.hstack([basis, rng.normal(size=(len(basis), missing)) / np.sqrt(len(basis))])
    deviation = np.sqrt(((X @ basis) ** 2).sum(axis=0))
    floor = 1e-3 * deviation.max() if deviation.max() > 0 else 1.0
    return (basis / np.maximum(deviation, floor)).astype(np.float32)


def initial_points(Z: np.ndarray, n_points: int, rng: np.random.Generator) -> np.ndarray:
    """``n_points`` rows of the projected data (n, p), with a little noise so that no two coincide."""
    chosen = rng.choice(len(Z), size=n_points, replace=n_points > len(Z))
    noise = 0.05 * Z.std(axis=0) * rng.normal(size=(n_points, Z.shape[1]))
    return (Z[chosen] + noise).astype(np.float32)


def initial_bandwidth(points: np.ndarray, n_concat: int) -> float:
    """The median distance of the points, times K so that K concatenated codes still collide."""
    sample = points[: min(len(points), 256)].astype(np.float64)
    gaps = sample[:, None, :] - sample[None, :, :]
    distances = np.sqrt((gaps**2).sum(axis=2))[np.triu_indices(len(sample), 1)]
    median = float(np.median(distances)) if len(distances) else 1.0
    return n_concat * (median if median > 0 else 1.0)


def initial_weights(kernel: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Ridge weights (M, C) of the outputs (n, C) on kernel values (n, M)."""
    kernel = kernel.astype(np.float64)
    gram = kernel.T @ kernel
    gram[np.diag_indices_from(gram)] += 1e-3 * len(kernel)
    return np.linalg.solve(gram, kernel.T @ targets).astype(np.float32)
