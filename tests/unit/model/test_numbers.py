"""Short floats and packed sizes, against what they are defined to be."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from repsketch.errors import InputError
from repsketch.model.numbers import (
    check_integers,
    decode_bfloat16,
    decode_float8,
    encode_bfloat16,
    encode_float8,
    float8_bias,
    index_bits,
    packed_nbytes,
    round_floats,
)

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
moderate = st.floats(-(2.0**100), 2.0**100, width=32)
BYTES = np.arange(256, dtype=np.uint8)


def test_packed_sizes():
    assert [packed_nbytes(n, 4) for n in (0, 1, 2, 3)] == [0, 1, 1, 2]
    assert [packed_nbytes(8, bits) for bits in (0, 1, 10, 32)] == [0, 1, 10, 32]
    assert packed_nbytes(65_536 * 65_536, 16) == 2**33  # no 32-bit arithmetic in between


def test_bits_of_an_index():
    assert [index_bits(n) for n in (1, 2, 3, 4, 5, 256, 257, 65_536, 1_048_576)] == [0, 1, 2, 2, 3, 8, 9, 16, 20]
    for n in range(1, 600):
        assert n - 1 < 2 ** index_bits(n) <= max(1, 2 * (n - 1))


# -- float8 -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [-126, -7, 0, 100])
def test_every_byte_of_float8_means_what_the_format_says(bias):
    for byte, value in zip(BYTES.tolist(), decode_float8(BYTES, bias).tolist(), strict=True):
        m = byte % 128
        size = 0 if m == 0 else (1 + Fraction(m % 8, 8)) * Fraction(2) ** (m // 8 + bias)
        assert Fraction(value) == (-size if byte >= 128 else size)


@pytest.mark.parametrize("bias", [-126, -7, 0, 100])
def test_float8_comes_back(bias):
    values = decode_float8(BYTES, bias)
    codes = encode_float8(values, bias)
    assert codes.dtype == np.uint8
    np.testing.assert_array_equal(codes, np.where(BYTES == 128, 0, BYTES))  # -0 is 0


@given(st.floats(2.0**-12, 2.0**16, width=32), st.sampled_from([-1.0, 1.0]))
def test_float8_is_the_nearest_that_can_be_stored(size, sign):
    stored = decode_float8(BYTES, 0).astype(np.float64)
    found = float(decode_float8(encode_float8(np.array([sign * size], np.float32), 0), 0)[0])
    assert abs(found - sign * size) == np.abs(stored - sign * size).min()


def test_the_largest_of_an_array_sets_the_range_of_float8():
    values = np.array([3.0, 96.0, -1.5e-3, 1e-3, 0.0], np.float32)
    assert float8_bias(values) == 6 - 15  # 96 is 1.5 * 2**6, the 16th power of two
    assert round_floats(values, "float8").tolist() == [3.0, 96.0, -(2.0**-9) * 1.125, 0.0, 0.0]
    assert float8_bias(np.zeros(3, np.float32)) == 0
    assert float8_bias(np.array([1e-45, 1e-38], np.float32)) == -126
    assert float8_bias(np.array([3e38], np.float32)) == 100


def test_float8_keeps_three_bits():
    values = np.exp(np.random.default_rng(0).normal(size=1000)).astype(np.float32)
    error = np.abs(round_floats(values, "float8") / values - 1.0)
    assert 0.05 < error.max() <= 2.0**-4  # half a step of eight


# -- bfloat16 -----------------------------------------------------------------------------------


@given(floats)
def test_bfloat16_is_the_nearest_halves_to_even(x):
    half = int(np.float32(x).view(np.uint32)) >> 16
    below, above = (decode_bfloat16(np.array([h], np.uint16)).astype(np.float64)[0] for h in (half, half + 1))
    found = encode_bfloat16(np.array([x], np.float32))[0]
    gaps = abs(x - below), abs(above - x)  # an infinite neighbour is infinitely far: only the upper half may reach it
    if np.isinf(above):
        assert found in (half, half + 1)
    elif gaps[0] == gaps[1]:
        assert found in (half, half + 1)
        assert found % 2 == 0
    else:
        assert found == (half if gaps[0] < gaps[1] else half + 1)


def test_bfloat16_comes_back():
    halves = np.arange(65_536, dtype=np.uint32).astype(np.uint16)
    values = decode_bfloat16(halves)
    finite = np.isfinite(values)
    np.testing.assert_array_equal(encode_bfloat16(values[finite]), halves[finite])


# -- both ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("stored_as", ["float32", "bfloat16", "float8"])
@given(st.lists(moderate, min_size=1, max_size=8))
def test_rounding_twice_is_rounding_once(stored_as, values):
    once = round_floats(np.array(values, np.float32), stored_as)
    assert once.dtype == np.float32
    np.testing.assert_array_equal(round_floats(once, stored_as), once)


def test_float32_stays():
    values = np.array([0.1, 1e-45, 3e38], np.float32)
    assert round_floats(values, "float32").tobytes() == values.tobytes()
    assert round_floats(np.array([0.1]), "float32").dtype == np.float32


# -- what a type can hold -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "dtype", "largest"), [("int16", np.int16, 32_767), ("int8", np.int8, 127), ("int4", np.int8, 7)]
)
def test_integer_types_leave_the_most_negative_number_unused(kind, dtype, largest):
    check_integers("counters", np.array([-largest, 0, largest], dtype), kind)
    check_integers("counters", np.empty(0, dtype), kind)
    for bad in (-largest - 1, largest + 1):
        if np.iinfo(dtype).min <= bad <= np.iinfo(dtype).max:
            with pytest.raises(InputError, match=f"counters reach beyond {largest}, the largest size of '{kind}'"):
                check_integers("counters", np.array([bad], dtype), kind)
    with pytest.raises(InputError, match=f"counters have dtype int64; '{kind}' is stored as"):
        check_integers("counters", np.array([1], np.int64), kind)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_floats_must_be_finite(bad):
    check_integers("counters", np.array([3e38], np.float32), "float32")
    with pytest.raises(InputError, match="counters hold NaN or infinities"):
        check_integers("counters", np.array([1.0, bad], np.float32), "float32")
