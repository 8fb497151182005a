"""Columns, projection, linear term. Paragraphs 1 to 7 of ``docs/spec/format.md``, section 3."""

from types import SimpleNamespace

import numpy as np

from ..lsh.generator import MAX_FEATURES
from ..model.inputs import BOOLEAN, NUMERIC, Inputs
from ..model.magnitudes import LARGEST_COORDINATE, largest_size
from ..model.numbers import decode_bfloat16, decode_float8, index_bits
from ..model.projection import LARGEST_ENTRY, Projection
from ..model.rows import LARGEST_INT
from ..model.stages import Stages
from . import records
from .bounds import column_sizes
from .records import Kinds, LinearType, OffsetType, Precision, ProjectionKind, Section, StoredAs, Task
from .sections import CHUNK, MOST_SHIFT, SIZE_CAP, Sections, check_size, refuse_if
from .stage_reader import StageReader
from .status import Status

_STORED_DTYPES = {StoredAs.FLOAT32: "<f4", StoredAs.BFLOAT16: "<u2", StoredAs.FLOAT8: "u1"}


class ModelReader:
    """The record of sizes, and the arrays it requires. They are checked first, and put together only if all is good."""

    def __init__(self, sections: Sections) -> None:
        self.sections = sections
        self.model = self.read_model()
        self.n_numeric = 0
        self.kinds: np.ndarray | None = None
        self.shift: np.ndarray | None = None
        self.multipliers: np.ndarray | None = None
        self.scales: np.ndarray | None = None
        self.stages: list[StageReader] = []
        self.largest_sum = 0  # of the linear term, in the int precision

    def read_model(self) -> SimpleNamespace:
        """The record of sizes and flags."""
        m = records.MODEL.unpack(self.sections.section(Section.MODEL, records.MODEL.nbytes))
        m.is_integer, m.has_stages = m.precision == Precision.INT, m.projection == ProjectionKind.STAGES
        m.has_matrix = m.projection >= ProjectionKind.FLOAT32 and not m.has_stages
        if not self.sections.are_good:
            self._check_model(m)
        return m

    def _check_model(self, m: SimpleNamespace) -> None:
        refuse_if(m.precision >= len(records.PRECISIONS), Status.FIELD)
        refuse_if(m.generator != records.GENERATOR, Status.GENERATOR)
        refuse_if(m.task >= len(records.TASKS), Status.FIELD)
        refuse_if(m.n_row_groups == 0 and not (m.has_stages and m.linear), Status.SIZE_ZERO)
        refuse_if(m.n_row_groups > records.MAX_ROW_GROUPS, Status.SIZE_CAP)
        refuse_if(m.projection >= len(records.PROJECTIONS), Status.FIELD)
        refuse_if(m.right_shift > MOST_SHIFT, Status.SHIFT)
        refuse_if(m.linear >= len(records.LINEARS) or m.stored_as >= len(records.STORED_AS), Status.FIELD)
        for size in (m.n_features, m.n_columns, m.n_values, m.n_components):
            check_size(size, MAX_FEATURES)
        check_size(m.n_outputs, SIZE_CAP)
        refuse_if(m.kinds >= len(Kinds), Status.FIELD)
        refuse_if(m.flags > records.ALL_MODEL_FLAGS, Status.FLAGS)
        refuse_if(m.offset_stored_as > OffsetType.NONE, Status.FIELD)
        refuse_if(m.n_stages and not m.has_stages, Status.FIELD)
        if m.has_stages:
            check_size(m.n_stages, records.MAX_STAGES)
        refuse_if(not m.is_padded, Status.PADDING)
        refuse_if(m.n_classes > SIZE_CAP, Status.SIZE_CAP)
        refuse_if(m.n_classes not in (0, max(2, m.n_outputs)), Status.CLASS_COUNT)
        refuse_if(m.n_classes and m.task != Task.CLASSIFICATION, Status.CLASS_COUNT)
        _check_precision(m)
        refuse_if(m.projection == ProjectionKind.SHIFT and not m.flags & records.HAS_SHIFT, Status.FIELD)
        has_none = m.projection == ProjectionKind.NONE or m.has_stages
        refuse_if(has_none and m.flags & records.HAS_SHIFT, Status.FIELD)
        is_as_wide = m.projection <= ProjectionKind.SHIFT
        refuse_if(is_as_wide and m.n_components != m.n_values, Status.SIZE_MISMATCH)
        allowed = (1, m.n_outputs) if m.is_integer and m.linear else (0,)
        refuse_if(m.n_linear_gains not in allowed, Status.SIZE_MISMATCH)
        has_columns = m.flags & records.HAS_COLUMNS
        refuse_if(m.n_columns > m.n_features or (not has_columns and m.n_columns != m.n_features), Status.SIZE_MISMATCH)
        for bias in (m.center_bias, m.scale_bias):
            refuse_if(bias != 0 and (m.stored_as != StoredAs.FLOAT8 or not -126 <= bias <= 100), Status.FIELD)

    def check_columns(self) -> None:
        """Paragraphs 2 to 4: which columns are used, what kinds they are, their centers and scales."""
        m = self.model
        if m.flags & records.HAS_COLUMNS:
            n_bits = index_bits(m.n_features)
            self.sections.packed(Section.COLUMNS, m.n_columns, n_bits, m.n_features, is_rising=True)
        self._check_kinds()
        for n in (m.n_centers, m.n_scales):
            refuse_if(n not in (0, 1, self.n_numeric) or (n and not self.n_numeric), Status.SCALER)
        self._check_scaler(Section.CENTERS, m.n_centers, m.center_bias)
        self._check_scaler(Section.SCALES, m.n_scales, m.scale_bias)

    def _check_kinds(self) -> None:
        m = self.model
        if m.kinds != Kinds.MIXED:
            refuse_if(m.n_values != m.n_columns, Status.SIZE_MISMATCH)
            self.n_numeric = m.n_columns if m.kinds == Kinds.NUMERIC else 0
            return
        self.kinds = self.sections.array(Section.KINDS, "<u2", m.n_columns)
        self.n_numeric = m.n_columns - int(np.count_nonzero(self.kinds))
        refuse_if(int(self.kinds.sum(dtype=np.int64)) + self.n_numeric != m.n_values, Status.SIZE_MISMATCH)

    def _check_scaler(self, kind: int, n: int, bias: int) -> None:
        if n == 0:
            return
        stored = self.sections.array(kind, _STORED_DTYPES[self.model.stored_as], n)
        for start in range(0, 0 if self.sections.are_good else n, CHUNK):
            values = self._decode(stored[start : start + CHUNK], bias)
            is_wrong = not np.isfinite(values).all() or (kind == Section.SCALES and not np.all(values > 0))
            refuse_if(is_wrong, Status.SCALER)

    def _decode(self, stored: np.ndarray, bias: int) -> np.ndarray:
        if self.model.stored_as == StoredAs.BFLOAT16:
            return decode_bfloat16(stored)
        return (
            decode_float8(stored, bias)
            if self.model.stored_as == StoredAs.FLOAT8
            else stored.astype(np.float32, copy=False)
        )

    @property
    def largest_value(self) -> int:
        """Largest size of a value in the int precision: V of *Bounds*."""
        m = self.model
        return max(-m.low, m.low, -m.high, m.high) + bool(m.flags & records.ACCEPTS_MISSING) if self.n_numeric else 1

    @property
    def largest_coordinate(self) -> int:
        """Largest size of a coordinate in the int precision: Z of *Bounds*."""
        if self.model.has_stages:
            return self.stages[-1].largest
        return self.model.limit if self.model.has_matrix else self.largest_value

    def are_boolean(self, places: list[int]) -> np.ndarray:
        """Which of these values are 0 or 1 only, without a table of all values; bool (len(places),)."""
        wanted = np.array(places, np.int64)
        if self.kinds is None:
            return np.full(len(wanted), self.n_numeric == 0)
        found, passed = np.zeros(len(wanted), bool), 0
        for start in range(0, len(self.kinds), CHUNK):
            kinds = self.kinds[start : start + CHUNK]
            ends = passed + np.cumsum(np.maximum(kinds, 1), dtype=np.int64)
            here = (wanted >= passed) & (wanted < ends[-1])
            found[here] = kinds[np.searchsorted(ends, wanted[here], side="right")] != NUMERIC
            passed = int(ends[-1])
        return found

    def make_inputs(self) -> Inputs:
        """How the columns become values, once all of the file is known to be good."""
        m = self.model
        columns = None
        if m.flags & records.HAS_COLUMNS:
            columns = self.sections.unpacked(Section.COLUMNS, m.n_columns, index_bits(m.n_features))
        kinds = np.broadcast_to(np.uint16(BOOLEAN), (m.n_columns,)) if m.kinds == Kinds.BOOLEAN else self.kinds
        return Inputs(
            m.n_features,
            columns,
            kinds,
            self._scaler(Section.CENTERS, m.n_centers, m.center_bias),
            self._scaler(Section.SCALES, m.n_scales, m.scale_bias),
            records.STORED_AS[m.stored_as],
            (m.low, m.high) if m.is_integer else None,
            bool(m.flags & records.ACCEPTS_MISSING),
        )

    def _scaler(self, kind: int, n: int, bias: int) -> np.ndarray | None:
        if n == 0:
            return None
        stored = self.sections.array(kind, _STORED_DTYPES[self.model.stored_as], n)
        return np.concatenate([self._decode(stored[start : start + CHUNK], bias) for start in range(0, n, CHUNK)])

    def check_projection(self) -> None:
        """Paragraphs 5 to 7: projection, linear term, offset, and their bounds in the int precision."""
        m = self.model
        self.matrix = self._matrix() if m.has_matrix else None
        if m.flags & records.HAS_SHIFT:
            if m.is_integer:
                self.shift = self.sections.array(Section.SHIFT, "<i4", m.n_components)
            else:
                self.shift = self.sections.floats(Section.SHIFT, m.n_components, Status.NOT_FINITE, LARGEST_ENTRY)
        if m.flags & records.HAS_MULTIPLIERS:
            self.multipliers = self.sections.array(Section.MULTIPLIERS, "<i2", m.n_components)
            refuse_if(self.multipliers.min() < 1, Status.SCALE)
        if m.has_matrix and m.projection != ProjectionKind.FLOAT32 and not m.is_integer:
            self.scales = self.sections.floats(Section.PROJECTION_SCALES, m.n_components, Status.SCALE, LARGEST_ENTRY)
            refuse_if(not self.scales.all(), Status.SCALE)
        self._check_stages()
        self.linear, self.linear_gain = self._linear()
        self.offset = self._offset()
        if m.is_integer and not self.sections.are_good:
            self._check_bounds()

    def _check_stages(self) -> None:
        n_inputs, largest = self.model.n_values, self.largest_value
        for i in range(self.model.n_stages):
            stage = StageReader(self.sections, self.model, i, n_inputs, largest)
            stage.check()
            self.stages.append(stage)
            n_inputs, largest = stage.fields.n_components, stage.largest

    def _offset(self) -> np.ndarray:
        if self.model.offset_stored_as == OffsetType.NONE:
            return np.zeros(self.model.n_outputs, np.float32)
        if self.model.offset_stored_as == OffsetType.FLOAT32:
            floats = self.sections.floats(Section.OFFSET, self.model.n_outputs, Status.NOT_FINITE)
            return floats.astype(np.float32, copy=False)
        offset = decode_bfloat16(self.sections.array(Section.OFFSET, "<u2", self.model.n_outputs))
        refuse_if(not np.isfinite(offset).all(), Status.NOT_FINITE)
        return offset

    def make_projection(self) -> Projection | Stages | None:
        """From values to coordinates, once all of the file is known to be good."""
        m = self.model
        if not m.projection:
            return None
        if m.has_stages:
            return Stages(tuple(stage.make() for stage in self.stages))
        arrays = (self.matrix, self.scales, self.shift, self.multipliers)
        matrix, scales, shift, multipliers = (
            None if array is None else array.astype(array.dtype.newbyteorder("="), copy=False) for array in arrays
        )
        kind = records.PROJECTIONS[m.projection]
        assert kind is not None
        right_shift, limit = (m.right_shift, m.limit) if m.is_integer else (0, None)
        return Projection(kind, m.n_components, matrix, scales, shift, multipliers, right_shift, limit)

    def _matrix(self) -> np.ndarray:
        m = self.model
        n = m.n_values * m.n_components
        shape = (m.n_values, m.n_components)
        if m.projection == ProjectionKind.FLOAT32:
            return (
                self.sections.floats(Section.PROJECTION, n, Status.NOT_FINITE, LARGEST_ENTRY)
                .astype(np.float32, copy=False)
                .reshape(shape)
            )
        if m.projection == ProjectionKind.INT8:
            return self.sections.integers(Section.PROJECTION, "i1", n).reshape(shape)
        return self.sections.signed(Section.PROJECTION, n, 2).reshape(shape)

    def _linear(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        m = self.model
        if m.linear == LinearType.NONE:
            return None, None
        n, shape = m.n_components * m.n_outputs, (m.n_components, m.n_outputs)
        if m.linear == LinearType.FLOAT32:
            linear = self.sections.floats(Section.LINEAR, n, Status.NOT_FINITE, LARGEST_ENTRY).astype(
                np.float32, copy=False
            )
            return linear.reshape(shape), None
        linear = self.sections.integers(Section.LINEAR, "<i2" if m.linear == LinearType.INT16 else "i1", n)
        gain = self.sections.floats(Section.LINEAR_GAIN, m.n_linear_gains, Status.SCALE).astype(np.float32, copy=False)
        refuse_if(not gain.all(), Status.SCALE)
        return linear.astype(np.int16 if m.linear == LinearType.INT16 else np.int8).reshape(shape), gain

    def _check_bounds(self) -> None:
        """No projected sum and no linear term may leave 32 bits: *Bounds* of ``docs/spec/inference.md``."""
        if self.matrix is not None:
            for columns, sizes in column_sizes(self.matrix):
                bounds = self.largest_value * sizes
                if self.shift is not None:
                    bounds += np.abs(self.shift[columns].astype(np.int64))
                if self.multipliers is not None:
                    bounds *= self.multipliers[columns]
                refuse_if(bounds.max() > LARGEST_INT, Status.OVERFLOW)
        if self.linear is not None:
            for _, sizes in column_sizes(self.linear):
                self.largest_sum = max(self.largest_sum, int(sizes.max()) * self.largest_coordinate)
                refuse_if(self.largest_sum > LARGEST_INT, Status.OVERFLOW)

    def largest_linear(self) -> float:
        """Bound of the linear term in the outputs."""
        if self.linear is None:
            return 0.0
        if self.linear_gain is None:
            return float(self.model.n_components) * LARGEST_COORDINATE * largest_size(self.linear)
        return float(self.largest_sum) * largest_size(self.linear_gain)


def _check_precision(m: SimpleNamespace) -> None:
    if not m.is_integer:
        refuse_if(m.right_shift or m.low or m.high or m.limit or m.flags & records.HAS_MULTIPLIERS, Status.FIELD)
        refuse_if(m.linear > LinearType.FLOAT32 or m.offset_stored_as or m.has_stages, Status.FIELD)
        return
    refuse_if(m.projection in (ProjectionKind.SHIFT, ProjectionKind.FLOAT32), Status.FIELD)
    refuse_if(m.linear == LinearType.FLOAT32, Status.FIELD)
    refuse_if(m.low >= m.high or m.low < -32_767, Status.FIELD)
    if m.has_matrix:
        refuse_if(not 1 <= m.limit <= 32_767, Status.SHIFT)
    else:
        refuse_if(m.limit or m.right_shift or m.flags & records.HAS_MULTIPLIERS, Status.FIELD)
