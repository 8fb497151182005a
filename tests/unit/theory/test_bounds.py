"""The bounds of small examples, worked out by hand; whether they hold is for tests/statistics."""

from math import exp, sqrt

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.theory import error_bound, median_of_means_groups, rows_for, spread, variance_bound


def test_spread_uses_absolute_weights():
    """Erratum 1: with +1 and -1 the printed bound is 0, the variance 0.346."""
    assert float(spread([1.0, -1.0], [0.369, 0.369])) == pytest.approx(2 * sqrt(0.369))
    assert float(variance_bound([1.0, -1.0], [0.369, 0.369])) > 0.346


def test_spread_of_many_queries():
    """1 * 1/2 + 2 * 1/3 + 1/2 * 1 and 1 * 0 + 2 * 1 + 1/2 * 1/5, for one row of queries and for two."""
    weights, kernel = [1.0, -2.0, 0.5], np.array([[1 / 4, 1 / 9, 1.0], [0.0, 1.0, 1 / 25]])
    np.testing.assert_allclose(spread(weights, kernel), [5 / 3, 2.1])
    np.testing.assert_allclose(spread(weights, [kernel, kernel[::-1]]), [[5 / 3, 2.1], [2.1, 5 / 3]])
    np.testing.assert_allclose(variance_bound(weights, kernel), [25 / 9, 4.41])


def test_the_fold_widens_the_spread():
    plain, folded = (float(spread([2.0], [0.25], rate)) for rate in (0.0, 0.5))
    assert plain == 1.0
    assert folded == pytest.approx(sqrt(10))  # 5/8 of all pairs collide: 2 sqrt(5/8), doubled by debiasing
    assert float(variance_bound([2.0], [0.25], 0.5)) == pytest.approx(10.0)


def test_error_bound_by_hand():
    """6 times a spread of 2, times the root of ln(1 / delta) / n_rows = 4 / 64."""
    assert float(error_bound([4.0], [0.25], n_rows=64, delta=exp(-4.0))) == pytest.approx(3.0)


@pytest.mark.parametrize("delta", [0.5, 0.05, 1e-6])
def test_error_bound_and_planner_are_inverse(delta):
    weights, kernel = [1.0, -2.0], [0.3, 0.7]
    width = float(spread(weights, kernel))
    n_rows = rows_for(epsilon=0.25, delta=delta, spread=width)
    bound = error_bound(weights, kernel, n_rows, delta)
    n_groups = median_of_means_groups(delta)
    assert n_rows % n_groups == 0  # Lemma 1 wants groups of one size
    assert float(bound) <= 0.25 < float(error_bound(weights, kernel, n_rows - n_groups, delta))


@pytest.mark.parametrize(("delta", "n_groups"), [(0.99, 1), (0.9, 1), (0.5, 6), (0.05, 24), (0.01, 37), (1e-9, 166)])
def test_groups(delta, n_groups):
    """Lemma 1: 8 ln(1 / delta), rounded up."""
    assert median_of_means_groups(delta) == n_groups


def test_at_least_one_row_a_group():
    assert rows_for(epsilon=1e9, delta=0.01) == median_of_means_groups(0.01)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: spread([1.0, 2.0], [0.5]), r"shape \(2,\).*shape \(1,\).*\(M,\) and \(\.\.\., M\)"),
        (lambda: spread([[1.0]], [0.5]), r"shape \(1, 1\)"),
        (lambda: spread([1.0], [1.5]), r"kernel_values outside \[0, 1\]"),
        (lambda: spread([1.0], [-0.1]), r"kernel_values outside \[0, 1\]"),
        (lambda: spread([1.0], [np.nan]), r"kernel_values outside \[0, 1\]"),
        (lambda: spread([1.0], [0.5], 1.0), "fold_collision_rate=1.0; allowed is a number from 0 to 0.5"),
        (lambda: error_bound([1.0], [0.5], 0, 0.1), "n_rows=0 with delta=0.1; allowed is 19 rows up"),
        (lambda: error_bound([1.0], [0.5], 18, 0.1), "n_rows=18 with delta=0.1; allowed is 19 rows up"),
        (lambda: error_bound([1.0], [0.5], 10, 0.0), "delta=0.0; allowed is a number between 0 and 1"),
        (lambda: median_of_means_groups(1.0), "delta=1.0; allowed is a number between 0 and 1"),
        (lambda: median_of_means_groups(float("nan")), "delta=nan; allowed"),
        (lambda: rows_for(0.0, 0.1), "epsilon=0.0; allowed is a finite number above 0"),
        (lambda: rows_for(0.1, 0.1, spread=float("inf")), "spread=inf; allowed is a finite number above 0"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(InputError, match=words):
        call()
