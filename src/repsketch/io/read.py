"""From the bytes of a .rsk file to a sketch. A file from a stranger is hostile: everything is checked before it is used.

The checks follow ``docs/spec/format.md``, section 3, in its order, so that this reader and the C reader give the same
status to the same bad file. Arrays are looked at in chunks: refusing a file takes no more memory than the file.
"""

import os
import stat
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import InputError
from ..lsh import L1, L2, Angular, Family, MinHash, RowHashes
from ..lsh.generator import MAX_CONCAT, MAX_FEATURES
from ..lsh.pool import MAX_SPREAD, CodePool, PooledRows
from ..lsh.rows import MAX_WIDTH_BITS
from ..sketch import CompiledSketch, Form, KernelSketch, Sketch
from ..sketch.counters import Counters
from ..sketch.inputs import NUMERIC, Inputs
from ..sketch.numbers import decode_bfloat16, decode_float8, index_bits, packed_nbytes
from ..sketch.part import LARGEST_INT, Part
from ..sketch.projection import LARGEST_ENTRY, Projection
from . import records
from .digest import digest_of_pool, digest_of_rows
from .framing import FILE_CAP, FIRST_OPTIONAL, is_known, unpack
from .metadata import read_metadata
from .packing import unpack_bits, unpack_signed
from .records import Section
from .status import FormatError, Status
from .tables import decode_classes, decode_strings

SIZE_CAP = 65_536
_CHUNK = 65_536
_MOST_SHIFT = 31
_NORMAL = (2.2250738585072014e-308, 1.7976931348623157e308)


def load(path: str | os.PathLike, *, max_nbytes: int = FILE_CAP) -> Sketch:
    """The sketch in a .rsk file.

    Parameters
    ----------
    path : a regular file
    max_nbytes : largest file accepted
    """
    return from_bytes(read_file(path, max_nbytes), max_nbytes=max_nbytes, name=os.fspath(path))


def read_file(path: str | os.PathLike, max_nbytes: int = FILE_CAP) -> bytes:
    """The bytes of a regular file of at most ``max_nbytes`` bytes whose size does not change meanwhile."""
    # Without O_NONBLOCK, opening a pipe would wait for its other end.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise FormatError(Status.NOT_REGULAR, f"{os.fspath(path)!s}: ")
        if state.st_size > max_nbytes:
            raise FormatError(Status.FILE_CAP, f"{os.fspath(path)!s}: ")
        data = file.read(state.st_size + 1)
    if len(data) != state.st_size:
        raise FormatError(Status.FILE_CHANGED, f"{os.fspath(path)!s}: ")
    return data


def from_bytes(data: bytes, *, max_nbytes: int = FILE_CAP, name: str = "") -> Sketch:
    """The sketch in the bytes of a .rsk file; a ``FormatError`` says what is wrong with them."""
    try:
        return _Reader(memoryview(data), max_nbytes).sketch()
    except FormatError as error:
        raise FormatError(error.status, f"{name}: " if name else "") from None


def _refuse_if(condition: Any, status: Status) -> None:
    if condition:
        raise FormatError(status)


class _Reader:
    """One pass over a file: checks each section as the record of sizes asks for it."""

    def __init__(self, data: memoryview, max_nbytes: int) -> None:
        self.sections = unpack(data, max_nbytes)
        self.used: set[int] = set()

    def sketch(self) -> Sketch:
        """Everything checked, then put together."""
        self.model = self._read_model()
        inputs = self._read_inputs()
        projection, linear, linear_gain, offset = self._read_projection(inputs)
        parts = [self._read_part(i, inputs, projection) for i in range(self.model.n_parts)]
        for kind in self.sections:
            _refuse_if(kind < FIRST_OPTIONAL and is_known(kind) and kind not in self.used, Status.SECTION_UNEXPECTED)
        classes, names = self._read_labels()
        sums = self._read_sums(parts)
        if Section.METADATA in self.sections:
            read_metadata(self.sections[Section.METADATA])
        try:
            task = records.TASKS[self.model.task]
            made = tuple(part.make() for part in parts)
            form = Form(inputs, projection, made, offset, linear, linear_gain, task, classes, names)
            return _as_sketch(form, sums)
        except InputError as error:  # a check of the form that the page forgot: refused all the same
            raise FormatError(Status.FIELD) from error

    # Sections and arrays

    def _section(self, kind: int, nbytes: int | None) -> memoryview:
        """A required section of exactly ``nbytes`` bytes."""
        _refuse_if(kind not in self.sections, Status.SECTION_MISSING)
        data = self.sections[kind]
        _refuse_if(nbytes is not None and len(data) != nbytes, Status.SIZE_MISMATCH)
        self.used.add(kind)
        return data

    def _array(self, kind: int, dtype: str, n: int) -> np.ndarray:
        return np.frombuffer(self._section(kind, n * np.dtype(dtype).itemsize), dtype)

    def _floats(self, kind: int, n: int, status: Status, largest: float = np.inf) -> np.ndarray:
        """Float32 numbers, finite and at most ``largest`` in size."""
        array = self._array(kind, "<f4", n)
        for start in range(0, n, _CHUNK):
            part = array[start : start + _CHUNK]
            _refuse_if(not np.isfinite(part).all() or np.abs(part).max() > largest, status)
        return array

    def _packed(self, kind: int, n: int, n_bits: int, limit: int, is_rising: bool = False) -> np.ndarray | None:
        """A section of packed indices below ``limit``, checked; None where no bits are needed."""
        if n_bits == 0:
            return None
        data = self._section(kind, packed_nbytes(n, n_bits))
        previous = -1
        for start in range(0, n, _CHUNK):  # a multiple of 8, so each chunk begins at a byte
            numbers = unpack_bits(data[start * n_bits // 8 :], min(_CHUNK, n - start), n_bits)
            _refuse_if(numbers.max() >= limit, Status.INDEX_RANGE)
            if is_rising:
                _refuse_if(np.any(np.diff(numbers, prepend=previous) <= 0), Status.INDEX_ORDER)
                previous = int(numbers[-1])
        self._check_left_over(data, n * n_bits)
        return unpack_bits(data, n, n_bits) if n <= _CHUNK else None

    def _check_left_over(self, data: memoryview, n_bits: int) -> None:
        _refuse_if(n_bits % 8 and data[-1] >> (n_bits % 8), Status.PADDING)

    def _whole(self, kind: int, dtype: str, n: int) -> np.ndarray:
        """Whole numbers of 1 or 2 bytes, the most negative one not among them."""
        array = self._array(kind, dtype, n)
        _refuse_if(array.min() == np.iinfo(array.dtype).min, Status.COUNTER_RANGE)
        return array

    # 1. MODEL

    def _read_model(self) -> SimpleNamespace:
        _refuse_if(Section.MODEL not in self.sections, Status.SECTION_MISSING)
        m = records.MODEL.unpack(self._section(Section.MODEL, records.MODEL.nbytes))
        _refuse_if(m.precision > 1, Status.FIELD)
        _refuse_if(m.generator != records.GENERATOR, Status.GENERATOR)
        _refuse_if(m.task > 2, Status.FIELD)
        _check_size(m.n_parts, 4)
        _refuse_if(m.projection > 4, Status.FIELD)
        _refuse_if(m.right_shift > _MOST_SHIFT, Status.SHIFT)
        _refuse_if(m.linear > 3 or m.stored_as > 2, Status.FIELD)
        for size in (m.n_features, m.n_columns, m.n_values, m.n_components):
            _check_size(size, MAX_FEATURES)
        _check_size(m.n_outputs, SIZE_CAP)
        _refuse_if(m.kinds > 2, Status.FIELD)
        _refuse_if(m.flags > 15, Status.FLAGS)
        _refuse_if(not m.is_padded, Status.PADDING)
        _refuse_if(m.n_classes > SIZE_CAP, Status.SIZE_CAP)
        _refuse_if(m.n_classes and (m.n_classes != max(2, m.n_outputs) or m.task != 1), Status.CLASS_COUNT)
        m.is_whole = m.precision == 1
        m.has_matrix = m.projection >= 2
        _check_precision(m)
        _refuse_if(m.projection == 1 and not m.flags & records.HAS_SHIFT, Status.FIELD)
        _refuse_if(m.projection == 0 and m.flags & records.HAS_SHIFT, Status.FIELD)
        _refuse_if(not m.has_matrix and m.n_components != m.n_values, Status.SIZE_MISMATCH)
        allowed = (1, m.n_outputs) if m.is_whole and m.linear else (0,)
        _refuse_if(m.n_linear_gains not in allowed, Status.SIZE_MISMATCH)
        has_columns = m.flags & records.HAS_COLUMNS
        _refuse_if(
            m.n_columns > m.n_features or (not has_columns and m.n_columns != m.n_features), Status.SIZE_MISMATCH
        )
        for bias in (m.center_bias, m.scale_bias):
            _refuse_if(bias != 0 and (m.stored_as != 2 or not -126 <= bias <= 100), Status.FIELD)
        return m

    # 2 to 4. Columns

    def _read_inputs(self) -> Inputs:
        m = self.model
        columns = None
        if m.flags & records.HAS_COLUMNS:
            n_bits = index_bits(m.n_features)
            self._packed(Section.COLUMNS, m.n_columns, n_bits, m.n_features, is_rising=True)
            columns = partial(self._unpacked, Section.COLUMNS, m.n_columns, n_bits)
        kinds, n_numeric = self._read_kinds()
        for n in (m.n_centers, m.n_scales):
            _refuse_if(n not in (0, 1, n_numeric) or (n and not n_numeric), Status.SCALER)
        centers = self._scaler(Section.CENTERS, m.n_centers, m.center_bias)
        scales = self._scaler(Section.SCALES, m.n_scales, m.scale_bias)
        _refuse_if(scales is not None and not np.all(scales > 0), Status.SCALER)
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

    def _unpacked(self, kind: int, n: int, n_bits: int) -> np.ndarray:
        return unpack_bits(self.sections[kind], n, n_bits) if n_bits else np.zeros(n, np.int64)

    def _read_kinds(self) -> tuple[np.ndarray | None, int]:
        m = self.model
        if m.kinds < 2:
            _refuse_if(m.n_values != m.n_columns, Status.SIZE_MISMATCH)
            is_boolean = m.kinds == 1
            return (np.ones(m.n_columns, np.int64) if is_boolean else None), 0 if is_boolean else m.n_columns
        kinds = self._array(Section.KINDS, "<u2", m.n_columns)
        n_numeric = int(np.count_nonzero(kinds == NUMERIC))
        _refuse_if(int(kinds.sum(dtype=np.int64)) + n_numeric != m.n_values, Status.SIZE_MISMATCH)
        return kinds.astype(np.int64), n_numeric

    def _scaler(self, kind: int, n: int, bias: int) -> np.ndarray | None:
        if n == 0:
            return None
        stored_as = records.STORED_AS[self.model.stored_as]
        if stored_as == "float32":
            return self._floats(kind, n, Status.SCALER).astype(np.float32, copy=False)
        if stored_as == "bfloat16":
            values = decode_bfloat16(self._array(kind, "<u2", n))
        else:
            values = decode_float8(self._array(kind, "u1", n), bias)
        _refuse_if(not np.isfinite(values).all(), Status.SCALER)
        return values

    # 5 to 7. Projection, linear term, offset

    def _read_projection(
        self, inputs: Inputs
    ) -> tuple[Projection | None, np.ndarray | None, np.ndarray | None, np.ndarray]:
        m = self.model
        matrix = self._matrix() if m.has_matrix else None
        shift = None
        if m.flags & records.HAS_SHIFT:
            if m.is_whole:
                shift = self._array(Section.SHIFT, "<i4", m.n_components).astype(np.int32)
            else:
                shift = self._floats(Section.SHIFT, m.n_components, Status.NOT_FINITE, LARGEST_ENTRY).astype(
                    np.float32, copy=False
                )
        multipliers = None
        if m.flags & records.HAS_MULTIPLIERS:
            multipliers = self._array(Section.MULTIPLIERS, "<i2", m.n_components).astype(np.int16)
            _refuse_if(multipliers.min() < 1, Status.SCALE)
        scales = None
        if m.projection >= 3 and not m.is_whole:
            scales = self._floats(Section.PROJECTION_SCALES, m.n_components, Status.SCALE, LARGEST_ENTRY).astype(
                np.float32, copy=False
            )
            _refuse_if(not scales.all(), Status.SCALE)
        linear, linear_gain = self._linear()
        offset = self._floats(Section.OFFSET, m.n_outputs, Status.NOT_FINITE).astype(np.float32, copy=False)
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
                self._floats(Section.PROJECTION, n, Status.NOT_FINITE, LARGEST_ENTRY)
                .astype(np.float32, copy=False)
                .reshape(shape)
            )
        if m.projection == 3:
            return self._whole(Section.PROJECTION, "i1", n).reshape(shape)
        return self._signed(Section.PROJECTION, n, 2).reshape(shape)

    def _signed(self, kind: int, n: int, n_bits: int) -> np.ndarray:
        """Packed numbers in two's complement, the most negative one not among them, int8 (n,)."""
        data = self._section(kind, packed_nbytes(n, n_bits))
        result = np.empty(n, np.int8)
        for start in range(0, n, _CHUNK):
            stop = min(start + _CHUNK, n)
            result[start:stop] = unpack_signed(data[start * n_bits // 8 :], stop - start, n_bits)
            _refuse_if(result[start:stop].min() == -(1 << (n_bits - 1)), Status.COUNTER_RANGE)
        self._check_left_over(data, n * n_bits)
        return result

    def _linear(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        m = self.model
        if m.linear == 0:
            return None, None
        n, shape = m.n_components * m.n_outputs, (m.n_components, m.n_outputs)
        if m.linear == 1:
            linear = self._floats(Section.LINEAR, n, Status.NOT_FINITE, LARGEST_ENTRY).astype(np.float32, copy=False)
            return linear.reshape(shape), None
        whole = self._whole(Section.LINEAR, "<i2" if m.linear == 2 else "i1", n)
        gain = self._floats(Section.LINEAR_GAIN, m.n_linear_gains, Status.SCALE).astype(np.float32, copy=False)
        _refuse_if(not gain.all(), Status.SCALE)
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
            _refuse_if(int(sums.max()) * largest > LARGEST_INT, Status.OVERFLOW)

    # 8. Parts

    def _read_part(self, index: int, inputs: Inputs, projection: Projection | None) -> "_PartReader":
        part = _PartReader(self, index, inputs, projection)
        part.check()
        return part

    # 10. Labels, names, sums

    def _read_labels(self) -> tuple[np.ndarray | None, tuple[str, ...] | None]:
        n = self.model.n_classes
        _refuse_if((n > 0) != (Section.CLASSES in self.sections), Status.CLASS_COUNT)
        classes = decode_classes(self.sections[Section.CLASSES], n) if n else None
        if Section.NAMES not in self.sections:
            return classes, None
        data = self.sections[Section.NAMES]
        return classes, tuple(decode_strings(data, self.model.n_features, Status.NAME_COUNT, Status.NAME_DUPLICATE))

    def _read_sums(self, parts: list["_PartReader"]) -> SimpleNamespace | None:
        if Section.SUMS not in self.sections:
            return None
        data, fields = self.sections[Section.SUMS], parts[0].fields
        is_plain = len(parts) == 1 and fields.hash < 16 and not self.model.is_whole
        _refuse_if(not is_plain or fields.counter_type or fields.decode, Status.SUMS)
        n, n_outputs = fields.n_rows * fields.n_buckets * fields.n_numbers, self.model.n_outputs
        _refuse_if(len(data) != 16 + 8 * n + 24 * n_outputs, Status.SIZE_MISMATCH)
        step = float(np.frombuffer(data, "<f8", 1)[0])
        debias, unused = np.frombuffer(data, "<u4", 2, 8).tolist()
        _refuse_if(not 2.0**-1000 <= step <= 2.0**1000 or np.frexp(step)[0] != 0.5, Status.SUMS)
        _refuse_if(debias > 1, Status.FIELD)
        _refuse_if(unused, Status.PADDING)
        sums = np.frombuffer(data, "<i8", n, 16)
        total = np.frombuffer(data, "<i8", n_outputs, 16 + 8 * n)
        scale, bias = np.frombuffer(data, "<f8", 2 * n_outputs, 16 + 8 * (n + n_outputs)).reshape(2, -1)
        counters = np.frombuffer(self.sections[Section.COUNTERS], "<u4")
        for start in range(0, n, _CHUNK):
            chunk = sums[start : start + _CHUNK]
            _check_sums(chunk)
            with np.errstate(over="ignore"):
                stored = (chunk * step).astype("<f4").view("<u4")
            _refuse_if(np.any(stored != counters[start : start + _CHUNK]), Status.SUMS)
        _check_sums(total)
        _refuse_if(not (np.isfinite(scale).all() and np.isfinite(bias).all()), Status.NOT_FINITE)
        shape = (fields.n_rows, fields.n_buckets, fields.n_numbers)
        state = Counters(sums.reshape(shape).astype(np.int64), total.astype(np.int64), step)
        return SimpleNamespace(state=state, scale=scale.astype(float), bias=bias.astype(float), debias=bool(debias))


def _check_sums(sums: np.ndarray) -> None:
    _refuse_if(sums.max() >= 2**62 or sums.min() <= -(2**62), Status.SUMS)


def _check_size(size: int, cap: int) -> None:
    _refuse_if(size == 0, Status.SIZE_ZERO)
    _refuse_if(size > cap, Status.SIZE_CAP)


def _check_precision(m: SimpleNamespace) -> None:
    if not m.is_whole:
        _refuse_if(m.right_shift or m.low or m.high or m.limit or m.flags & records.HAS_MULTIPLIERS, Status.FIELD)
        _refuse_if(m.linear > 1, Status.FIELD)
        return
    _refuse_if(m.projection in (1, 2) or m.linear == 1, Status.FIELD)
    _refuse_if(m.low >= m.high or m.low < -32_767, Status.FIELD)
    if m.has_matrix:
        _refuse_if(not 1 <= m.limit <= 32_767, Status.SHIFT)
    else:
        _refuse_if(m.limit or m.right_shift or m.flags & records.HAS_MULTIPLIERS, Status.FIELD)


def _sizes_over(array: np.ndarray, axis: int) -> np.ndarray:
    """Sums of absolute values along an axis, int64, without a wide copy of the whole array."""
    total = np.zeros(np.delete(array.shape, axis), np.int64)
    step = max(1, _CHUNK // max(1, array.shape[1 - axis]))
    for start in range(0, array.shape[axis], step):
        part = array[start : start + step] if axis == 0 else array[:, start : start + step]
        total += np.abs(part.astype(np.int64)).sum(axis=axis)
    return total


class _PartReader:
    """The sections of one part."""

    def __init__(self, reader: _Reader, index: int, inputs: Inputs, projection: Projection | None) -> None:
        self.reader, self.model, self.inputs, self.projection = reader, reader.model, inputs, projection
        self.first = records.PART_STRIDE * index
        self.fields = SimpleNamespace()

    def check(self) -> None:
        """All checks of paragraph 8."""
        self.fields = f = records.PART.unpack(self.reader._section(Section.PART + self.first, records.PART.nbytes))
        self._check_enumerations(f)
        self._check_sizes(f)
        self.n_inputs = self.model.n_components if f.source == 1 else self.model.n_values
        if f.hash < 16:
            self._check_own(f)
        else:
            self._check_pool(f)
        self._check_shape(f)
        self._check_arrays(f)
        if self.model.is_whole:
            self._check_bounds(f)
        _refuse_if(self._digest() != f.digest, Status.DIGEST)

    def _check_enumerations(self, f: SimpleNamespace) -> None:
        is_whole, is_pool = self.model.is_whole, f.hash >= 16
        _refuse_if(f.source > 1 or (f.source == 0 and self.model.projection == 0), Status.FIELD)
        _refuse_if(f.hash > 3 and f.hash not in records.POOLS, Status.HASH)
        _refuse_if(f.directions > 1 or (f.directions and f.hash > 1), Status.FIELD)
        _refuse_if(f.fold > 1 or (is_pool and f.fold == 0) or (f.hash in (2, 3) and f.fold == 1), Status.FIELD)
        _refuse_if(f.counter_type > 3 or (is_whole and f.counter_type == 0), Status.COUNTER_TYPE)
        _refuse_if(f.aggregate > 2 or f.decode > 2, Status.FIELD)
        _refuse_if(f.decode_shift > _MOST_SHIFT, Status.SHIFT)
        _refuse_if(f.decode_shift and not (is_whole and f.decode == 1), Status.FIELD)
        _refuse_if(f.width_bits > MAX_WIDTH_BITS, Status.SHIFT)
        _refuse_if(f.width_bits and not is_whole, Status.FIELD)
        _refuse_if(f.flags > 31, Status.FLAGS)
        _refuse_if(f.flags and not is_pool, Status.FIELD)
        has_width = f.hash in (0, 3)
        _refuse_if(f.n_parameters != has_width, Status.PARAMETER_COUNT)
        _refuse_if(not f.is_padded, Status.PADDING)
        if has_width:
            _refuse_if(not _NORMAL[0] <= f.width <= _NORMAL[1], Status.WIDTH)
        else:
            _refuse_if(f.width != 0 or np.signbit(f.width), Status.FIELD)

    def _check_sizes(self, f: SimpleNamespace) -> None:
        _check_size(f.n_rows, SIZE_CAP)
        _check_size(f.n_concat, MAX_CONCAT)
        _check_size(f.n_buckets, SIZE_CAP)
        _check_size(f.n_codes, SIZE_CAP if f.hash >= 16 else 2**32)
        _check_size(f.n_numbers, SIZE_CAP)
        _check_size(f.n_groups, f.n_rows)
        _check_size(f.n_gains, SIZE_CAP)
        _refuse_if(f.n_buckets < 2, Status.SIZE_ZERO)

    def _check_own(self, f: SimpleNamespace) -> None:
        _refuse_if(f.n_codes != f.n_rows * f.n_concat, Status.SIZE_MISMATCH)
        _refuse_if(f.n_axes or f.n_nonzeros or f.threshold_nbytes or f.spread, Status.FIELD)
        if f.fold == 0:
            _refuse_if(f.n_levels, Status.FIELD)
        else:
            _check_levels(f, is_binary=f.hash == 1)

    def _check_pool(self, f: SimpleNamespace) -> None:
        is_binary, is_whole = not f.flags & records.LEVELS, self.model.is_whole
        is_seeded = f.flags & records.SEEDED
        _check_levels(f, is_binary)
        _refuse_if(f.n_axes > min(f.n_codes, self.n_inputs), Status.FIELD)
        if f.hash == 17:
            _refuse_if(not 1 <= f.n_nonzeros <= 3, Status.FIELD)
        else:
            _refuse_if(f.n_nonzeros, Status.FIELD)
        if f.hash == 18:
            others = records.SEEDED | records.NORMALISED | records.INTERPOLATED | records.LEVELS
            _refuse_if(f.flags & others or f.n_axes, Status.FIELD)
            _refuse_if(f.threshold_nbytes not in ((1, 2) if is_whole else (4,)), Status.FIELD)
        else:
            _refuse_if(f.threshold_nbytes, Status.FIELD)
        _refuse_if(is_binary and f.flags & (records.NORMALISED | records.INTERPOLATED), Status.FIELD)
        _refuse_if(f.flags & records.INTERPOLATED and f.n_concat != 1, Status.FIELD)
        _refuse_if(is_whole and not is_binary and not is_seeded and f.width_bits < 1, Status.SHIFT)
        spread = f.spread if is_whole else float(np.uint32(f.spread).view(np.float32))
        _refuse_if(not 0 <= spread <= (MAX_SPREAD if is_whole else LARGEST_ENTRY), Status.SCALE)
        _refuse_if(f.spread and not (is_seeded and is_binary), Status.FIELD)
        _refuse_if(not f.flags & records.HAS_INDICES and f.n_codes != f.n_rows * f.n_concat, Status.SIZE_MISMATCH)

    def _check_shape(self, f: SimpleNamespace) -> None:
        n_outputs = self.model.n_outputs
        _refuse_if(f.decode == 0 and f.n_numbers != n_outputs, Status.SIZE_MISMATCH)
        _refuse_if(f.decode == 2 and f.n_numbers != 1, Status.SIZE_MISMATCH)
        _refuse_if(f.n_gains not in (1, n_outputs), Status.SIZE_MISMATCH)
        _refuse_if(f.aggregate < 2 and f.n_groups != 1, Status.FIELD)
        _refuse_if(f.aggregate == 2 and f.decode, Status.FIELD)
        _refuse_if(f.aggregate == 2 and self.model.is_whole and f.n_rows % f.n_groups, Status.FIELD)

    def _check_arrays(self, f: SimpleNamespace) -> None:
        reader = self.reader
        if f.flags & records.HAS_INDICES:
            reader._packed(Section.INDICES + self.first, f.n_rows * f.n_concat, index_bits(f.n_codes), f.n_codes)
        if f.hash == 18:
            reader._packed(Section.CODE_COLUMNS + self.first, f.n_codes, index_bits(self.n_inputs), self.n_inputs)
            if self.model.is_whole:
                self.thresholds = reader._whole(Section.THRESHOLDS + self.first, f"<i{f.threshold_nbytes}", f.n_codes)
            else:
                self.thresholds = reader._floats(Section.THRESHOLDS + self.first, f.n_codes, Status.NOT_FINITE)
        self.counters = self._counters(f).reshape(f.n_rows, f.n_buckets, f.n_numbers)
        self.decode = self._decode(f)
        self.gain = reader._floats(Section.GAIN + self.first, f.n_gains, Status.NOT_FINITE).astype(
            np.float32, copy=False
        )
        _refuse_if(not self.gain.all(), Status.SCALE)

    def _counters(self, f: SimpleNamespace) -> np.ndarray:
        kind, n = Section.COUNTERS + self.first, f.n_rows * f.n_buckets * f.n_numbers
        if f.counter_type == 0:
            return self.reader._floats(kind, n, Status.NOT_FINITE)
        if f.counter_type == 3:
            return self.reader._signed(kind, n, 4)
        return self.reader._whole(kind, "<i2" if f.counter_type == 1 else "i1", n)

    def _decode(self, f: SimpleNamespace) -> np.ndarray | None:
        if f.decode == 0:
            return None
        shape = (f.n_numbers if f.decode == 1 else f.n_rows, self.model.n_outputs)
        kind, n = Section.DECODE + self.first, shape[0] * shape[1]
        if self.model.is_whole:
            return self.reader._whole(kind, "i1", n).reshape(shape)
        return self.reader._floats(kind, n, Status.NOT_FINITE).reshape(shape)

    def _check_bounds(self, f: SimpleNamespace) -> None:
        """No sum may leave 32 bits: *Bounds* of ``docs/spec/inference.md``."""
        largest = self.model.limit if f.source == 1 and self.model.has_matrix else self.inputs.largest
        width = 1 << f.width_bits
        code = {
            0: (512 * self.n_inputs * largest + 64 * width) if f.directions else self.n_inputs * largest + width,
            1: (512 * self.n_inputs * largest + 64 * width) if f.directions else self.n_inputs * largest + width,
            2: 0,
            3: 32_767 * largest + 256 * width,
            16: self.n_inputs * largest + f.n_levels * width,
        }.get(f.hash, min(self.n_inputs, 3) * largest + f.n_levels * width)
        _refuse_if(code > LARGEST_INT, Status.OVERFLOW)
        # Without a wide copy: the largest of a row is below 2**15 in size, and -min cannot wrap in int16.
        high, low = self.counters.max(axis=1).astype(np.int64), self.counters.min(axis=1).astype(np.int64)
        sizes = np.maximum(high, -low) * (width if f.flags & records.INTERPOLATED else 1)
        if f.decode == 2:
            assert self.decode is not None
            total = np.zeros(self.model.n_outputs, np.int64)
            for size, row in zip(sizes[:, 0], self.decode, strict=True):
                total += size * np.abs(row.astype(np.int64))
        else:
            total = sizes.sum(axis=0)
        _refuse_if(int(total.max()) > LARGEST_INT, Status.OVERFLOW)
        if f.decode == 1:
            assert self.decode is not None
            decoded = np.zeros(self.model.n_outputs, np.int64)
            for size, row in zip((total >> f.decode_shift) + 1, self.decode, strict=True):
                decoded += size * np.abs(row.astype(np.int64))
            _refuse_if(int(decoded.max()) > LARGEST_INT, Status.OVERFLOW)

    def _digest(self) -> int:
        if self.fields.hash < 16:
            return digest_of_rows(self._row_hashes())
        pool = self._pool(None, None)
        return digest_of_pool(pool, self._are_boolean)

    def _are_boolean(self, places: list[int]) -> np.ndarray:
        is_projected = self.fields.source == 1 and self.model.projection != 0
        return np.zeros(len(places), bool) if is_projected else self.inputs.are_boolean(places)

    def _row_hashes(self) -> RowHashes:
        f = self.fields
        width_bits = f.width_bits if self.model.is_whole else None
        fold = records.FOLDS[f.fold]
        family = _family(f)
        return RowHashes(family, f.n_rows, f.n_buckets, self.n_inputs, f.n_concat, f.seed, fold, width_bits)

    def _pool(self, columns: np.ndarray | None, booleans: np.ndarray | None) -> CodePool:
        f, is_whole = self.fields, self.model.is_whole
        is_threshold = f.hash == 18
        if is_threshold and columns is None:
            columns = np.zeros(f.n_codes, np.int64)
        return CodePool(
            records.POOLS[f.hash],
            f.n_codes,
            self.n_inputs,
            f.seed,
            n_levels=f.n_levels if f.flags & records.LEVELS else 0,
            n_axes=f.n_axes,
            n_nonzeros=f.n_nonzeros or 3,
            is_seeded=bool(f.flags & records.SEEDED),
            spread=f.spread if is_whole else float(np.uint32(f.spread).view(np.float32)),
            is_normalised=bool(f.flags & records.NORMALISED),
            width_bits=f.width_bits if is_whole else None,
            booleans=booleans,
            columns=columns,
            thresholds=self.thresholds.astype(np.int32 if is_whole else np.float32) if is_threshold else None,
        )

    def make(self) -> Part:
        """The part, once the whole file is known to be good."""
        f, reader = self.fields, self.reader
        hashes: RowHashes | PooledRows
        if f.hash < 16:
            hashes = self._row_hashes()
        else:
            columns = None
            if f.hash == 18:
                columns = reader._unpacked(Section.CODE_COLUMNS + self.first, f.n_codes, index_bits(self.n_inputs))
            indices = None
            if f.flags & records.HAS_INDICES:
                flat = reader._unpacked(Section.INDICES + self.first, f.n_rows * f.n_concat, index_bits(f.n_codes))
                indices = flat.reshape(f.n_rows, f.n_concat)
            booleans = None
            if f.source == 0 or self.model.projection == 0:
                booleans = self.inputs.booleans
            pool = self._pool(columns, booleans)
            hashes = PooledRows(pool, f.n_rows, f.n_concat, indices, bool(f.flags & records.INTERPOLATED))
        counter_type = records.COUNTER_TYPES[f.counter_type]
        return Part(
            hashes,
            self.counters.astype(self.counters.dtype.newbyteorder("=")),
            self.gain,
            counter_type,
            records.SOURCES[f.source],
            records.AGGREGATES[f.aggregate],
            f.n_groups,
            self.decode.astype(self.decode.dtype.newbyteorder("="))
            if f.decode == 1 and self.decode is not None
            else None,
            self.decode.astype(self.decode.dtype.newbyteorder("="))
            if f.decode == 2 and self.decode is not None
            else None,
            f.decode_shift,
        )


def _check_levels(f: SimpleNamespace, is_binary: bool) -> None:
    """Levels ** K = R, without computing a power that is too large."""
    _refuse_if(f.n_levels < 2 or (is_binary and f.n_levels != 2), Status.BUCKETS)
    product = 1
    for _ in range(f.n_concat):
        product *= f.n_levels
        _refuse_if(product > f.n_buckets, Status.BUCKETS)
    _refuse_if(product != f.n_buckets, Status.BUCKETS)


def _family(f: SimpleNamespace) -> Family:
    directions = records.DIRECTIONS[f.directions]
    if f.hash == 0:
        return L2(f.width, directions)
    if f.hash == 1:
        return Angular(directions)
    return MinHash() if f.hash == 2 else L1(f.width)


def _as_sketch(form: Form, sums: SimpleNamespace | None) -> Sketch:
    """The paper's kind of sketch where the form is of that kind, so that it can be added to or refitted again."""
    part = form.parts[0]
    kinds = None if form.projection is None else form.projection.kind
    is_paper = (
        len(form.parts) == 1
        and not form.is_whole
        and isinstance(part.hashes, RowHashes)
        and part.counter_type == "float32"
        and part.decode is None
        and part.aggregate != "sum"
        and kinds in (None, "shift", "float32")
        and part.source == "projected"
        and form.inputs.columns is None
        and form.inputs.kinds is None
        and form.feature_names is None
        and _has_units_of(form, part)
    )
    if not is_paper:
        return CompiledSketch(form)
    assert isinstance(part.hashes, RowHashes)
    projection = form.projection
    options: dict[str, Any] = {
        "projection": None if projection is None else projection.matrix,
        "shift": None if projection is None else projection.shift,
        "linear": form.linear,
        "n_groups": part.n_groups,
        "task": form.task,
        "classes": form.classes,
    }
    if sums is None:
        gain = np.broadcast_to(part.gain, form.offset.shape).astype(np.float64)
        return KernelSketch(
            part.hashes, None, part.counters, output_scale=gain, output_bias=form.offset.astype(np.float64), **options
        )
    state = {"output_scale": sums.scale, "output_bias": sums.bias, "debias": sums.debias}
    sketch = KernelSketch(part.hashes, sums.state, **state, **options)
    is_same = np.array_equal(sketch.gain, np.broadcast_to(part.gain, sketch.gain.shape))
    if not (is_same and np.array_equal(sketch.offset, form.offset)):
        raise FormatError(Status.SUMS)
    return sketch


def _has_units_of(form: Form, part: Part) -> bool:
    """The columns are scaled as the family of an unprojected sketch asks for, and in no other way."""
    assert isinstance(part.hashes, RowHashes)
    unit, scales = np.float32(part.hashes.family.unit_scale), form.inputs.scales
    if form.inputs.centers is not None or form.inputs.accepts_missing or form.inputs.stored_as != "float32":
        return False
    has_matrix = form.projection is not None and form.projection.matrix is not None
    if has_matrix or unit == 1.0:
        return scales is None
    return scales is not None and len(scales) == 1 and scales[0] == unit
