"""The source of all randomness in a sketch: 32-bit words as a function of (seed, stream, row, code, index).

Nothing random is ever stored: a device that knows the seed computes the hash functions of one row
at a time. The words are Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: *Parallel random
numbers: as easy as 1, 2, 3*, SC 2011): additions, rotations and exclusive-ors of 32-bit words, so
they are the same on every machine. ``docs/spec/generator.md`` is the full specification.
"""

from enum import IntEnum
from typing import Any

import numpy as np

from ..errors import InputError

MAX_ROWS = 65_536
MAX_CONCAT = 4_096  # codes in a row: 12 bits of the counter
MAX_FEATURES = 1_048_576  # coordinates: 20 bits of the counter

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)


class Stream(IntEnum):
    """What a word is used for; words of different streams are independent."""

    TERNARY = 1
    GAUSSIAN = 2
    OFFSET = 3
    FOLD = 4
    PITCH = 5
    CELL = 6
    MINHASH = 7
    SPARSE = 8
    BIAS = 9


def threefry(key: tuple[Any, Any], counter: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Two words of Threefry-2x32-20 for a key of two words and a counter of two words.

    Parameters
    ----------
    key, counter : pairs of uint32 scalars or arrays that broadcast against each other

    >>> [hex(int(word)) for word in threefry((0, 0), (0, 0))]
    ['0x6b200159', '0x99ba4efe']
    """
    k0, k1 = (np.asarray(word, np.uint32) for word in key)
    schedule = (k0, k1, k0 ^ k1 ^ _PARITY)
    with np.errstate(over="ignore"):  # wrap-around is the arithmetic meant here
        x0 = np.asarray(counter[0], np.uint32) + k0
        x1 = np.asarray(counter[1], np.uint32) + k1
        for group in range(5):
            for rotation in _ROTATIONS[group % 2]:
                x0 = x0 + x1
                x1 = (x1 << np.uint32(rotation)) | (x1 >> np.uint32(32 - rotation))
                x1 = x1 ^ x0
            x0 = x0 + schedule[(group + 1) % 3]
            x1 = x1 + schedule[(group + 2) % 3] + np.uint32(group + 1)
    return x0, x1


def words(seed: int, stream: Stream, n_rows: int, n_codes: int, n_words: int, first_row: int = 0) -> np.ndarray:
    """The first ``n_words`` words of each code of each row, uint32 of shape (n_rows, n_codes, n_words).

    Word ``i`` of (row, code) is half ``i % 2`` of the block with key (seed, stream) and counter
    (row, code * 2**20 + i // 2).

    >>> [hex(int(word)) for word in words(0, Stream.TERNARY, 1, 1, 2)[0, 0]]
    ['0x1e3f1835', '0x6e752082']
    """
    row = np.arange(first_row, first_row + n_rows, dtype=np.uint32)[:, None, None]
    code = np.arange(n_codes, dtype=np.uint32)[None, :, None]
    block = np.arange((n_words + 1) // 2, dtype=np.uint32)[None, None, :]
    pair = threefry((seed, stream), (row, (code << np.uint32(20)) + block))
    return np.stack(np.broadcast_arrays(*pair), axis=-1).reshape(n_rows, n_codes, -1)[..., :n_words]


def to_unit(word: np.ndarray) -> np.ndarray:
    """The top 24 bits of each word as float32 in [0, 1); exact.

    >>> float(to_unit(np.uint32(0x80000000)))
    0.5
    """
    return ((word >> np.uint32(8)).astype(np.float32)) * np.float32(2.0**-24)


def to_ternary(word: np.ndarray, n_digits: int = 8) -> np.ndarray:
    """Eight draws from {-1, 0, +1} with probabilities 1/6, 2/3, 1/6 out of each word, int8 (..., n_digits).

    The word is read as a fraction and written in base 6, most significant digit first; digit 0
    stands for -1, digit 5 for +1, the others for 0.

    >>> to_ternary(np.uint32(0)).tolist(), to_ternary(np.uint32(0xFFFFFFFF)).tolist()
    ([-1, -1, -1, -1, -1, -1, -1, -1], [1, 1, 1, 1, 1, 1, 1, 1])
    """
    fraction = np.asarray(word).astype(np.uint64)
    digits = []
    for _ in range(n_digits):
        product = fraction * np.uint64(6)
        digits.append((product >> np.uint64(32)).astype(np.int8))
        fraction = product & np.uint64(0xFFFFFFFF)
    digit = np.stack(digits, axis=-1)
    return (digit == 5).astype(np.int8) - (digit == 0).astype(np.int8)


def logarithm(x: np.ndarray) -> np.ndarray:
    """Natural logarithm of positive float64, from exactly rounded operations only.

    Library logarithms differ in their last bit from machine to machine; this one does not. With
    x = m * 2**e and m in [sqrt(1/2), sqrt(2)): log x = e log 2 + 2 artanh((m - 1) / (m + 1)), the
    artanh by its series up to the 23rd power, evaluated by Horner's rule. Error below 1e-15 (relative to
    max(1, |log x|)).

    >>> abs(float(logarithm(np.float64(10.0))) - 2.302585092994046) < 1e-15
    True
    """
    mantissa, exponent = np.frexp(np.asarray(x, np.float64))
    low = mantissa < 0.7071067811865476
    mantissa = np.where(low, mantissa * 2.0, mantissa)
    exponent = exponent - low
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    series = np.full_like(square, 1.0 / 23.0)
    for power in range(21, 0, -2):
        series = series * square + 1.0 / power
    return exponent * 0.6931471805599453 + 2.0 * s * series


# Coefficients of PPND16 (Wichura, Algorithm AS 241, Applied Statistics 37, 1988), highest power first:
# the quantile of the normal distribution as ratios of polynomials of degree 7. AS 241's third ratio is
# for probabilities below 1e-11, which 32 bits do not reach.
_CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
     13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867,
     5394.1960214247511077, 687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
_OUTER = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: np.ndarray) -> np.ndarray:
    above, below = (np.zeros_like(x) for _ in range(2))
    for a, b in zip(*coefficients, strict=True):
        above, below = above * x + a, below * x + b
    return above / below


def to_gaussian(word: np.ndarray) -> np.ndarray:
    """One standard normal draw per word, float32: the quantile of (word + 1/2) / 2**32 by AS 241.

    Only exactly rounded float64 operations, then one rounding to float32, so the draw is the same
    everywhere; 32 bits reach out to 6.3 standard deviations.

    >>> to_gaussian(np.array([0, 0x80000000, 0xFFFFFFFF], np.uint32)).round(3).tolist()
    [-6.3379998207092285, 0.0, 6.3379998207092285]
    """
    q = (np.asarray(word).astype(np.float64) + 0.5) * 2.0**-32 - 0.5
    centre = q * _ratio(_CENTRE, 0.180625 - q * q)
    r = np.sqrt(-logarithm(0.5 - np.abs(q)))
    outer = np.copysign(_ratio(_OUTER, r - 1.6), q)
    return np.where(np.abs(q) <= 0.425, centre, outer).astype(np.float32)


def to_gamma2(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """One draw per pair of words from the Gamma distribution of shape 2 and scale 1, float64.

    >>> bool(to_gamma2(np.uint32(2**31), np.uint32(2**31)).round(4) == 1.3863)
    True
    """
    u, v = ((np.asarray(word).astype(np.float64) + 0.5) * 2.0**-32 for word in (first, second))
    return -(logarithm(u) + logarithm(v))


def resolve_seed(random_state: Any) -> int:
    """A 32-bit seed from an integer, a NumPy generator, or None for a fresh one.

    >>> resolve_seed(7)
    7
    """
    if random_state is None:
        return int(np.random.default_rng().integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**32, dtype=np.uint64))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**32:
        return int(random_state)
    raise InputError(
        f"random_state={random_state!r}; allowed are None, an integer from 0 to 4294967295 or a NumPy generator."
    )
