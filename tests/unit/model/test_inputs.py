"""Columns become values: section 1 of the specification, by hand."""

from math import inf, nan

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.model.inputs import Inputs
from repsketch.model.numbers import round_floats

F = np.float32
MIXED = {"kinds": np.array([0, 1, 3, 0])}


def floats(*values) -> np.ndarray:
    return np.array(values, F)


def values_of(inputs: Inputs, *rows) -> list:
    """Values row by row."""
    return inputs.values(np.array(rows, F)).T.tolist()


def test_numbers_are_themselves_without_a_scaler():
    inputs = Inputs(3)
    X = np.array([[0.1, -1e-45, 3.0]], F)
    assert inputs.values(X).dtype == F
    np.testing.assert_array_equal(inputs.values(X), X.T)


def test_every_kind_of_column_in_order():
    inputs = Inputs(4, **MIXED)
    assert inputs.n_values == 6
    assert inputs.booleans.tolist() == [False, True, True, True, True, False]
    assert values_of(inputs, [2.5, -0.5, 2.0, 7.0]) == [[2.5, 1.0, 0.0, 0.0, 1.0, 7.0]]
    assert values_of(inputs, [0.0, 0.0, 0.0, 0.0]) == [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize("number", [-1.0, 0.5, 3.0, 1e30, -1e-45, 2.0000002])
def test_a_number_that_is_no_category_gives_zeros(number):
    assert values_of(Inputs(1, kinds=np.array([3])), [number]) == [[0.0, 0.0, 0.0]]
    assert values_of(Inputs(1, kinds=np.array([3])), [-0.0]) == [[1.0, 0.0, 0.0]]


def test_only_the_used_columns_are_read_and_scalers_belong_to_the_numeric_ones():
    inputs = Inputs(
        6, columns=np.array([1, 2, 5]), kinds=np.array([0, 1, 0]), centers=floats(1.0, 2.0), scales=floats(10.0, 100.0)
    )
    assert (inputs.n_columns, inputs.n_numeric, inputs.n_values) == (3, 2, 3)
    assert values_of(inputs, [9, 4.0, 5.0, 9, 9, 4.0]) == [[30.0, 1.0, 200.0]]


def test_one_center_and_one_scale_serve_all_columns():
    inputs = Inputs(2, centers=floats(1.0), scales=floats(2.0))
    assert values_of(inputs, [3.0, 5.0]) == [[4.0, 8.0]]


def test_subtraction_and_product_are_rounded_each():
    """(4.5 + 3.8) * 4.5: rounded once, at the end, the float32 below 37.35 would be nearer than the one above."""
    inputs = Inputs(1, centers=floats(-3.8), scales=floats(4.5))
    above, below = F(37.350002), F(37.35)
    assert np.nextafter(above, F(0)) == below
    assert values_of(inputs, [4.5]) == [[float(above)]]
    assert F((4.5 - float(F(-3.8))) * 4.5) == below


def test_huge_numbers_saturate():
    inputs = Inputs(2, centers=floats(-3e38), scales=floats(1e10))
    assert values_of(inputs, [3e38, 0.0], [-3e38, -3.4e38]) == [[2.0**64, 2.0**64], [0.0, -(2.0**64)]]


def test_integer_values_are_clamped_then_rounded_halves_to_even():
    inputs = Inputs(1, limits=(-3, 6))
    rows = [[x] for x in (0.5, 1.5, 2.5, -0.5, -1.5, 2.4999998, 6.5, 1e30, -1e30, -3.5, 5.5)]
    assert inputs.values(np.array(rows, F)).dtype == np.int32
    assert values_of(inputs, *rows) == [[0], [2], [2], [0], [-2], [2], [6], [6], [-3], [-3], [6]]


def test_integer_values_at_the_largest_limits():
    inputs = Inputs(1, scales=floats(1e30), limits=(-32_767, 32_767), accepts_missing=True)
    assert values_of(inputs, [3e38], [-3e38], [nan], [0.0]) == [[32_767], [-32_767], [-32_768], [0]]
    assert inputs.largest == 32_768


def test_missing_values_lie_below_all_others():
    kinds = np.array([0, 1, 2])
    row = [nan, nan, nan]
    assert values_of(Inputs(3, kinds=kinds, accepts_missing=True), row) == [[-(2.0**64), 0.0, 0.0, 0.0]]
    assert values_of(Inputs(3, kinds=kinds, limits=(-5, 9), accepts_missing=True), row) == [[-6, 0, 0, 0]]
    centered = Inputs(1, centers=floats(7.0), scales=floats(0.1), accepts_missing=True)
    assert values_of(centered, [nan]) == [[-(2.0**64)]]  # a missing value is not scaled


def test_are_boolean_agrees_with_the_table():
    inputs = Inputs(5, kinds=np.array([4, 0, 1, 2, 0]))
    places = list(range(inputs.n_values))
    assert inputs.are_boolean(places).tolist() == inputs.booleans.tolist()
    assert inputs.are_boolean([4, 0]).tolist() == [False, True]


def test_the_largest_value():
    assert Inputs(2).largest == 1
    assert Inputs(2, limits=(-5, 9)).largest == 9
    assert Inputs(2, limits=(-10, 9), accepts_missing=True).largest == 11
    assert Inputs(2, kinds=np.array([1, 7]), limits=(-5, 9), accepts_missing=True).largest == 1


def test_nbytes():
    assert Inputs(100).nbytes == 0
    assert Inputs(100, kinds=np.ones(100, int)).nbytes == 0
    assert Inputs(100, columns=np.arange(9)).nbytes == 8  # nine times seven bits
    assert Inputs(4, **MIXED).nbytes == 8
    for stored_as, size in (("float32", 4), ("bfloat16", 2), ("float8", 1)):
        assert Inputs(4, centers=floats(0.5), scales=floats(1, 2, 4, 8), stored_as=stored_as).nbytes == 5 * size


BAD = {
    "no columns": ({"n_features": 0}, "n_features=0; allowed is an integer from 1 to 1048576"),
    "too many columns": ({"n_features": 1_048_577}, "n_features=1048577; allowed"),
    "columns that fall": ({"columns": np.array([2, 1])}, "columns must rise, from 0 to below n_features=4"),
    "columns twice": ({"columns": np.array([1, 1])}, "columns must rise"),
    "columns beyond": ({"columns": np.array([1, 4])}, "columns must rise"),
    "columns below": ({"columns": np.array([-1, 2])}, "columns must rise"),
    "none of the columns": ({"columns": np.array([], int)}, "columns must rise"),
    "too few kinds": ({"kinds": np.array([0, 1])}, "2 kinds for 4 columns; one for each is needed"),
    "negative kinds": ({"kinds": np.array([0, 1, -1, 0])}, "kinds must be 0, 1, or a number of categories up to 65535"),
    "too many categories": ({"kinds": np.array([0, 1, 65_536, 0])}, "kinds must be 0, 1"),
    "too many values": ({"n_features": 20, "kinds": np.full(20, 60_000)}, "give 1200000 values; allowed are 1048576"),
    "two scales": ({"scales": floats(1, 2)}, "2 scales for 4 numeric columns; one, or one for each"),
    "two centers": ({"centers": floats(1, 2)}, "2 centers for 4 numeric columns; one, or one for each"),
    "scales without numbers": ({"kinds": np.ones(4, int), "scales": floats(1)}, "1 scales for 0 numeric columns"),
    "a scale of 0": ({"scales": floats(0)}, "scales must be finite numbers, scales above 0|finite"),
    "a scale below 0": ({"scales": floats(-1)}, "scales above 0"),
    "NaN as a center": ({"centers": floats(nan)}, "centers must be finite"),
    "an infinite scale": ({"scales": floats(inf)}, "scales must be finite"),
    "float64": ({"centers": np.array([0.5])}, "centers .*float32"),
    "stored as": ({"stored_as": "float16"}, "stored_as='float16'; allowed are 'float32', 'bfloat16', 'float8'"),
    "more than bfloat16 holds": ({"scales": floats(1.001), "stored_as": "bfloat16"}, "not what 'bfloat16' can hold"),
    "more than float8 holds": ({"scales": floats(1.0625), "stored_as": "float8"}, "not what 'float8' can hold"),
    "limits": ({"limits": (5, 5)}, r"limits=\(5, 5\); allowed is -32767 <= low < high <= 32767"),
    "limits beyond": ({"limits": (-32_768, 5)}, r"limits=\(-32768, 5\); allowed"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "words"), BAD.values(), ids=BAD)
def test_refused(options, words):
    with pytest.raises(InputError, match=words):
        Inputs(**{"n_features": 4, **options})


def test_rounded_scalers_are_accepted():
    values = np.exp(np.random.default_rng(0).normal(size=4)).astype(F)
    for stored_as in ("bfloat16", "float8"):
        rounded = round_floats(values, stored_as)
        assert Inputs(4, scales=rounded, stored_as=stored_as).scales is rounded
