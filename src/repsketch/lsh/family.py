"""What every LSH family offers: sample functions, hash points, and the collision probability, its kernel.

A family turns a point into integer *codes* of at most 16 bits. Two points share a code with a
probability that is the family's kernel k; K independent codes agree together with probability k**K.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..checks import check_count, check_number
from ..data.arrays import as_table, check_finite, check_width, take_rows
from ..errors import InputError
from .generator import MAX_CONCAT, MAX_FEATURES, MAX_ROWS, resolve_seed

CODE_MIN, CODE_MAX = -32_768, 32_767
#: Coordinates saturate here, so that no sum of them can overflow float32 and turn into NaN.
COORDINATE_LIMIT = np.float32(2.0**64)


@dataclass(frozen=True)
class HashFunctions:
    """Hash functions drawn from a family: n_rows rows of n_concat codes over n_features coordinates.

    ``parameters`` are the drawn arrays, each of shape (n_rows, n_concat, ...); they are a function
    of the family and the seed and are never stored in a model.
    """

    seed: int
    n_rows: int
    n_concat: int
    n_features: int
    parameters: dict[str, np.ndarray]


class Family(ABC):
    """Base of the LSH families.

    Subclasses implement ``_draw``, ``row_codes``, ``integer_codes``, ``_kernel`` and ``_textbook``; for the int
    precision ``largest_sum`` and ``most_terms``; for the digest of a file ``entry_words`` and ``entry_bytes``. Whatever
    else differs between families is an attribute here, so that no other module compares names.
    ``native/rsk_family.c`` has the same as a table of functions.
    """

    name: ClassVar[str]
    #: Codes are 0/1 bits (sign random projections).
    is_binary: ClassVar[bool] = False
    #: Neighbouring codes belong to neighbouring points, so that they may be clamped to a few levels.
    has_ordered_codes: ClassVar[bool] = True
    #: Moving both points by the same vector leaves the kernel unchanged.
    is_shift_invariant: ClassVar[bool] = False
    #: Points may be moved by gradient descent and queries projected.
    is_differentiable: ClassVar[bool] = True
    #: The bucket width is a parameter, ``bandwidth``; of other families the width has no meaning.
    has_bandwidth: ClassVar[bool] = False
    #: Codes are sums along ``directions``, ternary or Gaussian.
    has_directions: ClassVar[bool] = False
    #: A code begins with one random offset of stream OFFSET.
    has_offset: ClassVar[bool] = False
    #: Sums of ternary directions that are hashed count modulo 2**16 in the int precision.
    wraps: ClassVar[bool] = False
    #: A point is the set of its non-zero coordinates.
    takes_sets: ClassVar[bool] = False
    #: ``row_kernel`` gives the kernel of the directions that were drawn.
    has_row_kernel: ClassVar[bool] = False
    #: Bytes of a coordinate of a code in an unpacked plan of the C runtime, where directions are not ternary.
    entry_nbytes: ClassVar[int] = 4

    @property
    def unit_scale(self) -> float:
        """What coordinates are multiplied by before hashing, so that a code costs additions only."""
        return 1.0

    @property
    def has_ternary_directions(self) -> bool:
        """A code costs additions only, of a third of the coordinates."""
        return self.file_parameters[1] == "ternary" and self.has_directions

    @property
    def file_parameters(self) -> tuple[float, str]:
        """Bandwidth and kind of the directions; 0 and "ternary" where the family has none."""
        return getattr(self, "bandwidth", 0.0), getattr(self, "directions", "ternary")

    @classmethod
    def from_parameters(cls, bandwidth: float, directions: str) -> "Family":
        """The family with those parameters that it has; undoes ``file_parameters``.

        >>> from repsketch import lsh
        >>> lsh.L1.from_parameters(2.0, "ternary"), lsh.MinHash.from_parameters(0.0, "ternary")
        (L1(bandwidth=2.0), MinHash())
        """
        given: dict[str, Any] = {"bandwidth": bandwidth} if cls.has_bandwidth else {}
        return cls(**given, **({"directions": directions} if cls.has_directions else {}))

    def with_bandwidth(self, bandwidth: float) -> "Family":
        """A family like this one with another bucket width; itself where widths have no meaning.

        >>> from repsketch import lsh
        >>> lsh.L2(bandwidth=1.0).with_bandwidth(2.0), lsh.MinHash().with_bandwidth(2.0)
        (L2(bandwidth=2.0, directions='ternary'), MinHash())
        """
        if not self.has_bandwidth:
            return self
        return type(self)(**{**vars(self), "bandwidth": bandwidth})

    def sample(self, n_features: int, n_rows: int = 1, n_concat: int = 1, random_state: Any = 0) -> HashFunctions:
        """Draw ``n_rows`` x ``n_concat`` hash functions for points with ``n_features`` coordinates.

        >>> from repsketch import lsh
        >>> lsh.L2(bandwidth=2.0).sample(n_features=3, n_rows=5).parameters["directions"].shape
        (5, 1, 3)
        """
        check_count("n_features", n_features, MAX_FEATURES)
        check_count("n_rows", n_rows, MAX_ROWS)
        check_count("n_concat", n_concat, MAX_CONCAT)
        seed = resolve_seed(random_state)
        parameters = self._draw(seed, n_rows, n_concat, n_features)
        return HashFunctions(seed, n_rows, n_concat, n_features, parameters)

    def hash(self, points: Any, functions: HashFunctions) -> np.ndarray:
        """Codes of every point under every function, int32 of shape (n, n_rows, n_concat).

        >>> from repsketch import lsh
        >>> family = lsh.Angular()
        >>> family.hash([[1.0, 2.0], [2.0, 4.0]], family.sample(2, n_rows=3)).shape
        (2, 3, 1)
        """
        table = as_table(points, "points")
        check_width(table, functions.n_features, "points")
        block = check_finite(take_rows(table, 0, table.shape[0]), name="points")
        scaled = self.in_units(block)
        rows = [self.row_codes(scaled, functions, row) for row in range(functions.n_rows)]
        return np.ascontiguousarray(np.moveaxis(np.stack(rows), 2, 0), dtype=np.int32)

    def in_units(self, block: np.ndarray) -> np.ndarray:
        """Points (n, p) as ``row_codes`` takes them: float32 (p, n) times ``unit_scale``, saturated."""
        with np.errstate(over="ignore"):
            return saturate(np.ascontiguousarray(block.T, dtype=np.float32) * np.float32(self.unit_scale))

    def collision_probability(self, x: Any, y: Any, n_concat: int = 1) -> np.ndarray:
        """Probability that x and y share all of ``n_concat`` codes, float64.

        Parameters
        ----------
        x, y : array_like of shape (..., p); the leading axes broadcast
        n_concat : number of concatenated codes, K

        >>> from repsketch import lsh
        >>> lsh.L1(bandwidth=1.0).collision_probability([0.0, 0.0], [1.0, 1.0]).round(3)
        np.float64(0.135)
        """
        check_count("n_concat", n_concat, MAX_CONCAT)
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        return self._kernel(x, y) ** n_concat

    def closed_form(self, x: Any, y: Any, n_concat: int = 1) -> np.ndarray:
        """The family's textbook kernel for every pair of x (n, p) and y (m, p), float64 (n, m).

        Equal to ``collision_probability`` but for ternary directions, whose Gaussian limit it is
        (erratum 3), and for the 16-bit mixing of codes (1 / 65536).

        >>> from repsketch import lsh
        >>> lsh.L1(bandwidth=1.0).closed_form([[0.0], [1.0]], [[0.0]]).round(3).tolist()
        [[1.0], [0.368]]
        """
        check_count("n_concat", n_concat, MAX_CONCAT)
        x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        result = np.empty((len(x), len(y)))
        for j, point in enumerate(y):
            result[:, j] = self._textbook(x, point)
        return result**n_concat

    @abstractmethod
    def _draw(self, seed: int, n_rows: int, n_concat: int, n_features: int) -> dict[str, np.ndarray]:
        """The drawn arrays of ``HashFunctions.parameters``."""

    @abstractmethod
    def row_codes(self, scaled: np.ndarray, functions: HashFunctions, row: int) -> np.ndarray:
        """Codes (K, n) of one row for points given as float32 ``scaled`` (p, n), already times ``unit_scale``."""

    @abstractmethod
    def integer_codes(
        self, z: np.ndarray, functions: HashFunctions, row: int, width_bits: int, wraps: bool
    ) -> np.ndarray:
        """Codes (K, n) of one row in the int precision: integer ``z`` (p, n), bucket width 2**``width_bits``.

        ``wraps``: the codes will be hashed, so sums of ternary directions may be taken modulo 2**16.
        """

    @classmethod
    @abstractmethod
    def largest_sum(cls, directions: str, n_features: int, largest: int, width: int) -> int:
        """Bound of the integer sum behind a code, for coordinates of size at most ``largest`` and this bucket width."""

    @abstractmethod
    def most_terms(self, functions: HashFunctions) -> int:
        """Largest sum of sizes of the entries of a code, as integers; at least 1."""

    @abstractmethod
    def entry_words(self, n: int) -> tuple[int, int]:
        """Stream and number of the words that the first n entries of a code are drawn from."""

    @abstractmethod
    def entry_bytes(self, word: np.ndarray, n: int) -> bytes:
        """The first n entries of a code out of these words, as the digest of a file takes them, little-endian."""

    @abstractmethod
    def _kernel(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Collision probability of one code for float64 arrays of one shape (..., p)."""

    @abstractmethod
    def _textbook(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """``closed_form`` of one code for float64 x (n, p) and one point y (p,)."""


def check_bandwidth(value: Any) -> float:
    """Return a bucket width as float; within these limits its reciprocal is a normal float32."""
    return check_number("bandwidth", value, 1e-30, 1e30)


def check_family(family: Any) -> "Family":
    """Return ``family`` if it is an instance of one."""
    if not isinstance(family, Family):
        raise InputError(f"family={family!r}; allowed is a family such as lsh.L2(bandwidth=1.0).")
    return family


def sum_along_direction(scaled: np.ndarray, direction: np.ndarray, start: np.float32) -> np.ndarray:
    """``start`` plus the coordinates of ``scaled`` (p, n) along ``direction`` (p,), float32 (n,).

    Coordinates are added one after the other in rising order, each sum rounded to float32: the
    order is specified, so that every runtime gets the same bits. A coordinate whose
    direction is 0 is skipped, +1 is an addition, -1 a subtraction.
    """
    total = np.full(scaled.shape[1], start, np.float32)
    for coordinate in np.flatnonzero(direction):
        step = direction[coordinate]
        if step == 1:
            total += scaled[coordinate]
        elif step == -1:
            total -= scaled[coordinate]
        else:
            total += scaled[coordinate] * step
    return total


def integer_sums(directions: np.ndarray, z: np.ndarray, starts: Any = 0) -> np.ndarray:
    """``starts`` (K,) plus integer ``directions`` (K, p) times integer ``z`` (p, n), exact, int64 (K, n)."""
    # A float64 product of integers is exact below 2**53, and far faster than NumPy's integer product.
    return (directions.astype(np.float64) @ z.astype(np.float64)).astype(np.int64) + np.reshape(starts, (-1, 1))


def clamp_code(codes: np.ndarray) -> np.ndarray:
    """Integer codes saturated to 16 bits, int32."""
    return np.clip(codes, CODE_MIN, CODE_MAX).astype(np.int32)


def saturate(coordinates: np.ndarray) -> np.ndarray:
    """Float32 coordinates clamped to what can be hashed without overflow."""
    return np.clip(coordinates, -COORDINATE_LIMIT, COORDINATE_LIMIT)


def floor_code(values: np.ndarray) -> np.ndarray:
    """Floor of float32 values as int32, saturated to 16 bits before the conversion."""
    return clamp_code(np.floor(values))
