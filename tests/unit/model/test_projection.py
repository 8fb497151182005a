"""Values become coordinates: section 2 of the specification, by hand."""

from math import nan

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.model.projection import Projection

F = np.float32
A = np.array([[1, -2], [3, 4], [0, 5]], np.int8)  # (D, p)
LARGEST = 2**31 - 1


def apply(projection: Projection, *rows) -> list:
    """Coordinates row by row."""
    dtype = F if projection.limit is None else np.int32
    found = projection.apply(np.array(rows, dtype).T)
    assert found.dtype == dtype
    return found.T.tolist()


def shift32(*values) -> np.ndarray:
    return np.array(values, F)


def integer(matrix=A, kind="int8", **options) -> Projection:
    return Projection(kind, matrix.shape[1], matrix, **{"limit": 32_767, **options})


def test_shift_alone():
    projection = Projection("shift", 2, shift=shift32(0.5, -1.0))
    assert apply(projection, [1.0, 1.0], [2.0**64, -(2.0**64)]) == [[1.5, 0.0], [2.0**64, -(2.0**64)]]


def test_float_matrix_with_and_without_a_shift():
    matrix = A.astype(F)
    assert apply(Projection("float32", 2, matrix), [1, 2, 3]) == [[7.0, 21.0]]
    assert apply(Projection("float32", 2, matrix, shift=shift32(0.5, -1)), [1, 2, 3]) == [[7.5, 20.0]]


def test_the_shift_comes_first_and_rows_in_rising_order():
    # 1e8 + 1 - 1e8 is 0 in float32, where 1e8 - 1e8 + 1 would be 1.
    matrix = np.array([[1.0], [-1e8]], F)
    assert apply(Projection("float32", 1, matrix, shift=shift32(1e8)), [1.0, 1.0]) == [[0.0]]
    assert apply(Projection("float32", 1, matrix[::-1].copy(), shift=shift32(1e8)), [1.0, 1.0]) == [[1.0]]


@pytest.mark.parametrize("kind", ["int8", "ternary"])
def test_integer_matrix_in_float32_is_scaled_last_and_shifted_after_that(kind):
    matrix = np.sign(A) if kind == "ternary" else A
    sums = np.array([1.0, 2.0, 3.0]) @ matrix
    projection = Projection(kind, 2, matrix, scales=shift32(0.5, -2), shift=shift32(1, 10))
    assert apply(projection, [1, 2, 3]) == [[sums[0] * 0.5 + 1.0, sums[1] * -2.0 + 10.0]]
    assert apply(Projection(kind, 2, matrix, scales=shift32(0.5, -2)), [1, 2, 3]) == [[sums[0] * 0.5, sums[1] * -2.0]]


def test_floats_saturate_at_last():
    projection = Projection("float32", 1, np.array([[2.0**40], [-(2.0**40)]], F))
    top = 2.0**64
    assert apply(projection, [top, 0], [0, top], [top, top], [-top, top]) == [[top], [-top], [0.0], [-top]]


def test_integers():
    assert apply(integer(), [1, 2, 3]) == [[7, 21]]
    assert apply(integer(shift=np.array([-8, 100], np.int32)), [1, 2, 3]) == [[-1, 121]]


def test_the_right_shift_is_a_floor_after_shift_and_multiplier():
    options = {"shift": np.array([-8, 1], np.int32), "multipliers": np.array([3, 5], np.int16), "right_shift": 2}
    assert apply(integer(**options), [1, 2, 3]) == [[-1, 27]]  # -3 / 4 and 110 / 4, rounded down
    assert apply(integer(right_shift=31), [1, 2, 3], [-1, -1, -1]) == [[0, 0], [-1, -1]]


def test_integer_coordinates_are_clamped_to_the_limit():
    assert apply(integer(limit=10), [1, 2, 3], [-9, -9, -9]) == [[7, 10], [-10, -10]]


def test_bounds_of_the_integer_sums_are_sharp():
    matrix = np.array([[127], [-127]], np.int8)  # |A| sums up to 254
    room = LARGEST - 254 * 1000
    for sign in (-1, 1):
        integer(matrix, shift=np.array([sign * room], np.int32)).check_bounds(1000)
        with pytest.raises(InputError, match=f"a projected sum could reach {LARGEST + 1}; 32 bits hold {LARGEST}"):
            integer(matrix, shift=np.array([sign * (room + 1)], np.int32)).check_bounds(1000)


def test_multipliers_count_in_the_bounds():
    matrix = np.array([[100]], np.int8)
    allowed = integer(matrix, multipliers=np.array([32_767], np.int16))
    allowed.check_bounds(655)  # 32767 * 100 * 655 = 2146238500
    with pytest.raises(InputError, match="a projected sum could reach 2149515200"):
        allowed.check_bounds(656)


def test_the_extremes_of_the_bounds_are_computed_exactly():
    matrix = np.full((32, 2), 127, np.int8)
    projection = integer(matrix, multipliers=np.array([16, 16], np.int16), right_shift=17)
    projection.check_bounds(32_767)
    extreme = (127 * 32_767 * 32 * 16) >> 17
    assert apply(projection, [32_767] * 32, [-32_767] * 32) == [[extreme] * 2, [-extreme - 1] * 2]


def test_nbytes():
    assert Projection("shift", 3, shift=np.zeros(3, F)).nbytes == 12
    assert Projection("float32", 2, A.astype(F), shift=np.zeros(2, F)).nbytes == 24 + 8
    assert integer(shift=np.zeros(2, np.int32), multipliers=np.ones(2, np.int16)).nbytes == 6 + 8 + 4
    assert integer(np.sign(A), "ternary").nbytes == 2  # six times two bits
    assert Projection("ternary", 2, np.sign(A), scales=np.ones(2, F)).nbytes == 2 + 8


f32 = A.astype(F)
BAD = {
    "kind": (lambda: Projection("int16", 2, A), "kind='int16'; allowed are 'shift', 'float32', 'int8', 'ternary'"),
    "nothing": (lambda: Projection("float32", 2), "a projection has a matrix, or it is of kind 'shift'"),
    "a shift without one": (lambda: Projection("shift", 2), "a projection has a matrix, or it is of kind 'shift'"),
    "a shift with a matrix": (
        lambda: Projection("shift", 2, f32, shift=shift32(1, 2)),
        "a projection has a matrix, or",
    ),
    "int8 of -128": (
        lambda: integer(np.array([[-128]], np.int8)),
        "a int8 projection holds int8 numbers of at most 127",
    ),
    "ternary of 2": (lambda: integer(A, "ternary"), "a ternary projection holds int8 numbers of at most 1"),
    "int8 of another type": (lambda: integer(A.astype(np.int16)), "a int8 projection holds int8 numbers"),
    "floats as integers": (
        lambda: Projection("float32", 2, f32, limit=100),
        "kind='float32' in the int precision",
    ),
    "a shift in the int precision": (
        lambda: Projection("shift", 2, shift=np.zeros(2, np.int32), limit=5),
        "kind='shift' in the int precision",
    ),
    "limit": (lambda: integer(limit=0), "limit=0; allowed is an integer from 1 to 32767"),
    "a larger limit": (lambda: integer(limit=32_768), "limit=32768; allowed"),
    "right shift": (lambda: integer(right_shift=32), "right_shift=32; allowed is an integer from 0 to 31"),
    "a multiplier of 0": (lambda: integer(multipliers=np.array([1, 0], np.int16)), "multipliers must be above 0"),
    "huge entries": (lambda: Projection("float32", 2, f32 * F(2.0**40)), "projection holds values beyond 1e.12 or NaN"),
    "NaN": (lambda: Projection("float32", 2, f32 * F(nan)), "projection holds values beyond 1e.12 or NaN"),
    "a huge shift": (lambda: Projection("shift", 1, shift=shift32(2.0**41)), "shift holds values beyond"),
    "a huge scale": (lambda: Projection("int8", 2, A, scales=shift32(1, 2.0**41)), "scales holds values beyond"),
    # An integer matrix in float32 has scales, and they are not 0; nothing else has any.
    "no scales": (lambda: Projection("int8", 2, A, shift=shift32(1, 2)), "scales"),
    "a scale of 0": (lambda: Projection("ternary", 2, np.sign(A), scales=shift32(1, 0)), "scales"),
    "scales of floats": (lambda: Projection("float32", 2, f32, scales=shift32(1, 2)), "scales"),
    "scales of integers": (lambda: integer(scales=shift32(1, 2)), "scales"),
    "multipliers in float32": (lambda: Projection("float32", 2, f32, multipliers=np.ones(2, np.int16)), "multipliers"),
    "a right shift in float32": (lambda: Projection("float32", 2, f32, right_shift=3), "right_shift"),
    # Shapes and types: what is not float32 would be computed in another precision.
    "another number of components": (lambda: Projection("float32", 3, f32), "matrix"),
    "one component too few": (lambda: integer(shift=np.zeros(1, np.int32)), "shift"),
    "shift of another length": (lambda: Projection("shift", 2, shift=shift32(1)), "shift"),
    "multipliers of another length": (lambda: integer(multipliers=np.ones(1, np.int16)), "multipliers"),
    "a float64 matrix": (lambda: Projection("float32", 2, A.astype(float)), "matrix"),
    "a float64 shift": (lambda: Projection("shift", 1, shift=np.ones(1)), "shift"),
    "a shift of floats among integers": (lambda: integer(shift=shift32(1, 2)), "shift"),
}


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD)
def test_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()
