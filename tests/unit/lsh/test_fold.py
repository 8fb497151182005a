"""From codes to buckets: plain integer arithmetic, and every bucket is reached."""

import pickle

import numpy as np
import pytest

from repsketch import _native, lsh
from repsketch.errors import InputError
from repsketch.lsh.fold import draw_multipliers, fold_collision_rate, fold_direct, fold_universal, levels_for, mix
from repsketch.lsh.rows import RowHashes


@pytest.mark.parametrize("n_concat", [1, 2, 5])
@pytest.mark.parametrize("n_buckets", [2, 3, 100, 65_536])
def test_the_universal_fold_in_plain_integers(n_concat, n_buckets):
    codes = np.random.default_rng(0).integers(-(2**15), 2**15, size=(n_concat, 40)).astype(np.int32)
    codes[:, :3] = -(2**15), 2**15 - 1, 0
    addends, multipliers = draw_multipliers(7, n_rows=3, n_concat=n_concat)
    for row in range(3):
        expected = []
        for column in codes.T:
            total = int(addends[row])
            for code, multiplier in zip(column, multipliers[row], strict=True):
                total += (int(code) % 2**16) * int(multiplier)
            expected.append((((total % 2**32) >> 16) * n_buckets) >> 16)
        buckets = fold_universal(codes, addends[row], multipliers[row], n_buckets)
        assert buckets.tolist() == expected
        native = np.empty(40, np.int64)
        _native.fold(7, row, np.ascontiguousarray(codes.T), n_buckets, native)
        assert native.tolist() == expected


def test_mix_counts_codes_modulo_16_bits():
    multipliers = np.array([0x9E3779B1], np.uint32)
    low, high = (mix(np.array([[code]]), np.uint32(3), multipliers) for code in (-1, 0xFFFF))
    assert low == high


@pytest.mark.parametrize("n_buckets", [2, 3, 7, 16, 1000, 65_536])
def test_collision_rate_by_counting(n_buckets):
    buckets = (np.arange(65_536) * n_buckets) >> 16
    shares = np.bincount(buckets, minlength=n_buckets) / 65_536
    assert fold_collision_rate(n_buckets) == pytest.approx((shares**2).sum(), rel=1e-12)


def test_the_direct_fold_is_a_number_in_base_n_levels():
    """Levels -2, -1, 0 and 1 are the digits 0 to 3; codes beyond them are the outer digits."""
    codes = np.array([[-3, -1, 0, 2, 9], [0, 1, -2, 5, -9]])  # digits 0 1 2 3 3 and 2 3 0 3 0, the lowest first
    assert fold_direct(codes, n_levels=4, lowest=-2).tolist() == [8, 13, 2, 15, 3]


@pytest.mark.parametrize(("n_buckets", "n_concat", "n_levels"), [(2, 1, 2), (8, 3, 2), (1000, 3, 10), (65_536, 16, 2)])
def test_levels(n_buckets, n_concat, n_levels):
    assert levels_for(n_buckets, n_concat) == n_levels


@pytest.mark.parametrize(("n_buckets", "n_concat", "example"), [(10, 2, 9), (2, 3, 8), (65_535, 2, 65_536)])
def test_buckets_that_no_levels_fill(n_buckets, n_concat, example):
    with pytest.raises(InputError, match=rf"n_buckets={n_buckets} .*for example {example}.*universal"):
        levels_for(n_buckets, n_concat)


ROWS = {
    "universal": RowHashes(lsh.L2(1.0), n_rows=5, n_buckets=6, n_features=3, n_concat=2, seed=4),
    "direct l2": RowHashes(lsh.L2(1.0), n_rows=5, n_buckets=9, n_features=3, n_concat=2, seed=4, fold="direct"),
    "direct signs": RowHashes(lsh.Angular(), n_rows=5, n_buckets=4, n_features=3, n_concat=2, seed=4, fold="direct"),
    "minhash": RowHashes(lsh.MinHash(), n_rows=5, n_buckets=6, n_features=3, seed=4),
}


@pytest.mark.parametrize("hashes", ROWS.values(), ids=ROWS)
class TestRows:
    def test_every_bucket_is_reached_and_no_other(self, hashes):
        points = np.random.default_rng(0).normal(size=(3, 4_000)).astype(np.float32) * 2
        if hashes.family.name == "minhash":
            points = np.eye(3, dtype=np.float32)
        for row in range(5):
            buckets = hashes.buckets(points, row)
            assert buckets.dtype == np.int64
            assert buckets.min() >= 0
            assert buckets.max() < hashes.n_buckets
        if hashes.family.name != "minhash":
            everywhere = np.concatenate([hashes.buckets(points, row) for row in range(5)])
            assert len(np.unique(everywhere)) == hashes.n_buckets

    def test_equal_by_definition_and_small_in_a_pickle(self, hashes):
        points = np.random.default_rng(0).normal(size=(3, 50)).astype(np.float32)
        before = hashes.buckets(points, 2)
        data = pickle.dumps(hashes)
        copy = pickle.loads(data)
        assert len(data) < 600  # the drawn functions are not in it
        assert copy == hashes
        np.testing.assert_array_equal(copy.buckets(points, 2), before)


def test_direct_levels_are_centred_on_zero():
    hashes = RowHashes(lsh.L2(1.0), n_rows=30, n_buckets=4, n_features=1, fold="direct")
    far = np.array([[-1e6, 0.0, 1e6]], np.float32)
    for row in range(30):
        sign = hashes.functions.parameters["directions"][row, 0, 0]
        assert hashes.buckets(far, row).tolist() == [[3, 2, 0], [2, 2, 2], [0, 2, 3]][sign + 1]


def test_collision_rate_of_rows():
    """Of 6 buckets, which hold 10,922 or 10,923 of the 2**16 values each; a direct fold merges no codes."""
    assert ROWS["universal"].collision_rate == pytest.approx(1 / 6, rel=1e-8)
    assert ROWS["direct l2"].collision_rate == ROWS["direct signs"].collision_rate == 0.0


@pytest.mark.parametrize("family", [lsh.MinHash(), lsh.L1(1.0)], ids=["minhash", "l1"])
def test_codes_without_order_are_not_folded_directly(family):
    with pytest.raises(InputError, match=f"'{family.name}', whose codes have no order; use fold='universal'"):
        RowHashes(family, n_rows=2, n_buckets=4, n_features=3, fold="direct")


def test_sign_bits_fill_exactly_a_power_of_two():
    with pytest.raises(InputError, match=r"n_buckets=9.*2\*\*n_concat = 4 buckets"):
        RowHashes(lsh.Angular(), n_rows=2, n_buckets=9, n_features=3, n_concat=2, fold="direct")
