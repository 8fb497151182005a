"""How numbers are stored: the types of counters and matrices, and short floats for scales."""

import numpy as np

from ..errors import InputError

#: Largest size of a stored counter, by type; the most negative integer is not used.
LARGEST = {"float32": np.inf, "int16": 32_767, "int8": 127, "int4": 7}
#: The type in memory.
DTYPES = {"float32": np.float32, "int16": np.int16, "int8": np.int8, "int4": np.int8}
BITS = {"float32": 32, "int16": 16, "int8": 8, "int4": 4}

STORED_FLOATS = ("float32", "bfloat16", "float8")
FLOAT8_MANTISSA = 8  # steps between two powers of two
FLOAT8_EXPONENTS = 16  # powers of two that one array may span
_BLOCK = 8_192  # numbers rounded together


def packed_nbytes(n: int, n_bits: int) -> int:
    """Bytes of n numbers of ``n_bits`` each, packed without gaps.

    >>> packed_nbytes(3, 10)
    4
    """
    return -(-n * n_bits // 8)


def index_bits(n: int) -> int:
    """Bits of an index below n.

    >>> index_bits(1024), index_bits(1)
    (10, 0)
    """
    return (n - 1).bit_length()


def float8_bias(values: np.ndarray) -> int:
    """Exponent of the smallest size an 8-bit array can hold so that its largest fits; int8."""
    sizes = np.abs(values[values != 0])
    if not len(sizes):
        return 0
    return int(np.clip(np.frexp(sizes.max())[1] - 1 - (FLOAT8_EXPONENTS - 1), -126, 100))


def encode_float8(values: np.ndarray, bias: int) -> np.ndarray:
    """Bytes (n,) of float32 ``values``: a sign, four bits of exponent above ``bias``, three of mantissa; 0 is 0.

    Values are rounded to the nearest that can be stored.
    """
    sizes = np.abs(values).astype(np.float64)
    mantissa, exponent = np.frexp(sizes)
    steps = np.rint((2.0 * mantissa - 1.0) * FLOAT8_MANTISSA).astype(np.int64)
    codes = (exponent - 1 - bias) * FLOAT8_MANTISSA + steps
    # Byte 0 means 0: the smallest size is one step above the smallest power of two.
    is_zero = 2.0 * sizes <= np.ldexp(1.0 + 1.0 / FLOAT8_MANTISSA, bias)
    codes = np.where(is_zero, 0, np.clip(codes, 1, FLOAT8_EXPONENTS * FLOAT8_MANTISSA - 1))
    return (codes | np.where((values < 0) & (codes > 0), 128, 0)).astype(np.uint8)


def decode_float8(codes: np.ndarray, bias: int) -> np.ndarray:
    """Float32 (n,) of bytes that ``encode_float8`` wrote.

    >>> decode_float8(encode_float8(np.array([1.0, -1.125, 0.0]), -3), -3).tolist()
    [1.0, -1.125, 0.0]
    """
    sizes = codes.astype(np.int64) & 127
    size = np.ldexp(1.0 + (sizes % FLOAT8_MANTISSA) / FLOAT8_MANTISSA, sizes // FLOAT8_MANTISSA + bias)
    return np.where(sizes == 0, 0.0, np.where(codes & 128, -size, size)).astype(np.float32)


def encode_bfloat16(values: np.ndarray) -> np.ndarray:
    """Upper halves (n,) uint16 of float32 ``values``, rounded to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + np.uint64(0x7FFF) + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype(np.uint16)


def decode_bfloat16(halves: np.ndarray) -> np.ndarray:
    """Float32 (n,) with the given upper halves.

    >>> decode_bfloat16(encode_bfloat16(np.array([1.0, -2.5]))).tolist()
    [1.0, -2.5]
    """
    return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)


def round_floats(values: np.ndarray, stored_as: str) -> np.ndarray:
    """``values`` (n,) rounded as they are stored, float32.

    >>> round_floats(np.array([3.14159]), "float8").tolist()
    [3.25]
    """
    values = np.asarray(values, np.float32)
    if stored_as == "bfloat16":
        return decode_bfloat16(encode_bfloat16(values))
    if stored_as == "float8":
        bias = float8_bias(values)
        # In blocks: the intermediate float64 numbers take many times the memory of the stored bytes.
        pieces = np.split(values, range(_BLOCK, len(values), _BLOCK))
        return np.concatenate([decode_float8(encode_float8(piece, bias), bias) for piece in pieces])
    return values


def encode_floats(values: np.ndarray, stored_as: str) -> np.ndarray:
    """Float32 ``values`` (n,) as they are stored: uint8 for "float8", uint16 for "bfloat16", else themselves.

    >>> encode_floats(np.array([1.0, 3.0], np.float32), "float8").dtype
    dtype('uint8')
    """
    if stored_as == "float8":
        return encode_float8(values, float8_bias(values))
    return encode_bfloat16(values) if stored_as == "bfloat16" else values


def check_floats(name: str, array: np.ndarray, shape: tuple[int, ...] | None = None) -> None:
    """Refuse an array that is not float32, which would change the precision of the arithmetic, or of another shape."""
    if array.dtype != np.float32 or (shape is not None and array.shape != shape):
        wanted = "" if shape is None else f" and shape {shape}"
        raise InputError(f"{name} have dtype {array.dtype} and shape {array.shape}; needed is dtype float32{wanted}.")


def check_integers(name: str, array: np.ndarray, counter_type: str) -> None:
    """Refuse an array that its stored type cannot hold."""
    if array.dtype != DTYPES[counter_type]:
        raise InputError(
            f"{name} have dtype {array.dtype}; {counter_type!r} is stored as {DTYPES[counter_type].__name__}."
        )
    if counter_type == "float32":
        if not np.isfinite(array).all():
            raise InputError(f"{name} hold NaN or infinities.")
    elif array.size and max(int(array.max()), -int(array.min())) > LARGEST[counter_type]:
        raise InputError(f"{name} reach beyond {LARGEST[counter_type]}, the largest size of {counter_type!r}.")
