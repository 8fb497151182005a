"""Intervals hold what they promise as often as they promise: f_K for the paper's counters, values for trained ones."""

from math import pi, sqrt

import numpy as np
import pytest

from repsketch import Sketch, lsh
from repsketch.model.intervals import CONFIDENCES, Intervals
from repsketch.theory.quantiles import student_quantile

N_DRAWS, N_ROWS = 2_000, 32
FAMILY = lsh.L2(1.0)
POINTS = np.array([[0.1, 0.3], [0.5, -0.8], [-1.2, 0.4], [0.2, 1.5], [-0.3, -0.4]])
WEIGHTS = np.array([1.0, -1.1, 0.9, 1.3, -0.7])
QUERIES = np.array([[0.0, 0.0], [0.4, -0.5]])
TRUTH = FAMILY.collision_probability(QUERIES[:, None, :], POINTS[None]) @ WEIGHTS  # f_K


def sketch_of(n_rows, **options):
    return Sketch.empty(FAMILY, n_rows, 16, 2, random_state=0, **options).add(POINTS, WEIGHTS)


@pytest.fixture(scope="module")
def runs(row_estimates):
    """Estimates of single rows in disjoint runs, (N_DRAWS, N_ROWS, n)."""
    return row_estimates(sketch_of(N_DRAWS * N_ROWS), QUERIES)[..., 0].reshape(N_DRAWS, N_ROWS, -1)


def middles_and_errors(runs, n_groups):
    """What a sketch of each run predicts, and the standard error that the interval is made of."""
    groups = runs.reshape(len(runs), n_groups, -1, runs.shape[2])
    factor = sqrt(pi / 2.0) if n_groups > 1 else 1.0
    return np.median(groups.mean(axis=2), axis=1), factor * runs.std(axis=1, ddof=1) / sqrt(runs.shape[1])


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_the_deviation_of_the_rows_covers_f_K(runs, rate_agrees, confidence):
    middles, errors = middles_and_errors(runs, 1)
    ratios = np.abs(middles - TRUTH) / errors
    quantile = student_quantile(confidence, N_ROWS - 1)
    for ratio in ratios.T:
        assert rate_agrees(int((ratio <= quantile).sum()), N_DRAWS, confidence)
        # Twin: a standard error a little too small.
        assert not rate_agrees(int((ratio <= 0.85 * quantile).sum()), N_DRAWS, confidence)


@pytest.mark.slow
def test_the_deviation_of_the_rows_around_a_median_of_means(runs, rate_agrees):
    """The factor pi/2 is for many groups; with 8 the interval is a little too wide, never too narrow."""
    middles, errors = middles_and_errors(runs, 8)
    quantile = student_quantile(0.95, N_ROWS - 1)
    for ratio in (np.abs(middles - TRUTH) / errors).T:
        hits = int((ratio <= quantile).sum())
        assert rate_agrees(hits, N_DRAWS, 0.95) or hits > 0.95 * N_DRAWS
        # Twin: the median taken for a mean, and a little more.
        assert not rate_agrees(int((ratio <= 0.9 * quantile / sqrt(pi / 2.0)).sum()), N_DRAWS, 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [1, 8])
def test_a_sketch_gives_the_interval_tested_here(runs, n_groups):
    options = {} if n_groups == 1 else {"aggregate": "median_of_means", "n_groups": n_groups}
    low, high = sketch_of(N_ROWS, **options).predict_interval(QUERIES, 0.9)
    middles, errors = middles_and_errors(runs[:1], n_groups)
    np.testing.assert_allclose((low + high) / 2, middles[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(high - low, 2 * student_quantile(0.9, N_ROWS - 1) * errors[0], rtol=1e-6)


# ---- split-conformal ----


@pytest.mark.parametrize(("n_rows", "confidence"), [(1, 0.5), (19, 0.95), (39, 0.9), (99, 0.99)])
def test_small_tables_cover_exactly(mean_agrees, n_rows, confidence):
    """Of n rows, the k-th smallest miss holds a further one with probability k / (n + 1), the confidence."""
    residuals = np.sort(np.random.default_rng(n_rows).exponential(size=(1_000, n_rows)))
    outputs = np.zeros((n_rows, 1), np.float32)
    widths = [Intervals.of(outputs, one[:, None]).half_widths(outputs[:1], confidence)[0, 0] for one in residuals]
    rank = round((n_rows + 1) * confidence)
    np.testing.assert_array_max_ulp(np.float32(widths), np.float32(residuals[:, rank - 1]))
    assert (widths >= residuals[:, rank - 1]).all()
    assert mean_agrees(1.0 - np.exp(-np.array(widths)), confidence)
    if n_rows > 1:  # twin: the next smaller miss
        assert not mean_agrees(1.0 - np.exp(-residuals[:, rank - 2]), confidence)


def uneven(n, seed):
    """Outputs, and values whose deviation grows with them."""
    rng = np.random.default_rng(seed)
    outputs = rng.uniform(0.0, 4.0, (n, 1))
    return outputs.astype(np.float32), outputs + (0.2 + outputs**2) * rng.normal(size=(n, 1))


@pytest.mark.parametrize("percent", CONFIDENCES)
def test_tables_of_several_bins_cover_within_and_over_all_bins(percent):
    """Five standard deviations: the share of m rows, by a table of n rows, has variance p (1 - p) (1/m + 1/n)."""
    n, m, confidence = 4_000, 40_000, percent / 100
    table, (outputs, values) = Intervals.of(*uneven(n, 1)), uneven(m, 2)
    assert table.scales.shape == (1, 4)
    residuals, widths = np.abs(values - outputs), table.half_widths(outputs, confidence)
    tolerance = 5.0 * sqrt(confidence * (1.0 - confidence) * (1.0 / m + 1.0 / n))
    assert abs((residuals <= widths).mean() - confidence) < tolerance
    assert abs((residuals <= 0.85 * widths).mean() - confidence) > tolerance  # twin
    # One width for all would be far too wide for small outputs and too narrow for large ones.
    ends = [(residuals <= widths)[chosen].mean() for chosen in (outputs < 1.0, outputs > 3.0)]
    even = residuals <= np.quantile(residuals, confidence)
    even_ends = [even[chosen].mean() for chosen in (outputs < 1.0, outputs > 3.0)]
    assert max(np.abs(np.subtract(ends, confidence))) < max(np.abs(np.subtract(even_ends, confidence)))
