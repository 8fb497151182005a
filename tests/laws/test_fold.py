"""The fold stays in range and is a function of the codes modulo 2**16, whatever they are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repsketch import _native
from repsketch.lsh.fold import MAX_BUCKETS, draw_multipliers, fold_direct, fold_universal

BUCKETS = st.integers(2, MAX_BUCKETS)
SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 6))


def _fold(seed, codes, n_buckets):
    addends, multipliers = draw_multipliers(seed, 1, len(codes))
    return fold_universal(codes, addends[0], multipliers[0], n_buckets)


@given(SHAPES.flatmap(lambda shape: arrays(np.int64, shape)), SEEDS, BUCKETS)
def test_universal_fold_stays_in_range(codes, seed, n_buckets):
    buckets = _fold(seed, codes, n_buckets)
    assert buckets.dtype == np.int64
    assert buckets.shape == codes.shape[1:]
    assert ((buckets >= 0) & (buckets < n_buckets)).all()


@given(SHAPES.flatmap(lambda shape: arrays(np.int32, shape)), SEEDS, BUCKETS)
def test_c_core_folds_alike(codes, seed, n_buckets):
    buckets = np.full(codes.shape[1], -1, np.int64)
    _native.fold(seed, 0, np.ascontiguousarray(codes.T), n_buckets, buckets)
    np.testing.assert_array_equal(buckets, _fold(seed, codes, n_buckets))


@given(SHAPES.flatmap(lambda shape: arrays(np.int64, shape)), SEEDS, BUCKETS)
def test_only_sixteen_bits_count(codes, seed, n_buckets):
    low = (codes & 0xFFFF).astype(np.int32)
    np.testing.assert_array_equal(_fold(seed, codes, n_buckets), _fold(seed, low, n_buckets))


@given(SHAPES.flatmap(lambda shape: arrays(np.int16, shape)), SEEDS, BUCKETS)
def test_universal_fold_in_integers(codes, seed, n_buckets):
    """The formula of the module, in Python's own integers."""
    addends, multipliers = draw_multipliers(seed, 1, len(codes))
    expected = []
    for column in codes.T.tolist():
        products = [code % 2**16 * int(word) for code, word in zip(column, multipliers[0], strict=True)]
        expected.append((((int(addends[0]) + sum(products)) % 2**32) >> 16) * n_buckets >> 16)
    assert _fold(seed, codes.astype(np.int32), n_buckets).tolist() == expected


@given(SHAPES.flatmap(lambda shape: arrays(np.int16, shape)), st.integers(2, 8))
def test_direct_fold_stays_in_range_and_keeps_inner_codes(codes, n_levels):
    codes, lowest = codes.astype(np.int32), -(n_levels // 2)
    buckets = fold_direct(codes, n_levels, lowest)
    assert ((buckets >= 0) & (buckets < n_levels ** len(codes))).all()
    digits = np.array([buckets // n_levels**place % n_levels for place in range(len(codes))])
    np.testing.assert_array_equal(digits + lowest, np.clip(codes, lowest, lowest + n_levels - 1))
