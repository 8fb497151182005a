"""The variance of an estimate falls as 1 / L: rows are independent."""

import numpy as np
import pytest

from repsketch import Sketch, lsh

pytestmark = pytest.mark.slow

N_ROWS = 65_536
LENGTHS = np.array([8, 32, 128, 512])
POINTS = np.array([[0.4, 0.0], [-0.3, 0.5], [0.1, -0.9], [1.2, 0.4]])
WEIGHTS = np.array([2.0, -1.5, 1.0, -0.5])


@pytest.fixture(scope="module")
def rows(row_estimates):
    sketch = Sketch.empty(lsh.L2(1.0), N_ROWS, 4, 2, random_state=29).add(POINTS, WEIGHTS)
    return row_estimates(sketch, np.array([[0.1, 0.2]]))[:, 0, 0]


def _runs(rows, length):
    return rows.reshape(-1, length)


def _slope(estimates):
    """Least-squares slope of log variance on log L, and its weights on the four logarithms."""
    x = np.log(LENGTHS) - np.log(LENGTHS).mean()
    weights = x / (x @ x)
    return weights @ np.log([values.var(ddof=1) for values in estimates]), weights


def _tolerance(rows, weights):
    """Five standard errors of the slope.

    The variance of B means of L rows has the relative standard error sqrt(2 / (B - 1) + kappa / (L B)),
    kappa the excess kurtosis of a row. The four variances share rows, so their errors add up in size.
    """
    centred = rows - rows.mean()
    kappa = (centred**4).mean() / (centred**2).mean() ** 2 - 3.0
    n_runs = N_ROWS // LENGTHS
    errors = np.sqrt(2.0 / (n_runs - 1) + kappa / (LENGTHS * n_runs))
    return 5.0 * np.abs(weights) @ errors


def test_variance_falls_as_one_over_the_rows(rows):
    slope, weights = _slope([_runs(rows, length).mean(axis=1) for length in LENGTHS])
    tolerance = _tolerance(rows, weights)
    assert tolerance < 0.2
    assert abs(slope + 1.0) < tolerance


def test_twin_one_row_weighing_ten_per_cent_is_caught(rows):
    uneven = [0.9 * _runs(rows, length).mean(axis=1) + 0.1 * _runs(rows, length)[:, 0] for length in LENGTHS]
    slope, weights = _slope(uneven)
    assert abs(slope + 1.0) > _tolerance(rows, weights)


def test_twin_repeated_rows_are_caught(rows):
    """Rows drawn from few distinct ones, as with a generator of short period, stop averaging out."""
    repeated = [_runs(rows, length)[:, np.arange(length) % 64].mean(axis=1) for length in LENGTHS]
    slope, weights = _slope(repeated)
    assert abs(slope + 1.0) > _tolerance(rows, weights)
