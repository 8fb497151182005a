"""Theorem 1: a row's estimate has the expectation f_K(q), for weights of mixed sign and folded rows (erratum 2)."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from repsketch import Sketch, lsh

pytestmark = pytest.mark.slow

N_ROWS = 20_000
POINTS = np.array([[0.0, 0.2, 0.9], [1.0, 0.0, -0.4], [-0.6, 0.8, 0.0], [0.3, -1.0, 0.5], [0.9, 0.7, 0.0]])
QUERIES = np.array([[0.1, 0.3, 0.6], [0.8, 0.2, 0.0], [-0.5, -0.5, 0.3]])
# Two outputs: one sum far from 0, one whose weights nearly cancel.
WEIGHTS = np.array([[3.0, 1.0], [1.5, -2.0], [-1.0, 0.5], [2.0, 2.0], [-0.5, -1.4]])

CASES = [
    (lsh.L2(1.5), 1, 2),
    (lsh.L2(2.0), 2, 7),
    (lsh.L2(1.5, directions="gaussian"), 1, 4),
    (lsh.Angular(), 2, 4),
    (lsh.Angular(directions="ternary"), 1, 7),
    (lsh.MinHash(), 1, 2),
    (lsh.MinHash(), 2, 7),
    (lsh.L1(2.0), 1, 4),
]


@dataclass(frozen=True)
class Rows:
    """A sketch of many rows, and what its rows give for the queries."""

    sketch: Sketch
    counters: np.ndarray  # (L, n, C)
    kernel: np.ndarray  # (n, M), with all K codes


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].name}-K{case[1]}-R{case[2]}")
def rows(request, row_counters):
    family, n_concat, n_buckets = request.param
    sketch = Sketch.empty(family, N_ROWS, n_buckets, 3, n_concat, n_outputs=2, random_state=23).add(POINTS, WEIGHTS)
    kernel = family.collision_probability(QUERIES[:, None, :], POINTS[None], n_concat)
    return Rows(sketch, row_counters(sketch, QUERIES), kernel)


def test_debiased_estimate_has_the_expectation_of_the_kernel_sum(rows, mean_agrees):
    estimates = rows.counters * rows.sketch.gain + rows.sketch.offset
    assert mean_agrees(estimates, rows.kernel @ WEIGHTS).all()


def test_counters_have_the_expectation_with_fold_collisions(rows, mean_agrees):
    rate = rows.sketch.hashes.collision_rate
    assert mean_agrees(rows.counters, (rows.kernel + (1.0 - rows.kernel) * rate) @ WEIGHTS).all()


def test_twin_forgotten_debiasing_is_caught(rows, mean_agrees):
    plain = replace(rows.sketch, debias=False)
    estimates = rows.counters * plain.gain + plain.offset
    np.testing.assert_array_equal(estimates, rows.counters)
    assert not mean_agrees(estimates, rows.kernel @ WEIGHTS)[:, 0].any()


def test_twin_half_debiasing_is_caught(rows, mean_agrees):
    """The offset without the gain, and the gain without the offset."""
    sketch, expected = rows.sketch, rows.kernel @ WEIGHTS
    assert not mean_agrees(rows.counters + sketch.offset / sketch.gain, expected).all()
    assert not mean_agrees(rows.counters * sketch.gain, expected).all()


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_twin_estimate_off_by_five_per_cent_is_caught(rows, factor, mean_agrees):
    estimates = rows.counters * rows.sketch.gain + rows.sketch.offset
    assert not mean_agrees(factor * estimates, rows.kernel @ WEIGHTS).all()


def test_twin_wrong_number_of_codes_is_caught(rows, mean_agrees):
    estimates = rows.counters * rows.sketch.gain + rows.sketch.offset
    n_concat = rows.sketch.hashes.n_concat
    wrong = rows.kernel ** ((n_concat + 1) / n_concat)
    assert not mean_agrees(estimates, wrong @ WEIGHTS).all()


def test_seeds_are_as_good_as_rows(mean_agrees):
    """One row a seed: what is proved about many rows of one seed holds for many seeds."""
    family = lsh.L2(1.5)
    empty = [Sketch.empty(family, 1, 4, 3, random_state=seed) for seed in range(1_500)]
    estimates = np.array([sketch.add(POINTS, WEIGHTS[:, 0]).outputs(QUERIES)[:, 0] for sketch in empty], np.float64)
    expected = family.collision_probability(QUERIES[:, None, :], POINTS[None]) @ WEIGHTS[:, 0]
    assert mean_agrees(estimates, expected).all()
    assert not mean_agrees(1.2 * estimates, expected).all()  # fewer draws than rows above, so a larger twin


def test_prediction_is_the_mean_of_the_rows(row_estimates):
    """Rounding: L additions of float32, each off by 2**-24 of a partial sum below L max |S|, then divided by L."""
    sketch = Sketch.empty(lsh.L2(1.5), 400, 4, 3, n_outputs=2, random_state=6).add(POINTS, WEIGHTS)
    means = row_estimates(sketch, QUERIES).mean(axis=0)
    tolerance = 2 * 400 * 2.0**-24 * np.abs(WEIGHTS).sum(axis=0).max() * sketch.gain.max()
    np.testing.assert_allclose(sketch.outputs(QUERIES), means, rtol=0, atol=tolerance)
