"""Hidden stages between the values and the coordinates that rows read: section 2 of ``docs/spec/inference.md``.

A stage multiplies its inputs by a small integer matrix, scales and shifts the sums, and maps every coordinate by a
table of its own, by a ReLU or by a clip to 8 bits, which the next stage takes. The last stage may hand its coordinates
on as they are. An int8 network, a pruned network and the projection of interpolated rows are special cases.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checks import check_choice, check_count
from ..display import repr_of_fields
from ..errors import InputError
from .numbers import check_floats, check_integers, packed_nbytes

ACTIVATIONS = ("none", "table", "relu", "clip")
TABLE_SIZES = (4, 8, 16)
MAX_STAGES = 4
MAX_WIDTH = 65_536  # coordinates of a stage
MATRIX_BITS = (8, 4)
MAX_TABLE_BITS = 8  # 2**8 steps between two entries: a product of both is below 2**15
LARGEST_OUTPUT = 127  # of a stage with an activation
_LARGEST_INT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Stage:
    """z = clamp(((m_j Σ_i A_ij h_i) >> r) + 2^k s_j, ±limit), rounded, and the activation of z.

    Attributes
    ----------
    matrix : (n, p) int8, of at most 7 in size where ``matrix_bits`` is 4
    multipliers : (p,) uint8 above 0
    shift : (p,) int8, in units of 2 to the power of ``shift_bits``
    right_shift, shift_bits, limit : r, k, and the largest size of a coordinate
    activation : "table", "relu" or "clip", to 8 bits; "none" hands on z
    tables : (p, R) int8, read by interpolation with 2 to the power of ``width_bits`` steps between two entries
    width_bits : with "relu" and "clip", the bits of z that are dropped
    is_sparse : the matrix is stored as a bitmap and its entries that are not 0
    linear : (p, C) int8, a linear term on z, or None
    linear_gain : (1,) or (C,) float32, of the linear term
    """

    matrix: np.ndarray
    multipliers: np.ndarray
    shift: np.ndarray
    right_shift: int
    shift_bits: int
    limit: int
    activation: str = "none"
    tables: np.ndarray | None = None
    width_bits: int = 0
    matrix_bits: int = 8
    is_sparse: bool = False
    linear: np.ndarray | None = None
    linear_gain: np.ndarray | None = None

    #: Sizes, shifts and flags of a stage that a device must know.
    HEADER_NBYTES = 8

    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        check_choice("activation", self.activation, ACTIVATIONS)
        if self.matrix_bits not in MATRIX_BITS:
            raise InputError(f"matrix_bits={self.matrix_bits!r}; allowed are 8 and 4.")
        check_count("right_shift", self.right_shift, 31, smallest=0)
        check_count("shift_bits", self.shift_bits, 15, smallest=0)
        check_count("limit", self.limit, 32_767)
        if self.matrix.ndim != 2 or not 1 <= self.n_components <= MAX_WIDTH:
            raise InputError(
                f"a stage has a matrix of 1 to {MAX_WIDTH} columns; this one has shape {self.matrix.shape}."
            )
        check_integers("the matrix", self.matrix, f"int{self.matrix_bits}")
        check_integers("shift", self.shift, "int8")
        if self.multipliers.dtype != np.uint8 or not self.multipliers.all():
            raise InputError("multipliers are uint8 numbers above 0.")
        for name in ("multipliers", "shift"):
            if getattr(self, name).shape != (self.n_components,):
                raise InputError(f"{name} of shape {getattr(self, name).shape} for {self.n_components} coordinates.")
        self._check_activation()
        if (self.linear is None) != (self.linear_gain is None):
            raise InputError("a linear term and its gain come together.")
        if self.linear is not None and self.linear_gain is not None:
            self._check_linear(self.linear, self.linear_gain)

    def _check_activation(self) -> None:
        if (self.activation == "table") != (self.tables is not None):
            raise InputError("tables belong to the activation 'table', and only there.")
        if self.tables is not None:
            check_integers("tables", self.tables, "int8")
            if self.tables.shape not in [(self.n_components, size) for size in TABLE_SIZES]:
                raise InputError(
                    f"tables of shape {self.tables.shape}; allowed are {TABLE_SIZES} entries a coordinate."
                )
        smallest, largest = {"none": (0, 0), "table": (1, MAX_TABLE_BITS)}.get(self.activation, (0, 15))
        check_count("width_bits", self.width_bits, largest, smallest=smallest)

    def _check_linear(self, linear: np.ndarray, gain: np.ndarray) -> None:
        check_integers("the linear term", linear, "int8")
        if self.activation == "none":
            raise InputError("the linear term of a stage without an activation is that of the model.")
        if linear.ndim != 2 or len(linear) != self.n_components:
            raise InputError(f"a linear term of shape {linear.shape} for {self.n_components} coordinates.")
        check_floats("linear gains", gain)
        if len(gain) not in (1, linear.shape[1]) or not (np.isfinite(gain).all() and gain.all()):
            raise InputError(f"linear_gain must be 1 or {linear.shape[1]} finite numbers other than 0.")

    @property
    def n_inputs(self) -> int:
        """Numbers that the stage takes."""
        return self.matrix.shape[0]

    @property
    def n_components(self) -> int:
        """Coordinates, p."""
        return self.matrix.shape[1]

    @property
    def largest(self) -> int:
        """Bound of what the stage hands on."""
        return self.limit if self.activation == "none" else LARGEST_OUTPUT

    def coordinates(self, inputs: np.ndarray) -> np.ndarray:
        """Coordinates z (p, n), int32, for inputs (n_inputs, n)."""
        # Exact: a float64 product of integers whose sums stay below 2**53.
        sums = (self.matrix.T.astype(np.float64) @ inputs.astype(np.float64)).astype(np.int64)
        z = shift_rounded(sums * self.multipliers[:, None].astype(np.int64), self.right_shift)
        z += self.shift[:, None].astype(np.int64) << self.shift_bits
        return np.clip(z, -self.limit, self.limit).astype(np.int32)

    def activate(self, z: np.ndarray) -> np.ndarray:
        """What the stage hands on (p, n), int32, for coordinates z (p, n)."""
        if self.activation == "none":
            return z
        if self.tables is not None:
            return self._look_up(z, self.tables)
        smallest = 0 if self.activation == "relu" else -LARGEST_OUTPUT
        return np.clip(shift_rounded(z, self.width_bits), smallest, LARGEST_OUTPUT)

    def _look_up(self, z: np.ndarray, tables: np.ndarray) -> np.ndarray:
        n_entries, width = tables.shape[1], 1 << self.width_bits
        u = np.clip(z + (n_entries - 1) * width // 2, 0, (n_entries - 1) * width)
        lower = np.minimum(u >> self.width_bits, n_entries - 2)
        below, above = (np.take_along_axis(tables.astype(np.int32), lower + step, axis=1) for step in (0, 1))
        return shift_rounded(below * width + (above - below) * (u - lower * width), self.width_bits)

    def check_bounds(self, largest_input: int) -> None:
        """Refuse sums that could leave 32 bits, for inputs of at most ``largest_input`` in size."""
        sums = largest_input * np.abs(self.matrix.astype(np.int64)).sum(axis=0) * self.multipliers
        worst = int((sums + half_of(self.right_shift) + (np.abs(self.shift.astype(np.int64)) << self.shift_bits)).max())
        if worst > _LARGEST_INT or self.largest_linear > _LARGEST_INT:
            raise InputError(
                f"a sum of a stage could reach {max(worst, self.largest_linear)}; 32 bits hold {_LARGEST_INT}."
            )

    @cached_property
    def largest_linear(self) -> int:
        """Bound of the sums of the linear term; 0 without."""
        return 0 if self.linear is None else int(np.abs(self.linear.astype(np.int64)).sum(axis=0).max()) * self.limit

    @property
    def n_nonzeros(self) -> int:
        """Entries of the matrix that are not 0."""
        return int(np.count_nonzero(self.matrix))

    @property
    def nbytes(self) -> int:
        """Bytes stored."""
        n_entries, bitmap = self.matrix.size, 0
        if self.is_sparse:
            n_entries, bitmap = self.n_nonzeros, packed_nbytes(self.matrix.size, 1)
        size = self.HEADER_NBYTES + bitmap + packed_nbytes(n_entries, self.matrix_bits)
        arrays = (self.multipliers, self.shift, self.tables, self.linear, self.linear_gain)
        return size + sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True, eq=False)
class Stages:
    """One to four stages in a row, in place of a projection."""

    stages: tuple[Stage, ...]

    kind = "stages"
    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        if not 1 <= len(self.stages) <= MAX_STAGES:
            raise InputError(f"{len(self.stages)} stages; allowed are 1 to {MAX_STAGES}.")
        for stage, following in zip(self.stages, self.stages[1:], strict=False):
            if stage.activation == "none":
                raise InputError("only the last stage goes without an activation.")
            if following.n_inputs != stage.n_components:
                raise InputError(f"a stage of {following.n_inputs} inputs behind one of {stage.n_components}.")

    @property
    def n_inputs(self) -> int:
        """Values that the first stage takes."""
        return self.stages[0].n_inputs

    @property
    def n_components(self) -> int:
        """Coordinates that the last stage hands on."""
        return self.stages[-1].n_components

    @property
    def limit(self) -> int:
        """Bound of what the last stage hands on."""
        return self.stages[-1].largest

    def coordinates(self, values: np.ndarray) -> list[np.ndarray]:
        """Coordinates z of every stage, and last what the last stage hands on, (p, n) each, for values (D, n)."""
        found, inputs = [], values
        for stage in self.stages:
            found.append(stage.coordinates(inputs))
            inputs = stage.activate(found[-1])
        return [*found, inputs]

    def apply(self, values: np.ndarray) -> np.ndarray:
        """What the last stage hands on (p, n), int32, for values (D, n)."""
        return self.coordinates(values)[-1]

    def check_bounds(self, largest_value: int) -> None:
        """Refuse stages whose sums could leave 32 bits."""
        for stage in self.stages:
            stage.check_bounds(largest_value)
            largest_value = stage.largest

    @property
    def nbytes(self) -> int:
        """Bytes stored."""
        return sum(stage.nbytes for stage in self.stages)


def half_of(n_bits: int) -> int:
    """What is added before ``n_bits`` bits are dropped, so that the floor becomes a rounding.

    >>> half_of(3), half_of(0)
    (4, 0)
    """
    return 1 << n_bits >> 1


def shift_rounded(numbers: np.ndarray, n_bits: int) -> np.ndarray:
    """Integers divided by 2 to the power of ``n_bits`` and rounded, halves upward.

    >>> shift_rounded(np.array([5, 6, -6, -7]), 2).tolist()
    [1, 2, -1, -2]
    """
    return (numbers + half_of(n_bits)) >> n_bits
