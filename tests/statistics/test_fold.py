"""The universal fold: different code tuples meet with the stated rate, and no bucket is preferred (erratum 2)."""

import numpy as np
import pytest

from repsketch import _native, lsh
from repsketch.lsh.fold import draw_multipliers, fold_collision_rate, fold_universal

BUCKETS = [2, 3, 8, 100]
N_SEEDS, N_ROWS = 24, 65_536
N_DRAWS = N_SEEDS * N_ROWS
# Pairs that a weak hash would confuse: neighbours, one code of many, opposite signs, far apart, one bit.
PAIRS = {
    "neighbours": ([5], [6]),
    "last-of-three": ([7, -2, 0], [7, -2, 1]),
    "swapped": ([1, 2], [2, 1]),
    "signs": ([-1, 1], [1, -1]),
    "extremes": ([-32_768], [32_767]),
    "top-bit": ([0], [-32_768]),
}


@pytest.fixture(scope="module", params=PAIRS.values(), ids=PAIRS)
def mixers(request):
    """A pair of tuples and the fold's random words of many rows and seeds."""
    pair = np.array(request.param)
    drawn = [draw_multipliers(seed, N_ROWS, pair.shape[1]) for seed in range(N_SEEDS)]
    addends, multipliers = (np.concatenate(words) for words in zip(*drawn, strict=True))
    return pair, addends, multipliers.T


def _fold_both(mixers, n_buckets):
    pair, addends, multipliers = mixers
    every = [np.broadcast_to(codes[:, None], multipliers.shape) for codes in pair]
    return [fold_universal(codes, addends, multipliers, n_buckets) for codes in every]


@pytest.mark.parametrize("n_buckets", BUCKETS)
def test_different_tuples_meet_with_the_stated_rate(mixers, n_buckets, rate_agrees):
    first, second = _fold_both(mixers, n_buckets)
    hits = (first == second).sum()
    rate = fold_collision_rate(n_buckets)
    assert rate_agrees(hits, N_DRAWS, rate)
    # Twin. The rarest event here, 1/100, has a tolerance of 4 per cent: twice that must be caught.
    assert not rate_agrees(hits, N_DRAWS, 1.08 * rate)
    assert not rate_agrees(hits, N_DRAWS, 0.92 * rate)


@pytest.mark.parametrize("n_buckets", BUCKETS)
def test_every_bucket_is_equally_likely(mixers, n_buckets, counts_agree):
    first, _ = _fold_both(mixers, n_buckets)
    counts = np.bincount(first, minlength=n_buckets)
    assert counts_agree(counts, _shares(n_buckets))
    uneven = _shares(n_buckets) * (1.0 + 0.02 * (-1.0) ** np.arange(n_buckets))
    assert not counts_agree(counts, uneven / uneven.sum())


@pytest.mark.parametrize("n_buckets", [2, 3, 8])
def test_rate_over_seeds_in_the_c_core(n_buckets, rate_agrees):
    """Row 0 of 20,000 seeds: what users change is the seed."""
    pair = np.array([[3, -4], [3, 4]], np.int32)
    buckets = np.empty((20_000, 2), np.int64)
    for seed, out in enumerate(buckets):
        _native.fold(seed, 0, pair, n_buckets, out)
    assert rate_agrees((buckets[:, 0] == buckets[:, 1]).sum(), len(buckets), fold_collision_rate(n_buckets))


@pytest.mark.parametrize("n_buckets", [2, 8, 1024, 65_536])
def test_power_of_two_rate_is_exact(n_buckets):
    assert fold_collision_rate(n_buckets) == 1.0 / n_buckets


@pytest.mark.parametrize("n_buckets", [3, 7, 100, 60_000])
def test_other_rates_sum_the_squared_shares(n_buckets):
    assert fold_collision_rate(n_buckets) == pytest.approx((_shares(n_buckets) ** 2).sum(), rel=1e-12)


def test_direct_fold_adds_no_collisions():
    hashes = lsh.RowHashes(lsh.L2(1.0), n_rows=4, n_buckets=16, n_features=2, n_concat=2, fold="direct")
    assert hashes.collision_rate == 0.0
    universal = lsh.RowHashes(lsh.L2(1.0), n_rows=4, n_buckets=16, n_features=2, n_concat=2)
    assert universal.collision_rate == 1.0 / 16.0


def _shares(n_buckets):
    """Probability of each bucket, counted: how many of the 2**16 values v have v * R >> 16 equal to it."""
    return np.bincount(np.arange(65_536) * n_buckets >> 16, minlength=n_buckets) / 65_536.0
