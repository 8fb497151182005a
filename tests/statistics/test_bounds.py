"""Theorem 2: the median of means stays within ``error_bound`` with probability 1 - delta (erratum 1)."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from repsketch import Sketch, lsh, theory

N_DRAWS, N_ROWS = 2_000, 64_000
FAMILY = lsh.L2(1.0)
# Points on a ray from the queries: their collisions nest, which brings the variance close to its bound.
POINTS = np.outer([0.1, 0.3, 0.5, 0.8, 1.2, 1.7], [0.8, 0.6])
WEIGHTS = np.array([1.0, 1.1, 0.9, 1.3, 1.7, -0.4])
QUERIES = np.array([[0.0, 0.0], [-0.3, -0.2]])
KERNEL = FAMILY.collision_probability(QUERIES[:, None, :], POINTS[None])
# delta 0.2 needs 13 groups and 0.05 needs 24: rows that the groups divide, and rows that they do not.
SIZES = [(0.2, 26), (0.2, 32), (0.05, 24), (0.05, 31)]


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sketch():
    return Sketch.empty(FAMILY, N_ROWS, 4, 2, random_state=19).add(POINTS, WEIGHTS)


@pytest.fixture(scope="module")
def rows(sketch, row_estimates):
    """Estimates of single rows, (N_ROWS, n)."""
    return row_estimates(sketch, QUERIES)[..., 0]


def _medians(rows, n_rows, n_groups, n_draws=N_DRAWS):
    """Median of means of ``n_draws`` disjoint runs of ``n_rows`` rows, (n_draws, n)."""
    runs = rows[: n_draws * n_rows].reshape(n_draws, n_rows, -1)
    bounds = [group * n_rows // n_groups for group in range(n_groups + 1)]
    means = [runs[:, start:stop].mean(axis=1) for start, stop in pairwise(bounds)]
    return np.median(means, axis=0)


def _most_failures(delta, n_draws=N_DRAWS):
    """What a binomial of ``n_draws`` draws with probability delta passes with a probability below 1e-6."""
    return stats.binom.isf(1e-6, n_draws, delta)


@pytest.mark.parametrize(("delta", "n_rows"), SIZES)
def test_error_bound_holds_as_often_as_promised(rows, sketch, delta, n_rows):
    errors = np.abs(_medians(rows, n_rows, theory.median_of_means_groups(delta)) - KERNEL @ WEIGHTS)
    bound = theory.error_bound(WEIGHTS, KERNEL, n_rows, delta, sketch.hashes.collision_rate)
    assert ((errors > bound).sum(axis=0) <= _most_failures(delta)).all()
    # Twin. Chebyshev's 6 sqrt(ln 1/delta) is some 8 times what a median needs, and the spread bounds
    # the second moment, about twice the variance's root: a bound 16 times as small must be caught.
    assert ((errors > bound / 16.0).sum(axis=0) > _most_failures(delta)).all()


def test_printed_bound_fails_for_mixed_signs(row_estimates):
    """Erratum 1 in Theorem 2: signed weights can make the printed f-tilde, sum w sqrt(k), vanish."""
    points, query = np.array([[0.3, 0.4], [-0.8, 0.1]]), np.zeros((1, 2))
    kernel = FAMILY.collision_probability(query, points)
    weights = np.array([1.0, -np.sqrt(kernel[0] / kernel[1])])
    assert weights @ np.sqrt(kernel) == pytest.approx(0.0, abs=1e-12)
    sketch = Sketch.empty(FAMILY, 5_200, 4, 2, random_state=3).add(points, weights)
    medians = _medians(row_estimates(sketch, query)[..., 0], n_draws=200, n_rows=26, n_groups=13)
    errors = np.abs(medians[:, 0] - kernel @ weights)
    assert (errors > 1e-6).sum() > _most_failures(0.2, n_draws=200)
    assert (errors > theory.error_bound(weights, kernel, 26, 0.2, 0.25)).sum() <= _most_failures(0.2, n_draws=200)


@pytest.mark.parametrize(("delta", "n_rows"), SIZES)
def test_sketch_computes_the_median_tested_here(rows, delta, n_rows):
    """A sketch of the first rows of the same seed gives the first run; float32 sums of at most 32 small numbers."""
    n_groups = theory.median_of_means_groups(delta)
    short = Sketch.empty(
        FAMILY, n_rows, 4, 2, aggregate="median_of_means", n_groups=n_groups, random_state=19
    ).add(POINTS, WEIGHTS)  # fmt: skip
    tolerance = 2 * n_rows * 2.0**-24 * np.abs(WEIGHTS).sum() * short.gain[0]
    np.testing.assert_allclose(short.predict(QUERIES), _medians(rows, n_rows, n_groups)[0], rtol=0, atol=tolerance)


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-4])
@pytest.mark.parametrize("epsilon", [0.3, 0.05])
def test_planner_inverts_the_bound(epsilon, delta):
    spread = float(theory.spread(WEIGHTS, KERNEL[0], 0.25))
    n_rows = theory.rows_for(epsilon, delta, spread)
    assert theory.error_bound(WEIGHTS, KERNEL[0], n_rows, delta, 0.25) <= epsilon
    # One row a group less, and the groups equal as the proof wants them: too few.
    n_groups = theory.median_of_means_groups(delta)
    assert n_rows % n_groups == 0
    assert theory.error_bound(WEIGHTS, KERNEL[0], n_rows - n_groups, delta, 0.25) > epsilon
