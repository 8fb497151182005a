"""Columns, projection, linear term. Paragraphs 1 to 7 of ``docs/spec/format.md``, section 3."""

from functools import partial
from types import SimpleNamespace

import numpy as np

from ..errors import InputError
from ..lsh.generator import MAX_FEATURES
from ..sketch.inputs import NUMERIC, Inputs
from ..sketch.numbers import decode_bfloat16, decode_float8, index_bits
from ..sketch.part import LARGEST_INT
from ..sketch.projection import LARGEST_ENTRY, Projection
from . import records
from .records import Section
from .sections import CHUNK, Sections, check_size, refuse_if
from .status import FormatError, Status

SIZE_CAP = 65_536
MOST_SHIFT = 31


class ModelReader:
    """The record of sizes, and the arrays it asks for."""

    def __init__(self, sections: Sections) -> None:
        self.sections = sections
        self.model = self.read_model()

    def read_model(self) -> SimpleNamespace:
        """The record of sizes and flags."""
        m = records.MODEL.unpack(self.sections.section(Section.MODEL, records.MODEL.nbytes))
        refuse_if(m.precision > 1, Status.FIELD)
        refuse_if(m.generator != records.GENERATOR, Status.GENERATOR)
        refuse_if(m.task > 2, Status.FIELD)
        check_size(m.n_parts, 4)
        refuse_if(m.projection > 4, Status.FIELD)
        refuse_if(m.right_shift > MOST_SHIFT, Status.SHIFT)
        refuse_if(m.linear > 3 or m.stored_as > 2, Status.FIELD)
        for size in (m.n_features, m.n_columns, m.n_values, m.n_components):
            check_size(size, MAX_FEATURES)
        check_size(m.n_outputs, SIZE_CAP)
        refuse_if(m.kinds > 2, Status.FIELD)
        refuse_if(m.flags > 15, Status.FLAGS)
        refuse_if(not m.is_padded, Status.PADDING)
        refuse_if(m.n_classes > SIZE_CAP, Status.SIZE_CAP)
        refuse_if(m.n_classes and (m.n_classes != max(2, m.n_outputs) or m.task != 1), Status.CLASS_COUNT)
        m.is_whole = m.precision == 1
        m.has_matrix = m.projection >= 2
        _check_precision(m)
        refuse_if(m.projection == 1 and not m.flags & records.HAS_SHIFT, Status.FIELD)
        refuse_if(m.projection == 0 and m.flags & records.HAS_SHIFT, Status.FIELD)
        refuse_if(not m.has_matrix and m.n_components != m.n_values, Status.SIZE_MISMATCH)
        allowed = (1, m.n_outputs) if m.is_whole and m.linear else (0,)
        refuse_if(m.n_linear_gains not in allowed, Status.SIZE_MISMATCH)
        has_columns = m.flags & records.HAS_COLUMNS
        refuse_if(m.n_columns > m.n_features or (not has_columns and m.n_columns != m.n_features), Status.SIZE_MISMATCH)
        for bias in (m.center_bias, m.scale_bias):
            refuse_if(bias != 0 and (m.stored_as != 2 or not -126 <= bias <= 100), Status.FIELD)
        return m

    def read_inputs(self) -> Inputs:
        """How the columns become values."""
        m = self.model
        columns = None
        if m.flags & records.HAS_COLUMNS:
            n_bits = index_bits(m.n_features)
            self.sections.packed(Section.COLUMNS, m.n_columns, n_bits, m.n_features, is_rising=True)
            columns = partial(self.sections.unpacked, Section.COLUMNS, m.n_columns, n_bits)
        kinds, n_numeric = self._read_kinds()
        for n in (m.n_centers, m.n_scales):
            refuse_if(n not in (0, 1, n_numeric) or (n and not n_numeric), Status.SCALER)
        centers = self._scaler(Section.CENTERS, m.n_centers, m.center_bias)
        scales = self._scaler(Section.SCALES, m.n_scales, m.scale_bias)
        refuse_if(scales is not None and not np.all(scales > 0), Status.SCALER)
        return Inputs(
            m.n_features,
            columns() if columns else None,
            kinds,
            centers,
            scales,
            records.STORED_AS[m.stored_as],
            (m.low, m.high) if m.is_whole else None,
            bool(m.flags & records.ACCEPTS_MISSING),
        )

    def _read_kinds(self) -> tuple[np.ndarray | None, int]:
        m = self.model
        if m.kinds < 2:
            refuse_if(m.n_values != m.n_columns, Status.SIZE_MISMATCH)
            is_boolean = m.kinds == 1
            return (np.ones(m.n_columns, np.int64) if is_boolean else None), 0 if is_boolean else m.n_columns
        kinds = self.sections.array(Section.KINDS, "<u2", m.n_columns)
        n_numeric = int(np.count_nonzero(kinds == NUMERIC))
        refuse_if(int(kinds.sum(dtype=np.int64)) + n_numeric != m.n_values, Status.SIZE_MISMATCH)
        return kinds.astype(np.int64), n_numeric

    def _scaler(self, kind: int, n: int, bias: int) -> np.ndarray | None:
        if n == 0:
            return None
        stored_as = records.STORED_AS[self.model.stored_as]
        if stored_as == "float32":
            return self.sections.floats(kind, n, Status.SCALER).astype(np.float32, copy=False)
        if stored_as == "bfloat16":
            values = decode_bfloat16(self.sections.array(kind, "<u2", n))
        else:
            values = decode_float8(self.sections.array(kind, "u1", n), bias)
        refuse_if(not np.isfinite(values).all(), Status.SCALER)
        return values

    def read_projection(
        self, inputs: Inputs
    ) -> tuple[Projection | None, np.ndarray | None, np.ndarray | None, np.ndarray]:
        """Projection, linear term, its gain, and offset."""
        m = self.model
        matrix = self._matrix() if m.has_matrix else None
        shift = None
        if m.flags & records.HAS_SHIFT:
            if m.is_whole:
                shift = self.sections.array(Section.SHIFT, "<i4", m.n_components).astype(np.int32)
            else:
                shift = self.sections.floats(Section.SHIFT, m.n_components, Status.NOT_FINITE, LARGEST_ENTRY).astype(
                    np.float32, copy=False
                )
        multipliers = None
        if m.flags & records.HAS_MULTIPLIERS:
            multipliers = self.sections.array(Section.MULTIPLIERS, "<i2", m.n_components).astype(np.int16)
            refuse_if(multipliers.min() < 1, Status.SCALE)
        scales = None
        if m.projection >= 3 and not m.is_whole:
            scales = self.sections.floats(
                Section.PROJECTION_SCALES, m.n_components, Status.SCALE, LARGEST_ENTRY
            ).astype(np.float32, copy=False)
            refuse_if(not scales.all(), Status.SCALE)
        linear, linear_gain = self._linear()
        offset = self.sections.floats(Section.OFFSET, m.n_outputs, Status.NOT_FINITE).astype(np.float32, copy=False)
        projection = None
        if m.projection:
            kind = records.PROJECTIONS[m.projection]
            assert kind is not None
            right_shift, limit = (m.right_shift, m.limit) if m.is_whole else (0, None)
            projection = Projection(kind, m.n_components, matrix, scales, shift, multipliers, right_shift, limit)
        if m.is_whole:
            self._check_projection_bounds(inputs, projection, linear)
        return projection, linear, linear_gain, offset

    def _matrix(self) -> np.ndarray:
        m = self.model
        n = m.n_values * m.n_components
        shape = (m.n_values, m.n_components)
        if m.projection == 2:
            return (
                self.sections.floats(Section.PROJECTION, n, Status.NOT_FINITE, LARGEST_ENTRY)
                .astype(np.float32, copy=False)
                .reshape(shape)
            )
        if m.projection == 3:
            return self.sections.whole(Section.PROJECTION, "i1", n).reshape(shape)
        return self.sections.signed(Section.PROJECTION, n, 2).reshape(shape)

    def _linear(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        m = self.model
        if m.linear == 0:
            return None, None
        n, shape = m.n_components * m.n_outputs, (m.n_components, m.n_outputs)
        if m.linear == 1:
            linear = self.sections.floats(Section.LINEAR, n, Status.NOT_FINITE, LARGEST_ENTRY).astype(
                np.float32, copy=False
            )
            return linear.reshape(shape), None
        whole = self.sections.whole(Section.LINEAR, "<i2" if m.linear == 2 else "i1", n)
        gain = self.sections.floats(Section.LINEAR_GAIN, m.n_linear_gains, Status.SCALE).astype(np.float32, copy=False)
        refuse_if(not gain.all(), Status.SCALE)
        return whole.astype(np.int16 if m.linear == 2 else np.int8).reshape(shape), gain

    def _check_projection_bounds(
        self, inputs: Inputs, projection: Projection | None, linear: np.ndarray | None
    ) -> None:
        largest = inputs.largest
        try:
            if projection is not None:
                projection.check_bounds(largest)
                largest = self.model.limit
        except InputError as error:
            raise FormatError(Status.OVERFLOW) from error
        if linear is not None:
            sums = _sizes_over(linear, axis=0)
            refuse_if(int(sums.max()) * largest > LARGEST_INT, Status.OVERFLOW)


def _check_precision(m: SimpleNamespace) -> None:
    if not m.is_whole:
        refuse_if(m.right_shift or m.low or m.high or m.limit or m.flags & records.HAS_MULTIPLIERS, Status.FIELD)
        refuse_if(m.linear > 1, Status.FIELD)
        return
    refuse_if(m.projection in (1, 2) or m.linear == 1, Status.FIELD)
    refuse_if(m.low >= m.high or m.low < -32_767, Status.FIELD)
    if m.has_matrix:
        refuse_if(not 1 <= m.limit <= 32_767, Status.SHIFT)
    else:
        refuse_if(m.limit or m.right_shift or m.flags & records.HAS_MULTIPLIERS, Status.FIELD)


def _sizes_over(array: np.ndarray, axis: int) -> np.ndarray:
    """Sums of absolute values along an axis, int64, without a wide copy of the whole array."""
    total = np.zeros(np.delete(array.shape, axis), np.int64)
    step = max(1, CHUNK // max(1, array.shape[1 - axis]))
    for start in range(0, array.shape[axis], step):
        part = array[start : start + step] if axis == 0 else array[:, start : start + step]
        total += np.abs(part.astype(np.int64)).sum(axis=axis)
    return total
