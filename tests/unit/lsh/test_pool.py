"""Codes shared by rows: directions, biases, levels, and what rows make of them; by hand and by count."""

import json
from pathlib import Path

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.lsh.generator import Stream, words
from repsketch.lsh.pool import CodePool, PooledRows

F = np.float32
VECTORS = json.loads((Path(__file__).parents[3] / "docs/spec/vectors.json").read_text())


def pool(kind="sparse", n_codes=50, n_features=6, **options) -> CodePool:
    return CodePool(kind, n_codes, n_features, **{"seed": 3, **options})


def stored(columns, thresholds, n_features=6, width_bits=None) -> CodePool:
    number = F if width_bits is None else np.int32
    return CodePool(
        "threshold", len(columns), n_features, width_bits=width_bits,
        columns=np.array(columns), thresholds=np.array(thresholds, number),
    )  # fmt: skip


def points(n=200, p=6, width_bits=None, seed=0) -> np.ndarray:
    z = np.random.default_rng(seed).normal(size=(p, n))
    return z.astype(F) if width_bits is None else np.rint(z * 20).astype(np.int32)


# -- directions ---------------------------------------------------------------------------------


def test_axes_come_first_whatever_the_kind():
    for kind in ("ternary", "sparse"):
        directions = pool(kind, n_axes=4).directions
        np.testing.assert_array_equal(directions[:4], np.eye(4, 6, dtype=np.int8))
        np.testing.assert_array_equal(directions[4:], pool(kind).directions[4:])


def test_ternary_directions_are_those_of_the_paper():
    """Those of the first code of row c, as the specification's test vectors list them."""
    vectors = [vector for vector in VECTORS["ternary"] if vector["code"] == 0]
    assert len(vectors) == 2
    for vector in vectors:
        drawn = pool("ternary", vector["row"] + 1, len(vector["directions"]), seed=vector["seed"]).directions
        assert drawn[vector["row"]].tolist() == vector["directions"]


def test_stored_directions():
    assert stored([5, 0, 5], [0.0, 1.0, 2.0]).directions.tolist() == [
        [0, 0, 0, 0, 0, 1],
        [1, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 1],
    ]


@pytest.mark.parametrize("p", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_sparse_directions_are_those_of_the_page(p, most):
    """Words 0, 1, ... of (c, 0): how many, and for each a position among those not yet taken."""
    drawn = pool(n_codes=80, n_features=p, n_nonzeros=most).directions
    for code, direction in enumerate(drawn):
        word = [int(w) for w in words(3, Stream.SPARSE, 1, 1, 4, first_row=code)[0, 0]]
        left, wanted = list(range(p)), np.zeros(p, np.int8)
        for i in range(1 + ((word[0] >> 16) * min(most, p) >> 16)):
            place = left.pop((word[i + 1] >> 1) * (p - i) >> 31)
            wanted[place] = -1 if word[i + 1] % 2 else 1
        np.testing.assert_array_equal(direction, wanted)


def test_sparse_directions_have_every_number_position_and_sign():
    directions = pool(n_codes=3000).directions
    counts = np.abs(directions).sum(axis=1)
    # 5 sigma of a share 1/3 of 3000, and of the mean 2/6 of all coordinates.
    assert (np.abs(np.bincount(counts, minlength=4)[1:] / 3000 - 1 / 3) < 5 * np.sqrt(2 / 9 / 3000)).all()
    assert (np.abs((directions != 0).mean(axis=0) - 1 / 3) < 5 * np.sqrt(2 / 9 / 3000)).all()
    assert abs((directions[directions != 0] > 0).mean() - 0.5) < 5 * 0.5 / np.sqrt(counts.sum())


def test_a_direction_does_not_depend_on_how_many_are_drawn():
    np.testing.assert_array_equal(pool(n_codes=10).directions, pool(n_codes=50).directions[:10])


# -- bits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("width_bits", [None, 3])
def test_bits_without_a_seed_are_signs(width_bits):
    codes, z = pool(width_bits=width_bits), points(width_bits=width_bits)
    assert not codes.biases.any()
    for code in range(50):
        sums = codes.directions[code].astype(np.float64) @ z
        clear = np.abs(sums) > 1e-5  # float32 rounds sums
        np.testing.assert_array_equal(codes.bits(z, code)[clear], (sums >= 0)[clear])


@pytest.mark.parametrize("width_bits", [None, 3])
def test_a_sum_on_the_threshold_is_a_1(width_bits):
    codes = stored([2, 2], [5, 5], width_bits=width_bits)
    z = np.zeros((6, 3), F if width_bits is None else np.int32)
    z[2] = 4, 5, 6
    assert codes.bits(z, 0).tolist() == [0, 1, 1]


def test_minus_zero_is_not_negative():
    codes = pool(n_codes=1, n_features=1, n_axes=1)
    assert codes.bits(np.array([[-0.0, 0.0, -1e-45]], F), 0).tolist() == [1, 1, 0]


def test_random_biases_have_the_deviation_that_the_docstring_says():
    """G is a sum of four bytes less 510: deviation sqrt(4 (2**16 - 1) / 12) = 147.8."""
    codes = pool("ternary", n_codes=4000, n_features=5, n_axes=4, is_seeded=True, bias_scale=1 / 148)
    single = codes.biases[np.abs(codes.directions).sum(axis=1) == 1].astype(np.float64)
    assert codes.biases.dtype == F
    assert len(single) > 1000
    assert abs(single.mean()) < 5 / np.sqrt(len(single))
    assert abs(single.std() - 1.0) < 5 / np.sqrt(2 * len(single))


def test_integer_biases_are_the_float_ones_rounded_down_term_by_term():
    options = {"n_codes": 400, "is_seeded": True}
    exact = pool(**options, bias_scale=37 / 256).biases.astype(np.float64)
    integers = pool(**options, bias_scale=37, width_bits=4)
    assert integers.biases.dtype == np.int32
    gaps = exact - integers.biases
    assert np.abs(gaps).max() < 3.001  # each of at most three terms is rounded down, then added or subtracted
    assert 0.3 < np.abs(gaps).mean() < 1.0


@pytest.mark.parametrize("width_bits", [None, 2])
def test_bits_of_booleans_ask_for_every_count_there_is(width_bits):
    """Of n booleans with n_minus subtracted the sum is -n_minus ... n - n_minus: biases split it, never at an end."""
    codes = pool(n_codes=600, booleans=np.ones(6, bool), is_seeded=True, width_bits=width_bits)
    found = set()
    for direction, bias in zip(codes.directions, codes.biases.tolist(), strict=True):
        n, n_minus = int(np.abs(direction).sum()), int((direction < 0).sum())
        assert bias == int(bias)
        assert 1 - n_minus <= bias <= n - n_minus
        found.add((n, n_minus, int(bias)))
    assert found == {(n, m, b) for n in (1, 2, 3) for m in range(n + 1) for b in range(1 - m, n - m + 1)}


def test_booleans_among_numbers_add_nothing_to_a_bias():
    booleans = np.array([True, False, True, False, True, False])
    options = {"n_codes": 300, "is_seeded": True, "bias_scale": 0.01}
    mixed, numbers = pool(**options, booleans=booleans), pool(**options)
    for code, direction in enumerate(mixed.directions):
        places = np.flatnonzero(direction)
        if not booleans[places].any():
            assert mixed.biases[code] == numbers.biases[code]
        elif not booleans[places].all():
            word = words(3, Stream.BIAS, 1, 1, len(places), first_row=code)[0, 0]
            wanted = F(0)
            for place, w in zip(places, word.tolist(), strict=True):  # the i-th non-zero has word i, boolean or not
                if not booleans[place]:
                    wanted += F(direction[place]) * (F(sum(w.to_bytes(4, "little")) - 510) * F(0.01))
            assert mixed.biases[code] == wanted


def test_a_direction_of_zeros_is_never_reached():
    """All of its none non-zeros are boolean: bias 1, sum 0."""
    codes = pool("ternary", n_codes=400, n_features=2, is_seeded=True, bias_scale=1.0)
    blank = np.flatnonzero(~codes.directions.any(axis=1))
    assert len(blank) > 50
    assert (codes.biases[blank] == 1).all()
    assert not codes.bits(points(p=2), int(blank[0])).any()


# -- levels -------------------------------------------------------------------------------------


def test_centred_levels_change_at_0():
    codes = pool(n_codes=1, n_features=1, n_axes=1, n_levels=4)
    z = np.array([[-9, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 9, 2.0**64]], F)
    assert codes.digits(z, 0).tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3]
    odd = pool(n_codes=1, n_features=1, n_axes=1, n_levels=3)  # the middle level lies around 0
    assert odd.digits(np.array([[-0.5000001, -0.5, 0.0, 0.4999999, 0.5]], F), 0).tolist() == [0, 1, 1, 1, 2]


def test_integer_levels_are_two_to_the_width_wide():
    codes = pool(n_codes=1, n_features=1, n_axes=1, n_levels=4, width_bits=3)
    z = np.array([[-99, -17, -16, -9, -8, -1, 0, 7, 8, 99]], np.int32)
    assert codes.digits(z, 0).tolist() == [0, 0, 0, 0, 1, 1, 2, 2, 3, 3]


def test_seeded_levels_start_at_the_middle_one_plus_an_offset():
    """The offset is that of the first code of row c, as the specification's test vectors list it."""
    vectors = [vector for vector in VECTORS["l2_offset"] if vector["code"] == 0]
    assert len(vectors) == 2
    for vector in vectors:
        options = {"n_codes": vector["row"] + 1, "n_levels": 5, "is_seeded": True, "seed": vector["seed"]}
        offset = float(np.array(int(vector["bits"], 16), np.uint32).view(F))
        assert 0.5 < offset < 1.0
        for interpolate in (False, True):
            assert pool(**options).starts(interpolate)[-1] == F(2 + offset)
        for width_bits, n_steps in ((6, int(64 * offset)), (1, 1), (0, 0)):  # an offset below one step is none
            start = pool(**options, width_bits=width_bits).starts(False)[-1]
            assert start == 2 * 2**width_bits + n_steps


def test_interpolation_is_centred_between_the_middle_levels():
    assert pool(n_levels=4).starts(True).tolist() == [1.5] * 50
    assert pool(n_levels=4, width_bits=3).starts(True).tolist() == [12] * 50
    assert pool(n_levels=3, width_bits=1).starts(False).tolist() == [3] * 50


@pytest.mark.parametrize(
    ("n_nonzeros", "shift"), [(0, 0), (1, 0), (2, 1), (3, 1), (4, 1), (7, 1), (8, 2), (31, 2), (32, 3)]
)
def test_normalised_sums_are_halved_with_every_second_bit(n_nonzeros, shift):
    options = {"n_codes": 600, "n_features": max(1, 3 * n_nonzeros), "n_levels": 4}
    codes = pool("ternary", **options, is_normalised=True)
    counts = np.abs(codes.directions).sum(axis=1)
    assert n_nonzeros in counts
    assert set(codes.shifts[counts == n_nonzeros].tolist()) == {shift}
    assert not pool("ternary", **options).shifts.any()


def test_a_normalised_integer_sum_is_rounded_down():
    codes = pool("sparse", n_codes=400, n_features=2, n_levels=8, is_normalised=True, width_bits=1)
    code = int(np.flatnonzero((codes.directions == [1, 1]).all(axis=1))[0])
    z = np.array([[-3, 3, -2], [0, 0, 1]], np.int32)  # sums -3, 3, -1
    assert codes.positions(z, code, interpolate=False).tolist() == [8 - 2, 8 + 1, 8 - 1]


# -- rows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_levels", [0, 2, 5])
@pytest.mark.parametrize("width_bits", [None, 4])
def test_a_bucket_is_the_number_that_the_digits_write(n_levels, width_bits):
    codes = pool(n_levels=n_levels, is_seeded=True, width_bits=width_bits)
    indices = np.random.default_rng(0).integers(0, 50, (7, 3))
    rows, z, base = PooledRows(codes, 7, 3, indices), points(width_bits=width_bits), n_levels or 2
    assert (rows.n_levels, rows.n_buckets, rows.n_features, rows.width_bits) == (base, base**3, 6, width_bits)
    for row in range(7):
        digits = [codes.digits(z, code) for code in indices[row]]
        np.testing.assert_array_equal(rows.buckets(z, row), sum(d * base**k for k, d in enumerate(digits)))


def test_rows_without_a_list_have_codes_of_their_own():
    codes = pool(n_codes=12)
    rows, z = PooledRows(codes, 4, 3), points()
    named = PooledRows(codes, 4, 3, np.arange(12).reshape(4, 3))
    for row in range(4):
        assert rows.codes_of(row).tolist() == [3 * row, 3 * row + 1, 3 * row + 2]
        np.testing.assert_array_equal(rows.buckets(z, row), named.buckets(z, row))


@pytest.mark.parametrize("width_bits", [None, 3])
def test_the_way_between_levels_is_continuous_and_ends_at_the_outer_ones(width_bits):
    codes = pool(n_codes=1, n_features=1, n_axes=1, n_levels=5, width_bits=width_bits)
    rows, width = PooledRows(codes, 1, interpolate=True), 1 if width_bits is None else 8
    z = np.arange(-30, 31)[None] if width_bits else (np.arange(-30, 31, dtype=F) / 8)[None]
    lower, way = rows.neighbours(z, 0)
    assert lower.min() == 0
    assert lower.max() == 3
    assert way.min() >= 0
    assert way.max() <= width
    np.testing.assert_array_equal(lower * width + way, np.clip(z[0] + 2 * width, 0, 4 * width))
    np.testing.assert_array_equal(rows.buckets(z, 0), lower)


def test_pools_have_no_accidental_collisions():
    assert PooledRows(pool(), 50).collision_rate == 0.0


# -- refused ------------------------------------------------------------------------------------

COLUMNS = {"columns": np.zeros(50, int), "thresholds": np.zeros(50, F)}
BAD_POOLS = {
    "kind": ({"kind": "gaussian"}, "kind='gaussian'; allowed are 'ternary', 'sparse', 'threshold'"),
    "no codes": ({"n_codes": 0}, "n_codes=0; allowed is an integer from 1 to 65536"),
    "too many codes": ({"n_codes": 65_537}, "n_codes=65537; allowed"),
    "too many coordinates": ({"n_features": 1_048_577}, "n_features=1048577; allowed"),
    "more axes than coordinates": ({"n_axes": 7}, "n_axes=7; allowed is an integer from 0 to 6"),
    "more axes than codes": ({"n_codes": 3, "n_axes": 4}, "n_axes=4; allowed is an integer from 0 to 3"),
    "non-zeros": ({"n_nonzeros": 4}, "n_nonzeros=4; allowed is an integer from 1 to 3"),
    "one level": ({"n_levels": 1}, "n_levels=1; allowed is an integer from 2 to 65536"),
    "width": ({"width_bits": 16}, "width_bits=16; allowed is an integer from 0 to 15"),
    "centred levels one step wide": ({"width_bits": 0, "n_levels": 3}, "width_bits=0; allowed is .* from 1 to 15"),
    "half in int": ({"width_bits": 3, "bias_scale": 0.5}, "bias_scale=0.5; allowed is an integer from 0 to 32767"),
    "a bias_scale below 0": ({"bias_scale": -1.0}, "bias_scale=-1.0; allowed is a number from 0"),
    "a huge bias_scale": ({"bias_scale": 2.0**41}, "bias_scale=.*; allowed is a number from 0"),
    "columns of a sparse pool": (COLUMNS, "columns and thresholds belong to kind='threshold', and only to it"),
    "a threshold pool without": ({"kind": "threshold"}, "columns and thresholds belong to kind='threshold'"),
    "thresholds alone": ({"kind": "threshold", "thresholds": np.zeros(50, F)}, "columns and thresholds belong"),
    "levels of thresholds": ({"kind": "threshold", **COLUMNS, "n_levels": 3}, "levels, axes and seeds have no place"),
    "axes of thresholds": ({"kind": "threshold", **COLUMNS, "n_axes": 3}, "levels, axes and seeds have no place"),
    "a seeded threshold": ({"kind": "threshold", **COLUMNS, "is_seeded": True}, "levels, axes and seeds have no place"),
    "columns beyond": ({"kind": "threshold", **COLUMNS, "columns": np.full(50, 6)}, "columns must be 50 numbers"),
    "columns below": ({"kind": "threshold", **COLUMNS, "columns": np.full(50, -1)}, "columns must be 50 numbers"),
    "too few columns": ({"kind": "threshold", **COLUMNS, "columns": np.zeros(9, int)}, "columns must be 50 numbers"),
    "too few thresholds": ({"kind": "threshold", **COLUMNS, "thresholds": np.zeros(9, F)}, "thresholds must be 50"),
    "NaN": ({"kind": "threshold", **COLUMNS, "thresholds": np.full(50, np.nan, F)}, "thresholds must be 50 finite"),
    # A file stores integer thresholds in one byte or two.
    "beyond two bytes": (
        {"kind": "threshold", "columns": np.zeros(50, int), "thresholds": np.full(50, 32_768), "width_bits": 2},
        "thresholds must be 50 integers of at most 32767",
    ),
    "half a threshold in int": (
        {"kind": "threshold", "columns": np.zeros(50, int), "thresholds": np.full(50, 0.5, F), "width_bits": 2},
        "thresholds must be 50 integers",
    ),
    "normalised bits": ({"is_normalised": True}, "is_normalised=True needs levels"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "words"), BAD_POOLS.values(), ids=BAD_POOLS)
def test_refused_pools(options, words):
    with pytest.raises(InputError, match=words):
        pool(**options)


BAD_ROWS = {
    "no rows": (lambda: PooledRows(pool(), 0), "n_rows=0; allowed is an integer from 1 to 65536"),
    "too many rows": (lambda: PooledRows(pool(), 65_537), "n_rows=65537; allowed"),
    "too many codes a row": (lambda: PooledRows(pool(), 1, 4_097), "n_concat=4097; allowed"),
    "too many buckets": (
        lambda: PooledRows(pool(n_codes=17), 1, 17),
        "2 levels of 17 codes; allowed are 65536 buckets",
    ),
    "bits between levels": (
        lambda: PooledRows(pool(), 50, interpolate=True),
        "interpolate=True needs levels and n_conc",
    ),
    "two codes between levels": (
        lambda: PooledRows(pool(n_levels=3), 25, 2, interpolate=True),
        "interpolate=True needs levels and n_concat=1",
    ),
    "codes left over": (lambda: PooledRows(pool(), 7, 7), "7 rows of 7 own codes need a pool of as many codes"),
    "indices of another shape": (
        lambda: PooledRows(pool(), 2, 2, np.zeros((2, 3), int)),
        r"indices must be \(2, 2\) numbers",
    ),
    "an index beyond": (lambda: PooledRows(pool(), 1, 2, np.array([[0, 50]])), "indices must be .* numbers below 50"),
    "an index below": (lambda: PooledRows(pool(), 1, 2, np.array([[0, -1]])), "indices must be"),
}


@pytest.mark.parametrize(("make", "words"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_refused_rows(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_the_largest_pool_is_made_at_once():
    """Nothing is drawn before it is needed."""
    rows = PooledRows(CodePool("sparse", 65_536, 1_048_576, n_levels=65_536), 65_536)
    assert rows.n_buckets == 65_536
    assert rows.pool.sparse_direction(65_535)[0][0] < 1_048_576
