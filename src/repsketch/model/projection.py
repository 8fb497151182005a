"""From values to the coordinates z that are hashed: section 2 of ``docs/spec/inference.md``."""

from dataclasses import dataclass

import numpy as np

from ..checks import check_choice, check_count
from ..display import repr_of_fields
from ..errors import InputError
from ..lsh.family import saturate
from .numbers import check_floats, packed_nbytes

KINDS = ("shift", "float32", "int8", "ternary")
LARGEST_ENTRY = 2.0**40  # times a saturated coordinate and a million features, this stays within float32
_LARGEST_INT, _LARGEST_INT16 = 2**31 - 1, 2**15 - 1


@dataclass(frozen=True, eq=False)
class Projection:
    """A^T v + shift, or v + shift alone.

    Attributes
    ----------
    kind : "shift", or the type of the matrix: "float32", "int8", "ternary"
    n_components : p
    matrix : (D, p) float32 or int8; None for "shift"
    scales : (p,) float32, for int8 and ternary matrices in the float32 precision
    shift : (p,) float32 or, in the int precision, int32; None for 0
    multipliers : (p,) int16 above 0, in the int precision; None for 1
    right_shift : bits dropped in the int precision
    limit : largest size of a coordinate in the int precision; None in float32
    """

    kind: str
    n_components: int
    matrix: np.ndarray | None = None
    scales: np.ndarray | None = None
    shift: np.ndarray | None = None
    multipliers: np.ndarray | None = None
    right_shift: int = 0
    limit: int | None = None

    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        if self.limit is not None:
            check_count("limit", self.limit, 32_767)
            check_count("right_shift", self.right_shift, 31, smallest=0)
            if self.kind not in ("int8", "ternary"):
                raise InputError(f"kind={self.kind!r} in the int precision; allowed are 'int8' and 'ternary'.")
            if self.multipliers is not None and self.multipliers.min() < 1:
                raise InputError("multipliers must be above 0.")
        if (self.kind == "shift") != (self.matrix is None) or (self.matrix is None and self.shift is None):
            raise InputError("a projection has a matrix, or it is of kind 'shift' and has a shift.")
        if self.matrix is not None and self.kind != "float32":
            largest = 1 if self.kind == "ternary" else 127
            if self.matrix.dtype != np.int8 or max(int(self.matrix.max()), -int(self.matrix.min())) > largest:
                raise InputError(f"a {self.kind} projection holds int8 numbers of at most {largest}.")
        floats = {"projection": self.matrix, "scales": self.scales, "shift": self.shift}
        for name, array in floats.items():
            if array is not None and array.dtype.kind == "f" and not np.all(np.abs(array) <= LARGEST_ENTRY):
                raise InputError(f"{name} holds values beyond {LARGEST_ENTRY:.0e} or NaN; rescale the data.")
        self._check_arrays()

    def _check_arrays(self) -> None:
        """Check which arrays there are, their shapes and types."""
        is_integer, p = self.limit is not None, self.n_components
        needs_scales = not is_integer and self.kind in ("int8", "ternary")
        if needs_scales != (self.scales is not None) or (self.scales is not None and not self.scales.all()):
            raise InputError(
                "scales, none of them 0, belong to integer matrices in the float32 precision, and only there."
            )
        if not is_integer and (self.multipliers is not None or self.right_shift):
            raise InputError("multipliers and right_shift belong to the int precision.")
        if self.matrix is not None and (self.matrix.ndim != 2 or self.matrix.shape[1] != p):
            raise InputError(f"a matrix of shape {self.matrix.shape} for {p} components.")
        if self.matrix is not None and self.kind == "float32":
            check_floats("the matrix", self.matrix)
        if self.scales is not None:
            check_floats("scales", self.scales, (p,))
        if self.shift is not None and not is_integer:
            check_floats("shift", self.shift, (p,))
        for name, dtype in (("shift", np.int32), ("multipliers", np.int16)) if is_integer else ():
            array = getattr(self, name)
            if array is not None and (array.dtype != dtype or array.shape != (p,)):
                raise InputError(
                    f"{name} have dtype {array.dtype} and shape {array.shape}; needed are {p} of {dtype.__name__}."
                )

    def apply(self, values: np.ndarray) -> np.ndarray:
        """Coordinates z (p, n), float32 or int32, for values (D, n)."""
        if self.limit is not None:
            return self._apply_integer(values)
        if self.matrix is None:
            assert self.shift is not None
            return saturate(values + self.shift[:, None])
        z = np.zeros((self.n_components, values.shape[1]), np.float32)
        if self.kind == "float32" and self.shift is not None:
            z += self.shift[:, None]
        for value, entries in zip(values, self.matrix.astype(np.float32), strict=True):  # in rising order, as specified
            z += entries[:, None] * value
        if self.scales is not None:
            z *= self.scales[:, None]
            if self.shift is not None:
                z += self.shift[:, None]
        return saturate(z)

    def _apply_integer(self, values: np.ndarray) -> np.ndarray:
        assert self.matrix is not None
        assert self.limit is not None
        # Exact: a float64 product of integers whose sums stay below 2**53.
        sums = (self.matrix.T.astype(np.float64) @ values.astype(np.float64)).astype(np.int64)
        if self.shift is not None:
            sums += self.shift[:, None]
        if self.multipliers is not None:
            sums *= self.multipliers[:, None].astype(np.int64)
        return np.clip(sums >> self.right_shift, -self.limit, self.limit).astype(np.int32)

    def check_bounds(self, largest_value: int) -> None:
        """Refuse a projection in the int precision whose sums could leave 32 bits."""
        assert self.matrix is not None
        bounds = largest_value * np.abs(self.matrix.astype(np.int64)).sum(axis=0)
        if self.shift is not None:
            bounds += np.abs(self.shift.astype(np.int64))
        if self.multipliers is not None:
            bounds *= self.multipliers
        if bounds.max() > _LARGEST_INT:
            raise InputError(f"a projected sum could reach {bounds.max()}; 32 bits hold {_LARGEST_INT}.")

    @property
    def n_inputs(self) -> int:
        """Values that it takes."""
        return self.n_components if self.matrix is None else len(self.matrix)

    @property
    def nbytes(self) -> int:
        """Bytes stored."""
        bits = {"shift": 0, "float32": 32, "int8": 8, "ternary": 2}[self.kind]
        matrix = 0 if self.matrix is None else packed_nbytes(self.matrix.size, bits)
        others = (self.scales, self.shift, self.multipliers)
        return matrix + sum(array.nbytes for array in others if array is not None)


def integer_projection(
    steps: np.ndarray, constant: np.ndarray, largest: int, projection_type: str, factor: float, limit: int
) -> Projection:
    """An integer matrix, shift, multipliers and right shift such that z comes out in steps of 1 / ``factor``.

    Parameters
    ----------
    steps : (D, p) what one integer step of each value adds to z
    constant : (p,) z where all values are 0
    largest : size of a value at most
    """
    # Finer units would change no coordinate, and would make the integer shift of a small component huge.
    finest = 2.0**-15 / factor
    if projection_type == "ternary":
        matrix, units = ternary_columns(steps, finest)
    else:
        units = np.maximum(np.abs(steps).max(axis=0) / 127.0, finest)
        matrix = np.rint(steps / units).astype(np.int8)
    ratios = factor * units  # from steps of each sum to steps of z
    bounds = largest * np.abs(matrix.astype(np.int64)).sum(axis=0) + np.abs(constant / units) + 2
    room = min(_LARGEST_INT16 / ratios.max(), float((_LARGEST_INT / 2 / bounds / ratios).min()))
    right_shift = int(np.clip(np.floor(np.log2(room)), 0, 30))
    multipliers = np.clip(np.rint(ratios * 2.0**right_shift), 1, _LARGEST_INT16).astype(np.int16)
    # Half a step makes the floor of the right shift a rounding.
    shift = np.rint(constant / units + 2.0 ** (right_shift - 1) / multipliers)
    if np.abs(shift).max() > _LARGEST_INT / 2:
        raise InputError("the columns lie too far from 0 for the int precision; centre the data before training.")
    sums = largest * np.abs(matrix.astype(np.float64)).sum(axis=0) + np.abs(shift)
    if ratios.max() > _LARGEST_INT16 or (sums * multipliers).max() > _LARGEST_INT:
        raise InputError(
            "the projected columns cover too many bucket widths for the int precision; use a larger bandwidth, or "
            "scale the data before training."
        )
    return Projection(
        projection_type, steps.shape[1], matrix, shift=shift.astype(np.int32), multipliers=multipliers,
        right_shift=right_shift, limit=limit,
    )  # fmt: skip


def ternary_columns(steps: np.ndarray, finest: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Signs of the larger entries of each column, and their mean size (Li, Zhang and Liu, 2016).

    Idempotent: a column of signs times a size gives the same signs and size.

    >>> signs, units = ternary_columns(np.array([[4.0], [-2.0], [0.5]]))
    >>> signs.ravel().tolist(), units.tolist()
    ([1, -1, 0], [3.0])
    """
    sizes = np.abs(steps)
    large = sizes > 0.7 * sizes.mean(axis=0)
    units = np.where(large, sizes, 0.0).sum(axis=0) / np.maximum(large.sum(axis=0), 1)
    large &= units >= finest
    return (np.sign(steps) * large).astype(np.int8), np.maximum(units, finest)
