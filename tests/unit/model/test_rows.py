"""Rows of counters: how they are read, added up and decoded, by hand; section 3 of the specification."""

import numpy as np
import pytest

from repsketch import lsh
from repsketch.errors import InputError
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model.rows import RowGroup, largest_code_sum, threshold_nbytes

F = np.float32
GAIN = np.ones(1, F)
LARGEST = 2**31 - 1


def axes(n_rows: int, n_levels: int = 0, width_bits: int | None = None, interpolate: bool = False) -> PooledRows:
    """Row l reads coordinate l: its sign, or its level around the middle one."""
    pool = CodePool("sparse", n_rows, n_rows, n_levels=n_levels, n_axes=n_rows, width_bits=width_bits)
    return PooledRows(pool, n_rows, interpolate=interpolate)


def counters(*rows, kind=F) -> np.ndarray:
    """Counters (L, R, q); a plain number stands for q = 1."""
    table = np.array(rows, kind)
    return table[..., None] if table.ndim == 2 else table


def accumulate(group: RowGroup, *points) -> list:
    """Accumulators point by point."""
    dtype = np.int32 if group.is_integer else F
    found = group.accumulate(np.array(points, dtype).T)
    assert found.dtype == (np.int64 if group.is_integer else F)
    return found.tolist()


THREE = counters([1, 10], [2, 20], [4, 40])  # negative, not negative
POINTS = [[-1, -1, -1], [1, -1, 0], [5, 0, -0.5]]


def test_sum_and_mean():
    sums = [[7.0], [52.0], [34.0]]
    assert accumulate(RowGroup(axes(3), THREE, GAIN, aggregate="sum"), *POINTS) == sums
    means = [[float(F(total) / F(3))] for (total,) in sums]
    assert accumulate(RowGroup(axes(3), THREE, GAIN), *POINTS) == means


def test_integer_means_are_sums():
    points = [[-1, -1, -1], [1, -1, 0]]
    for aggregate in ("sum", "mean"):
        group = RowGroup(axes(3, width_bits=0), THREE.astype(np.int8), GAIN, "int8", aggregate=aggregate)
        assert accumulate(group, *points) == [[7], [52]]


def test_rows_are_added_in_rising_order():
    table = counters([0, 1e8], [0, 1], [0, -1e8])
    assert accumulate(RowGroup(axes(3), table, GAIN, aggregate="sum"), [1, 1, 1]) == [[0.0]]
    assert accumulate(RowGroup(axes(3), table[[0, 2, 1]], GAIN, aggregate="sum"), [1, 1, 1]) == [[1.0]]


@pytest.mark.parametrize(("n_groups", "middle"), [(1, 35 / 5), (2, (1.5 + 32 / 3) / 2), (3, 3.0), (5, 4.0)])
def test_median_of_means(n_groups, middle):
    # Groups of 5 rows: 5 | 2 3 | 1 2 2 | one each.
    table = counters(*[[0, s] for s in (1, 2, 4, 8, 20)])
    group = RowGroup(axes(5), table, GAIN, aggregate="median_of_means", n_groups=n_groups)
    assert accumulate(group, [1] * 5)[0][0] == F(middle)


@pytest.mark.parametrize(("n_groups", "middle"), [(1, 47), (2, 7 + 40), (3, 12), (6, 4 + 8)])
def test_integer_medians_are_of_sums_and_even_ones_are_not_halved(n_groups, middle):
    table = counters(*[[0, s] for s in (1, 2, 4, 8, 20, 12)], kind=np.int8)
    group = RowGroup(axes(6, width_bits=0), table, GAIN, "int8", aggregate="median_of_means", n_groups=n_groups)
    assert accumulate(group, [1] * 6) == [[middle]]


def test_several_numbers_a_counter():
    table = counters([[1, 2], [3, 4]], [[10, 20], [30, 40]])
    group = RowGroup(axes(2), table, np.ones(2, F), aggregate="sum")
    assert group.n_outputs == 2
    assert accumulate(group, [-1, 1], [1, 1]) == [[31.0, 42.0], [33.0, 44.0]]


# -- between levels -----------------------------------------------------------------------------


def test_floats_between_levels():
    group = RowGroup(axes(1, 3, interpolate=True), counters([10, 20, 40]), GAIN, aggregate="sum")
    # Three levels around 0: level 1 is its middle.
    points = [[-9.0], [-1.0], [-0.25], [0.0], [0.5], [1.0], [9.0], [2.0**64]]
    assert accumulate(group, *points) == [[10.0], [10.0], [17.5], [20.0], [30.0], [40.0], [40.0], [40.0]]
    assert group.hashes.buckets(np.array(points, F).T, 0).tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_integers_between_levels():
    group = RowGroup(
        axes(1, 3, 2, interpolate=True), counters([10, 20, 40], kind=np.int8), GAIN, "int8", aggregate="sum"
    )
    points = [[-99], [-4], [-1], [0], [2], [4], [99]]
    assert accumulate(group, *points) == [[40], [40], [70], [80], [120], [160], [160]]
    assert group.hashes.buckets(np.array(points, np.int32).T, 0).tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_two_levels_are_one_step():
    group = RowGroup(axes(1, 2, interpolate=True), counters([0, 8]), GAIN, aggregate="sum")
    assert accumulate(group, [-0.5], [-0.25], [0.0], [0.5]) == [[0.0], [2.0], [4.0], [8.0]]


# -- decoding -----------------------------------------------------------------------------------


def test_a_decode_matrix_of_rows():
    decode = np.array([[1, -1], [10, 0], [0, 100]], F)
    group = RowGroup(axes(3), THREE, GAIN, aggregate="sum", row_decode=decode)
    assert group.n_outputs == 2
    assert accumulate(group, *POINTS) == [[21.0, 399.0], [30.0, 3990.0], [210.0, 390.0]]
    integer = RowGroup(
        axes(3, width_bits=0), THREE.astype(np.int8), GAIN, "int8", aggregate="sum", row_decode=decode.astype(np.int8)
    )
    assert accumulate(integer, [-1, -1, -1]) == [[21, 399]]


def test_a_shared_decode_matrix():
    table = counters([[1, 2], [3, 4]], [[10, 20], [30, 40]])
    decode = np.array([[1, 0, 2], [0, -1, 0.5]], F)
    group = RowGroup(axes(2), table, GAIN, aggregate="sum", shared_decode=decode)
    assert group.n_outputs == 3
    assert accumulate(group, [-1, 1]) == [[31.0, -42.0, 62.0 + 21.0]]


def test_bits_are_dropped_before_a_integer_shared_decode():
    table = counters([[-5, 7], [-6, 9]], kind=np.int8)
    decode = np.array([[3], [10]], np.int8)
    options = {"aggregate": "sum", "shared_decode": decode}
    for shift, value in ((0, -5 * 3 + 7 * 10), (1, -3 * 3 + 3 * 10), (31, -1 * 3)):
        group = RowGroup(axes(1, width_bits=0), table, GAIN, "int8", **options, decode_shift=shift)
        assert accumulate(group, [-1]) == [[value]]


def test_a_decoded_mean_is_decoded_after_the_division():
    decode = np.array([[3.0]], F)
    group = RowGroup(axes(3), THREE, GAIN, shared_decode=decode)
    assert accumulate(group, [-1, -1, -1]) == [[float(F(F(7) / F(3)) * F(3))]]


# -- bounds -------------------------------------------------------------------------------------


def integer_group(table, **options) -> RowGroup:
    return RowGroup(axes(len(table), width_bits=0), table, GAIN, "int16", **{"aggregate": "sum", **options})


def test_bounds_of_the_counters():
    """The largest of a row counts, whichever bucket holds it."""
    rows = RowHashes(lsh.L2(1.0), 65_536, 2, 1, width_bits=0)
    table = np.zeros((65_536, 2, 1), np.int16)
    table[::2, 0], table[1::2, 1] = 32_767, -32_767
    RowGroup(rows, table, GAIN, "int16", aggregate="sum").check_bounds(1)  # 65536 * 32767 = 2147418112
    decode = np.full((517, 1), -127, np.int8)
    integer_group(table[:516], row_decode=decode[:516]).check_bounds(1)  # 516 * 32767 * 127 = 2147287044
    with pytest.raises(InputError, match=f"a sum could reach {517 * 32_767 * 127}; 32 bits hold {LARGEST}"):
        integer_group(table[:517], row_decode=decode).check_bounds(1)


def test_interpolation_counts_in_the_bounds():
    table = np.full((3, 2, 1), 32_767, np.int16)
    rows = axes(3, 2, 15, interpolate=True)
    with pytest.raises(InputError, match=f"a sum could reach {3 * 32_767 * 2**15}; 32 bits hold {LARGEST}"):
        RowGroup(rows, table, GAIN, "int16", aggregate="sum").check_bounds(1)
    RowGroup(axes(2, 2, 15, interpolate=True), table[:2], GAIN, "int16", aggregate="sum").check_bounds(1)


def test_decoding_counts_in_the_bounds():
    table = np.full((1, 2, 600), 32_767, np.int16)
    decode = np.full((600, 1), 127, np.int8)
    with pytest.raises(InputError, match=f"a sum could reach {600 * 32_768 * 127}"):
        integer_group(table, shared_decode=decode).check_bounds(1)
    integer_group(table, shared_decode=decode, decode_shift=1).check_bounds(1)


WIDTH = 5
CODE_SUMS = {
    "ternary pool": (PooledRows(CodePool("ternary", 2, 7, n_levels=4, width_bits=WIDTH), 2), 7 * 10 + 4 * 32),
    "ternary pool of bits": (PooledRows(CodePool("ternary", 2, 7, width_bits=WIDTH), 2), 7 * 10 + 2 * 32),
    "sparse pool": (PooledRows(CodePool("sparse", 2, 7, n_levels=4, width_bits=WIDTH), 2), 3 * 10 + 4 * 32),
    "sparse pool of two": (PooledRows(CodePool("sparse", 2, 2, n_levels=4, width_bits=WIDTH), 2), 2 * 10 + 4 * 32),
    "L2": (RowHashes(lsh.L2(1.0), 2, 4, 7, width_bits=WIDTH), 7 * 10 + 32),
    "L2 Gaussian": (RowHashes(lsh.L2(1.0, "gaussian"), 2, 4, 7, width_bits=WIDTH), 512 * 7 * 10 + 64 * 32),
    "angular": (RowHashes(lsh.Angular(), 2, 4, 7, width_bits=WIDTH), 512 * 7 * 10 + 64 * 32),
    "angular ternary": (RowHashes(lsh.Angular("ternary"), 2, 4, 7, width_bits=WIDTH), 7 * 10 + 32),
    "L1": (RowHashes(lsh.L1(1.0), 2, 4, 7, width_bits=WIDTH), 32_767 * 10 + 256 * 32),
    "MinHash": (RowHashes(lsh.MinHash(), 2, 4, 7, width_bits=WIDTH), 0),
}


@pytest.mark.parametrize(("hashes", "bound"), CODE_SUMS.values(), ids=CODE_SUMS)
def test_bounds_of_codes(hashes, bound):
    assert largest_code_sum(hashes, 10) == bound


def test_codes_that_could_overflow_are_refused():
    rows = RowHashes(lsh.L2(1.0), 1, 2, 65_536, width_bits=0)
    group = RowGroup(rows, np.zeros((1, 2, 1), np.int8), GAIN, "int8")
    group.check_bounds(32_767)
    with pytest.raises(
        InputError, match=f"a sum could reach {65_536 * 32_768 + 1}; .*Use smaller counters or fewer rows"
    ):
        group.check_bounds(32_768)


# -- sizes --------------------------------------------------------------------------------------


def test_nbytes():
    table = np.zeros((3, 2, 1), np.int8)
    assert RowGroup(axes(3), THREE, GAIN).nbytes == 6 * 4 + 4
    assert RowGroup(axes(3, width_bits=0), table, GAIN, "int8").nbytes == 6 + 4
    assert RowGroup(axes(3, width_bits=0), table, GAIN, "int4").nbytes == 3 + 4
    assert RowGroup(axes(3, width_bits=0), table.astype(np.int16), GAIN, "int16").nbytes == 12 + 4
    decode = np.zeros((3, 5), np.int8)
    assert RowGroup(axes(3, width_bits=0), table, np.ones(5, F), "int4", row_decode=decode).nbytes == 3 + 20 + 15
    short = RowGroup(axes(3, width_bits=0), table, np.ones(5, F), "int4", row_decode=decode, decode_bits=4)
    assert short.nbytes == 3 + 20 + 8
    pool = CodePool("sparse", 1000, 3)
    rows = PooledRows(pool, 2, 3, np.zeros((2, 3), int))
    assert RowGroup(rows, np.zeros((2, 8, 1), F), GAIN).nbytes == 64 + 4 + 8  # six indices of ten bits


@pytest.mark.parametrize(("largest", "size"), [(127, 1), (128, 2), (-127, 1), (-128, 2)])
def test_nbytes_of_thresholds(largest, size):
    thresholds = np.array([0, largest], np.int32)
    assert threshold_nbytes(thresholds, 0) == size
    assert threshold_nbytes(thresholds, None) == 4
    pool = CodePool("threshold", 2, 9, width_bits=0, columns=np.array([8, 0]), thresholds=thresholds)
    group = RowGroup(PooledRows(pool, 1, 2), np.zeros((1, 4, 1), np.int8), GAIN, "int8")
    assert group.nbytes == 4 + 4 + 1 + 2 * size  # counters, gain, two columns of four bits, thresholds


def test_sizes_of_a_group_of_rows():
    group = RowGroup(axes(3), THREE, GAIN)
    assert (group.n_rows, group.n_outputs, group.is_integer, group.interpolates, group.decode) == (
        3,
        1,
        False,
        False,
        None,
    )


# -- refused ------------------------------------------------------------------------------------

W = axes(3, width_bits=0)
I8 = THREE.astype(np.int8)
BAD = {
    "counter type": (
        lambda: RowGroup(axes(3), THREE, GAIN, "int2"),
        "counter_type='int2'; allowed are 'float32', 'int16'",
    ),
    "another dtype": (
        lambda: RowGroup(axes(3), THREE, GAIN, "int8"),
        "counters have dtype float32; 'int8' is stored as int8",
    ),
    "too large": (lambda: RowGroup(W, I8, GAIN, "int4"), "counters reach beyond 7"),
    "floats in int": (
        lambda: RowGroup(W, THREE, GAIN),
        "counter_type='float32' in the int precision; allowed are 'int16'",
    ),
    "NaN": (lambda: RowGroup(axes(3), THREE * F("nan"), GAIN), "counters hold NaN or infinities"),
    "shape": (lambda: RowGroup(axes(3), THREE[:2], GAIN), r"counters of shape \(2, 2, 1\) for 3 rows of 2 buckets"),
    "dimensions": (lambda: RowGroup(axes(3), THREE[..., 0], GAIN), r"counters of shape \(3, 2\) for 3 rows"),
    "source": (lambda: RowGroup(axes(3), THREE, GAIN, source="z"), "source='z'; allowed are 'values', 'projected'"),
    "aggregate": (
        lambda: RowGroup(axes(3), THREE, GAIN, aggregate="max"),
        "aggregate='max'; allowed are 'sum', 'mean'",
    ),
    "groups": (
        lambda: RowGroup(axes(3), THREE, GAIN, n_groups=2),
        "n_groups=2 with aggregate='mean'; use 'median_of_means'",
    ),
    "more groups than rows": (
        lambda: RowGroup(axes(3), THREE, GAIN, aggregate="median_of_means", n_groups=4),
        "n_groups=4; allowed is an integer from 1 to 3",
    ),
    "unequal groups": (
        lambda: RowGroup(W, I8, GAIN, "int8", aggregate="median_of_means", n_groups=2),
        "median_of_means goes without a decode matrix and, in the int precision, with equal groups",
    ),
    "a decoded median": (
        lambda: RowGroup(
            axes(3), THREE, GAIN, aggregate="median_of_means", n_groups=3, shared_decode=np.ones((1, 1), F)
        ),
        "median_of_means goes without a decode matrix",
    ),
    "two decodes": (
        lambda: RowGroup(axes(3), THREE, GAIN, shared_decode=np.ones((1, 1), F), row_decode=np.ones((3, 1), F)),
        "a shared decode matrix or one of rows, not both",
    ),
    "a shared decode of another size": (
        lambda: RowGroup(axes(3), THREE, GAIN, shared_decode=np.ones((2, 1), F)),
        "a shared decode matrix of 2 rows for 1 numbers",
    ),
    "a decode of other rows": (
        lambda: RowGroup(axes(3), THREE, GAIN, row_decode=np.ones((2, 1), F)),
        "one row for each row",
    ),
    "a decode of several counters": (
        lambda: RowGroup(axes(1), counters([[1, 2], [3, 4]]), GAIN, row_decode=np.ones((1, 3), F)),
        "needs one row for each row of counters, and single counters",
    ),
    "a short decode in float32": (
        lambda: RowGroup(axes(3), THREE, GAIN, row_decode=np.ones((3, 1), F), decode_bits=4),
        "decode_bits=4; allowed are 8, and 4 with a decode in the int precision",
    ),
    "no decode to be short": (lambda: RowGroup(W, I8, GAIN, "int8", decode_bits=4), "decode_bits=4; allowed are 8"),
    "a decode of three bits": (
        lambda: RowGroup(W, I8, GAIN, "int8", row_decode=np.ones((3, 1), np.int8), decode_bits=3),
        "decode_bits=3; allowed are 8",
    ),
    "a decode beyond four bits": (
        lambda: RowGroup(W, I8, GAIN, "int8", row_decode=np.full((3, 1), 8, np.int8), decode_bits=4),
        "the decode matrix reach beyond 7",
    ),
    "an integer decode in float32": (
        lambda: RowGroup(axes(3), THREE, GAIN, row_decode=np.ones((3, 1), np.int8)),
        "the decode",
    ),
    "a float decode in int": (
        lambda: RowGroup(W, I8, GAIN, "int8", row_decode=np.ones((3, 1), F)),
        "the decode matrix",
    ),
    "decode shift": (
        lambda: RowGroup(W, I8, GAIN, "int8", decode_shift=32),
        "decode_shift=32; allowed is .* from 0 to 31",
    ),
    "a decode shift without a decode": (lambda: RowGroup(W, I8, GAIN, "int8", decode_shift=1), "decode_shift"),
    "a decode shift in float32": (
        lambda: RowGroup(axes(3), THREE, GAIN, shared_decode=np.ones((1, 1), F), decode_shift=1),
        "decode_shift",
    ),
    "gains": (lambda: RowGroup(axes(3), THREE, np.ones(2, F)), "gain must be 1 or 1 finite numbers other than 0"),
    "a gain of 0": (
        lambda: RowGroup(axes(3), THREE, np.zeros(1, F)),
        "gain must be 1 or 1 finite numbers other than 0",
    ),
    "an infinite gain": (lambda: RowGroup(axes(3), THREE, np.full(1, np.inf, F)), "gain must be"),
    "a float64 gain": (lambda: RowGroup(axes(3), THREE, np.ones(1)), "gain"),
}


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD)
def test_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
