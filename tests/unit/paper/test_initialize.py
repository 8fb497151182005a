"""The start of a distillation: comparable inputs, a projection that looks at the teacher, points on the data."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from repsketch.paper.initialize import (
    InputScale,
    initial_bandwidth,
    initial_points,
    initial_projection,
    initial_weights,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_scale_of_each_kind_of_column(rng):
    numbers = rng.normal(5.0, 3.0, size=200)
    rare = (np.arange(200) < 2) * 1.0
    scale = InputScale.fit(np.stack([numbers, rare, np.full(200, 7.0)], axis=1))
    np.testing.assert_allclose(scale.mean, [numbers.mean(), 0.01, 7.0])
    # The rare indicator keeps its range: its deviation of 0.1 would blow a single one up to ten.
    np.testing.assert_allclose(scale.scale, [numbers.std(), 0.5, 1.0])


def test_scale_applies_as_float32(rng):
    X = rng.normal(5.0, 3.0, size=(200, 2))
    z = InputScale.fit(X).apply(X)
    assert z.dtype == np.float32
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(z.std(axis=0), 1.0, atol=1e-5)


@pytest.mark.parametrize(("d", "p"), [(6, 1), (6, 3), (6, 6), (3, 7), (1, 1)])
def test_projected_coordinates_have_unit_variance(rng, d, p):
    X = rng.normal(size=(500, d))
    X -= X.mean(axis=0)
    projection = initial_projection(X, X[:, :1], p, rng)
    assert (projection.dtype, projection.shape) == (np.float32, (d, p))
    np.testing.assert_allclose((X @ projection).std(axis=0), 1.0, rtol=1e-4)


def test_the_first_direction_is_where_the_teacher_varies(rng):
    X = rng.normal(size=(2_000, 6))
    X[:, 5] *= 3  # the largest principal direction, of no use to the teacher
    direction = np.array([1.0, -1.0, 0, 0, 0, 0])
    projection = initial_projection(X - X.mean(axis=0), (X @ direction)[:, None], 2, rng)
    cosine = abs(projection[:, 0] @ direction) / np.linalg.norm(projection[:, 0]) / np.sqrt(2)
    assert cosine > 0.99
    assert abs(projection[5, 1]) > 10 * np.abs(projection[:5, 1]).max()


def test_degenerate_inputs_give_finite_projections(rng):
    assert np.isfinite(initial_projection(np.zeros((5, 3)), np.zeros((5, 1)), 4, rng)).all()


@pytest.mark.parametrize("kind", ["one-hot", "duplicated", "fewer rows than columns"])
def test_collinear_columns_give_finite_projections(kind):
    """A direction without variance: rounding may make its variance negative."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(3, 6))
        if kind == "one-hot":
            X = np.eye(5)[rng.integers(0, 5, 200)]
        elif kind == "duplicated":
            X = np.tile(rng.normal(size=(100, 2)), 2)
        z = InputScale.fit(X).apply(X)
        projection = initial_projection(z, z[:, :1].astype(float), X.shape[1], rng)
        assert np.isfinite(projection).all(), seed


def test_points_lie_on_the_data(rng):
    Z = rng.normal(size=(50, 2))
    points = initial_points(Z, 20, rng)
    nearest = np.sqrt(((points[:, None] - Z[None]) ** 2).sum(axis=2)).min(axis=1)
    assert (points.dtype, points.shape) == (np.float32, (20, 2))
    assert nearest.max() < 0.3  # six times the noise of 0.05
    assert len(np.unique(initial_points(Z, 200, rng), axis=0)) == 200


def test_bandwidth_is_the_median_distance_times_k():
    points = np.array([[0.0], [1.0], [3.0]], np.float32)
    assert initial_bandwidth(points, 1) == 2.0
    assert initial_bandwidth(points, 3) == 6.0
    assert initial_bandwidth(points[:1], 1) == 1.0
    assert initial_bandwidth(np.zeros((4, 2), np.float32), 2) == 2.0


@pytest.mark.parametrize("n", [30, 300])
def test_weights_are_ridge_weights(rng, n):
    """Those of scikit-learn, with a thousandth of the rows as the penalty."""
    kernel, targets = rng.random((n, 4)), rng.normal(size=(n, 2))
    ridge = Ridge(alpha=n / 1_000, fit_intercept=False, solver="svd").fit(kernel, targets)
    np.testing.assert_allclose(initial_weights(kernel, targets), ridge.coef_.T, rtol=1e-5, atol=1e-7)


def test_wide_data_still_finds_where_the_teacher_varies(rng):
    """Beyond 512 columns 1,024 rows are decomposed: still more than columns, so a linear teacher is found."""
    X = rng.normal(size=(3_000, 600)).astype(np.float32)
    targets = X[:, :1].astype(np.float64)
    projection = initial_projection(X, targets, 8, rng)
    z = X @ projection
    assert np.isfinite(z).all()
    assert abs(np.corrcoef(z[:, 0], targets[:, 0])[0, 1]) > 0.99
    few_rows = initial_projection(X[:1_024], targets[:1_024], 8, np.random.default_rng(0))
    again = initial_projection(X, targets, 8, np.random.default_rng(0))
    np.testing.assert_array_equal(few_rows, again)
