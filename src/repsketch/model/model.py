"""The deployed model of every sketch: columns, projection, groups of rows, outputs.

``query`` evaluates it, files store it and the C runtime runs it. The paper's sketch is one group of rows that own their
codes; models trained beyond the paper combine the same pieces in other ways.
"""

from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..checks import check_choice
from ..display import describe_columns, describe_outputs
from ..errors import InputError
from ..lsh.pool import PooledRows
from ..predictor import TASKS
from .inputs import Inputs
from .intervals import Intervals
from .magnitudes import LARGEST_COORDINATE, LARGEST_MAGNITUDE, largest_output, largest_size
from .numbers import check_floats, check_integers, round_floats
from .projection import LARGEST_ENTRY, Projection
from .rows import LARGEST_INT, RowGroup
from .stages import Stage, Stages

MAX_ROW_GROUPS = 4
MAX_OUTPUTS = 65_536
OFFSET_NBYTES = {"float32": 4, "bfloat16": 2, "none": 0}  #: by how offsets are stored


@dataclass(frozen=True, eq=False)
class Model:
    """All that a prediction needs.

    Attributes
    ----------
    inputs : from d columns to D values
    projection : from values to p coordinates, in one step or in stages, or None
    row_groups : one to four groups of rows; with stages and a linear term there may be none
    offset : (C,) float32
    linear : (p, C) float32, int16 or int8 on the coordinates, or None
    linear_gain : (1,) or (C,) float32, of a linear term in integers
    task, classes : what the outputs mean
    feature_names : the d columns' names, or None
    categories : the rising labels of each categorical column used, or None
    intervals : prediction intervals, or None; not for classification
    offset_stored_as : "float32" or, in the int precision, "bfloat16", or "none" where all are 0
    stored : the checked file that this model was read from: its bytes, or as the C core has opened it; or None
    """

    #: Seed, sizes and flags that a device must know: of the model with its first group of rows, of each further one.
    HEADER_NBYTES: ClassVar[int] = 32
    ROW_GROUP_NBYTES: ClassVar[int] = 16

    inputs: Inputs
    projection: Projection | Stages | None
    row_groups: tuple[RowGroup, ...]
    offset: np.ndarray
    linear: np.ndarray | None = None
    linear_gain: np.ndarray | None = None
    task: str | None = None
    classes: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None
    categories: tuple[tuple[str, ...], ...] | None = None
    intervals: Intervals | None = None
    offset_stored_as: str = "float32"
    file: InitVar[Any] = None  # dataclasses.replace drops it: a changed model is another file
    stored: Any = field(init=False, default=None)

    def __repr__(self) -> str:
        outputs = describe_outputs(self.task, self.n_outputs, self.classes)
        columns = describe_columns(self.inputs.n_columns, self.n_features)
        rows = f"{self.n_rows:,} row{'s' * (self.n_rows != 1)}"
        return f"Model({outputs}, {columns}, {rows}, {self.precision}, {self.nbytes:,} bytes)"

    def __post_init__(self, file: Any) -> None:
        object.__setattr__(self, "stored", file)
        fewest = 0 if isinstance(self.projection, Stages) and self.linear is not None else 1
        if not fewest <= len(self.row_groups) <= MAX_ROW_GROUPS:
            raise InputError(f"{len(self.row_groups)} groups of rows; allowed are {fewest} to {MAX_ROW_GROUPS}.")
        if self.task not in (None, *TASKS):
            raise InputError(f"task={self.task!r}; allowed are {TASKS} and None.")
        self._check_names()
        if self.projection is not None:
            n_taken = self.projection.n_inputs
            if n_taken != self.inputs.n_values:
                raise InputError(f"a projection of {n_taken} rows for {self.inputs.n_values} values.")
            if (self.projection.limit is not None) != self.is_integer:
                raise InputError("projection and inputs differ in precision.")
        for group in self.row_groups:
            self._check_group(group)
        check_floats("offsets", self.offset, (self.n_outputs,))
        if not np.isfinite(self.offset).all() or not 1 <= self.n_outputs <= MAX_OUTPUTS:
            raise InputError(f"offset must be 1 to {MAX_OUTPUTS} finite numbers.")
        self._check_offset_type()
        self._check_linear()
        for stage in self.stages:
            if stage.linear is not None and stage.linear.shape[1] != self.n_outputs:
                raise InputError(f"a linear term of {stage.linear.shape[1]} outputs in a model of {self.n_outputs}.")
        if self.is_integer and self.projection is not None and self.stored is None:
            self.projection.check_bounds(self.inputs.largest)
        if self.stored is None:
            self._check_magnitudes()

    def _check_magnitudes(self) -> None:
        """Refuse stored numbers from which a finite input could give an infinite output, or NaN."""
        found = [group.magnitudes() for group in self.row_groups]
        accumulators = (
            (accumulator, group.gain) for (_, accumulator), group in zip(found, self.row_groups, strict=True)
        )
        stages = [(float(s.largest_linear), s.linear_gain) for s in self.stages if s.linear_gain is not None]
        output = largest_output(self.offset, accumulators, self._largest_linear(), stages)
        worst = max([output, *(largest for largest, _ in found)])
        if worst > LARGEST_MAGNITUDE:
            raise InputError(
                f"counters, gains, offsets and the linear term could add up to {worst:.1e}; allowed is "
                f"{LARGEST_MAGNITUDE:.1e}, so that float32 outputs stay finite. Divide the targets by a constant."
            )

    def _largest_linear(self) -> float:
        """Bound of the linear term in the outputs."""
        if self.linear is None:
            return 0.0
        if self.linear_gain is None:
            return float(self.n_coordinates) * LARGEST_COORDINATE * largest_size(self.linear)
        return float(self._largest_linear_sum()) * largest_size(self.linear_gain)

    def _largest_linear_sum(self) -> int:
        """Bound of the sum of the linear term, in the int precision."""
        assert self.linear is not None
        return int(np.abs(self.linear.astype(np.int64)).sum(axis=0).max()) * self.largest_of("projected")

    def _check_names(self) -> None:
        wanted = max(2, self.n_outputs)
        if self.classes is not None and (self.task != "classification" or len(self.classes) != wanted):
            raise InputError(
                f"{len(self.classes)} classes with task={self.task!r}; {self.n_outputs} outputs of a classification "
                f"have {wanted}."
            )
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise InputError(f"{len(self.feature_names)} feature names for {self.n_features} columns.")
        if self.intervals is not None and (
            self.task == "classification" or len(self.intervals.scales) != self.n_outputs
        ):
            raise InputError(
                f"intervals of {len(self.intervals.scales)} outputs with task={self.task!r} and {self.n_outputs} "
                "outputs; allowed are as many, and no classification."
            )
        if self.categories is None:
            return
        if [len(labels) for labels in self.categories] != self.inputs.category_counts or not self.categories:
            raise InputError("categories must be given for each categorical column used, one label for each of them.")
        if any(list(labels) != sorted(set(labels)) for labels in self.categories):
            raise InputError("the categories of a column must rise, none of them twice.")

    def _check_group(self, group: RowGroup) -> None:
        if group.is_integer != self.is_integer:
            raise InputError("a group of rows and the inputs differ in precision.")
        if group.n_outputs != self.n_outputs:
            raise InputError(f"a group of rows with {group.n_outputs} outputs in a model of {self.n_outputs}.")
        width = self.n_coordinates if group.source == "projected" else self.inputs.n_values
        if group.hashes.n_features != width:
            raise InputError(f"a group of rows over {group.hashes.n_features} coordinates; the model has {width}.")
        pool = group.hashes.pool if isinstance(group.hashes, PooledRows) else None
        if pool is not None and pool.is_seeded and pool.is_binary and self.stored is None:
            booleans = pool.booleans
            if not np.array_equal(
                self.booleans_of(group.source), np.zeros(width, bool) if booleans is None else booleans
            ):
                raise InputError("a pool whose booleans are not those of the inputs.")
        if self.is_integer and self.stored is None:  # a file has been checked when it was read, without wide copies
            group.check_bounds(self.largest_of(group.source))

    def _check_offset_type(self) -> None:
        check_choice("offset_stored_as", self.offset_stored_as, OFFSET_NBYTES)
        if self.offset_stored_as != "float32" and not self.is_integer:
            raise InputError(f"offset_stored_as={self.offset_stored_as!r} belongs to the int precision.")
        if self.offset_stored_as == "none":
            if self.offset.any():
                raise InputError(
                    "offset_stored_as='none', but some offset is not 0; store them as float32 or bfloat16."
                )
        elif not np.array_equal(round_floats(self.offset, self.offset_stored_as), self.offset):
            raise InputError("offsets have more digits than bfloat16 keeps; round them, or keep them as float32.")

    def _check_linear(self) -> None:
        if self.linear_gain is not None and (self.linear is None or not self.is_integer):
            raise InputError("linear_gain belongs to a linear term in the int precision.")
        if self.linear is None:
            return
        if self.linear.shape != (self.n_coordinates, self.n_outputs):
            raise InputError(f"linear has shape {self.linear.shape}; needed is {(self.n_coordinates, self.n_outputs)}.")
        if not self.is_integer:
            check_floats("linear", self.linear)
            if not np.all(np.abs(self.linear) <= LARGEST_ENTRY):
                raise InputError(f"linear holds values beyond {LARGEST_ENTRY:.0e} or NaN; rescale the data.")
            return
        check_integers("linear", self.linear, "int8" if self.linear.dtype == np.int8 else "int16")
        if self.linear_gain is None or len(self.linear_gain) not in (1, self.n_outputs):
            raise InputError(f"a linear term in integers needs a gain of 1 or {self.n_outputs} numbers.")
        check_floats("linear gains", self.linear_gain)
        if not (np.isfinite(self.linear_gain).all() and self.linear_gain.all()):
            raise InputError("linear_gain must be finite numbers other than 0.")
        if self.stored is not None:
            return
        worst = self._largest_linear_sum()
        if worst > LARGEST_INT:
            raise InputError(f"the linear term could reach {worst}; 32 bits hold {LARGEST_INT}.")

    @property
    def is_integer(self) -> bool:
        """The int precision."""
        return self.inputs.limits is not None

    @property
    def precision(self) -> str:
        """Which arithmetic: "int" or "float32"."""
        return "int" if self.is_integer else "float32"

    @property
    def n_features(self) -> int:
        """Number of input columns, d."""
        return self.inputs.n_features

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages in place of a projection; none without."""
        return self.projection.stages if isinstance(self.projection, Stages) else ()

    @property
    def matrix_projection(self) -> Projection | None:
        """The projection in one step; None without, and with stages."""
        return self.projection if isinstance(self.projection, Projection) else None

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates, p."""
        return self.inputs.n_values if self.projection is None else self.projection.n_components

    @property
    def n_outputs(self) -> int:
        """Number of outputs, C."""
        return len(self.offset)

    @property
    def n_rows(self) -> int:
        """Rows of all groups."""
        return sum(group.n_rows for group in self.row_groups)

    def booleans_of(self, source: str) -> np.ndarray:
        """Which of the values or coordinates are 0 or 1 only, bool."""
        if source == "values" or self.projection is None:
            return self.inputs.booleans
        return np.zeros(self.n_coordinates, bool)

    def are_boolean(self, source: str, places: list[int]) -> np.ndarray:
        """Which of these values or coordinates are 0 or 1 only, bool (len(places),)."""
        if source == "values" or self.projection is None:
            return self.inputs.are_boolean(places)
        return np.zeros(len(places), bool)

    def largest_of(self, source: str) -> int:
        """Bound of the values or coordinates in the int precision."""
        if source == "projected" and self.projection is not None:
            assert self.projection.limit is not None
            return self.projection.limit
        return self.inputs.largest

    @cached_property
    def nbytes(self) -> int:
        """Bytes a device must hold: header fields, and every stored number in its packed size."""
        size = self.HEADER_NBYTES + self.ROW_GROUP_NBYTES * max(0, len(self.row_groups) - 1)
        size += self.inputs.nbytes + (0 if self.projection is None else self.projection.nbytes)
        size += sum(group.nbytes for group in self.row_groups)
        size += self.n_outputs * OFFSET_NBYTES[self.offset_stored_as]
        return size + sum(a.nbytes for a in (self.linear, self.linear_gain) if a is not None)
