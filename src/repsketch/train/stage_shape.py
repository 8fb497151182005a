"""Sizes of a model of stages before it is trained: what each stage has, and the head that makes outputs of it.

The trainer in C holds all parameters in one array; ``Shape.slices`` says where each of them lies.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from ..checks import check_choice, check_count, check_number
from ..errors import InputError
from ..lsh.pool import CodePool
from ..model.stages import MATRIX_BITS, MAX_STAGES, TABLE_SIZES

#: Limits of ``native/rsk_trainer.h``.
MAX_WIDTH, MAX_ROWS, MAX_OUTPUTS, MAX_VALUES = 4_096, 2_048, 4_096, 65_536
MAX_SPARSITY = 0.99
WIDTH_BITS = 6  # 64 steps between two entries of a table, or two levels of a row
RANGE_BITS = 2  # bits of z that ReLU and clip drop: they end at 127 / 16 widths
LIMIT = 4_095  # largest coordinate, in steps
#: Activations of a hidden stage; their places here are their numbers in C.
ACTIVATIONS = ("none", "table", "relu", "clip")


@dataclass(frozen=True)
class StageShape:
    """A hidden stage.

    Attributes
    ----------
    width : coordinates, p
    activation : "table", "relu" or "clip"
    n_entries : of a table: 4, 8 or 16
    matrix_bits : 8, or 4 for half the bytes
    sparsity : share of the matrix that is pruned
    has_linear : there is a linear term on the coordinates before the activation, of p times C bytes

    >>> StageShape(24), StageShape(16, "relu", sparsity=0.5).activation
    (StageShape(width=24, activation='table', n_entries=8, matrix_bits=8, sparsity=0.0, has_linear=False), 'relu')
    """

    width: int
    activation: str = "table"
    n_entries: int = 8
    matrix_bits: int = 8
    sparsity: float = 0.0
    has_linear: bool = False

    def __post_init__(self) -> None:
        check_count("width", self.width, MAX_WIDTH)
        check_choice("activation", self.activation, ACTIVATIONS[1:])
        _check_size("n_entries", self.n_entries)
        _check_matrix(self.matrix_bits, self.sparsity)


@dataclass(frozen=True)
class RowsHead:
    """A last stage without an activation, and an interpolated row over each of its coordinates.

    Attributes
    ----------
    n_components, n_levels : p coordinates, and p rows of R levels
    factored : a row has one counter a level and a decode vector (C,) in int4, instead of C counters a level
    has_linear : there is a linear term on the coordinates, of p times C bytes
    matrix_bits, sparsity : as in ``StageShape``
    """

    n_components: int
    n_levels: int = 8
    factored: bool = False
    has_linear: bool = True
    matrix_bits: int = 8
    sparsity: float = 0.0

    def __post_init__(self) -> None:
        check_count("n_components", self.n_components, MAX_ROWS)
        _check_size("n_levels", self.n_levels)
        _check_matrix(self.matrix_bits, self.sparsity)

    def pool(self, seed: int) -> CodePool:
        """Codes of the rows: single coordinates, their levels centred."""
        return CodePool(
            "ternary", self.n_components, self.n_components, seed, n_levels=self.n_levels,
            n_axes=self.n_components, is_normalised=True, width_bits=WIDTH_BITS,
        )  # fmt: skip


@dataclass(frozen=True)
class NetworkHead:
    """No rows: outputs are a linear function, in int8, of what the last hidden stage hands on."""


@dataclass(frozen=True)
class Shape:
    """Hidden stages, at most three before rows or four in a network, and a head; without an offset, it is 0.

    >>> network = Shape((StageShape(16, "relu"), StageShape(8, "relu")), NetworkHead())
    >>> network.sizes(n_values=5, n_outputs=1)["matrix 1"]
    (16, 8)
    """

    stages: tuple[StageShape, ...]
    head: RowsHead | NetworkHead
    has_offset: bool = True

    def __post_init__(self) -> None:
        most = MAX_STAGES - isinstance(self.head, RowsHead)
        fewest = int(isinstance(self.head, NetworkHead))
        if not fewest <= len(self.stages) <= most:
            raise InputError(f"{len(self.stages)} hidden stages; with this head {fewest} to {most} are allowed.")

    @property
    def rows(self) -> RowsHead | None:
        """The head, if it has rows."""
        return self.head if isinstance(self.head, RowsHead) else None

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Coordinates of every stage, with that of the rows."""
        hidden = tuple(stage.width for stage in self.stages)
        return hidden if self.rows is None else (*hidden, self.rows.n_components)

    @cached_property
    def sparsities(self) -> tuple[float, ...]:
        """Share of each matrix that is pruned."""
        hidden = tuple(stage.sparsity for stage in self.stages)
        return hidden if self.rows is None else (*hidden, self.rows.sparsity)

    @cached_property
    def matrix_bits(self) -> tuple[int, ...]:
        """Bits of an entry of each matrix."""
        hidden = tuple(stage.matrix_bits for stage in self.stages)
        return hidden if self.rows is None else (*hidden, self.rows.matrix_bits)

    def check(self, n_values: int, n_outputs: int) -> None:
        """Refuse numbers of values and outputs that the trainer cannot have."""
        check_count("the number of values", n_values, MAX_VALUES)
        check_count("the number of outputs", n_outputs, MAX_OUTPUTS)

    def sizes(self, n_values: int, n_outputs: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the parameters, in the order in which they lie in memory."""
        found: dict[str, tuple[int, ...]] = {}
        n_inputs = n_values
        for k, width in enumerate(self.widths):
            found[f"matrix {k}"], found[f"shift {k}"] = (n_inputs, width), (width,)
            if k < len(self.stages) and self.stages[k].activation == "table":
                found[f"tables {k}"] = (width, self.stages[k].n_entries)
            if k < len(self.stages) and self.stages[k].has_linear:
                found[f"linear {k}"] = (width, n_outputs)
            n_inputs = width
        if self.rows is not None:
            found["counters"] = (n_inputs, self.rows.n_levels, 1 if self.rows.factored else n_outputs)
            if self.rows.factored:
                found["decode"] = (n_inputs, n_outputs)
        if self.rows is None or self.rows.has_linear:
            found["linear"] = (n_inputs, n_outputs)
        return found | {"offset": (n_outputs,)}

    def slices(self, n_values: int, n_outputs: int) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Place and shape of every parameter in the array of all."""
        places, start = {}, 0
        for name, size in self.sizes(n_values, n_outputs).items():
            places[name] = slice(start, start + prod(size)), size
            start += prod(size)
        return places


def n_pruned(sparsity: float, size: int) -> int:
    """Entries of a matrix of ``size`` entries that are pruned, rounded as the trainer does, whose shares are float32.

    >>> n_pruned(0.5, 7), n_pruned(0.7, 315)
    (4, 220)
    """
    return int(float(np.float32(sparsity)) * size + 0.5)


def _check_size(name: str, n_entries: int) -> None:
    if n_entries not in TABLE_SIZES:
        raise InputError(f"{name}={n_entries!r}; allowed are {', '.join(map(str, TABLE_SIZES))}.")


def _check_matrix(matrix_bits: int, sparsity: float) -> None:
    if matrix_bits not in MATRIX_BITS:
        raise InputError(f"matrix_bits={matrix_bits!r}; allowed are {' and '.join(map(str, MATRIX_BITS))}.")
    check_number("sparsity", sparsity, 0.0, MAX_SPARSITY)
