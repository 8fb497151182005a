"""Reads one group of rows. ``docs/spec/format.md``, section 3, paragraph 8."""

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

from ..lsh import RowHashes
from ..lsh.generator import MAX_CONCAT
from ..lsh.pool import MAX_BIAS_SCALE, MAX_NONZEROS, CodePool, PooledRows, largest_sum
from ..lsh.rows import MAX_WIDTH_BITS
from ..model.inputs import Inputs
from ..model.magnitudes import LARGEST_MAGNITUDE, Magnitudes, largest_size
from ..model.numbers import index_bits
from ..model.projection import LARGEST_ENTRY
from ..model.rows import LARGEST_INT, RowGroup
from . import records
from .digest import digest_of_pool, digest_of_rows
from .model_reader import ModelReader
from .records import (
    FIRST_POOL,
    Aggregate,
    CounterType,
    DecodeBits,
    DecodeKind,
    Fold,
    Hash,
    ProjectionKind,
    Section,
    Source,
)
from .sections import CHUNK, MOST_SHIFT, SIZE_CAP, check_size, refuse_if
from .status import Status
from .totals import family_of, reads_values

_HASHES = frozenset(Hash)


class RowGroupReader:
    """The sections of one group of rows."""

    def __init__(self, reader: ModelReader, index: int) -> None:
        self.sections, self.model, self.reader = reader.sections, reader.model, reader
        self.first = records.ROW_GROUP_STRIDE * index
        self.fields = SimpleNamespace()
        self.largest_sum = 0  # of the int precision

    def check(self) -> None:
        """All checks of paragraph 8."""
        record = self.sections.section(Section.ROW_GROUP + self.first, records.ROW_GROUP.nbytes)
        self.fields = f = records.ROW_GROUP.unpack(record)
        self.n_inputs = self.model.n_values if f.source == Source.VALUES else self.model.n_components
        if self.sections.are_good:
            self._check_arrays(f)
            return
        self._check_enumerations(f)
        self._check_sizes(f)
        if f.hash < FIRST_POOL:
            self._check_own(f)
        else:
            self._check_pool(f)
        self._check_shape(f)
        self._check_arrays(f)
        if self.model.is_integer:
            self._check_bounds(f)
        refuse_if(self._digest() != f.digest, Status.DIGEST)

    def _check_enumerations(self, f: SimpleNamespace) -> None:
        is_integer, is_pool = self.model.is_integer, f.hash >= FIRST_POOL
        refuse_if(f.source >= len(records.SOURCES), Status.FIELD)
        refuse_if(f.source == Source.VALUES and self.model.projection == ProjectionKind.NONE, Status.FIELD)
        refuse_if(f.hash not in _HASHES, Status.HASH)
        family = None if is_pool else family_of(f)
        has_directions = family is not None and family.has_directions
        refuse_if(f.directions >= len(records.DIRECTIONS) or (f.directions and not has_directions), Status.FIELD)
        refuse_if(f.fold >= len(records.FOLDS) or (is_pool and f.fold == Fold.UNIVERSAL), Status.FIELD)
        refuse_if(f.fold == Fold.DIRECT and family is not None and not family.has_ordered_codes, Status.FIELD)
        refuse_if(f.counter_type >= len(records.COUNTER_TYPES), Status.COUNTER_TYPE)
        refuse_if(is_integer and f.counter_type == CounterType.FLOAT32, Status.COUNTER_TYPE)
        refuse_if(f.aggregate >= len(records.AGGREGATES) or f.decode >= len(records.DECODES), Status.FIELD)
        refuse_if(f.decode_shift > MOST_SHIFT, Status.SHIFT)
        refuse_if(f.decode_shift and not (is_integer and f.decode == DecodeKind.SHARED), Status.FIELD)
        refuse_if(f.decode_stored_as >= len(records.DECODE_BITS), Status.FIELD)
        refuse_if(f.decode_stored_as and not (is_integer and f.decode), Status.FIELD)
        refuse_if(f.width_bits > MAX_WIDTH_BITS, Status.SHIFT)
        refuse_if(f.width_bits and not is_integer, Status.FIELD)
        refuse_if(f.flags > records.ALL_ROW_GROUP_FLAGS, Status.FLAGS)
        refuse_if(f.flags and not is_pool, Status.FIELD)
        has_width = family is not None and family.has_bandwidth
        refuse_if(f.n_parameters != has_width, Status.PARAMETER_COUNT)
        refuse_if(not f.is_padded, Status.PADDING)
        if has_width:
            refuse_if(not 1e-30 <= f.width <= 1e30, Status.WIDTH)
        else:
            refuse_if(f.width != 0 or np.signbit(f.width), Status.FIELD)

    def _check_sizes(self, f: SimpleNamespace) -> None:
        check_size(f.n_rows, SIZE_CAP)
        check_size(f.n_concat, MAX_CONCAT)
        check_size(f.n_buckets, SIZE_CAP)
        check_size(f.n_codes, SIZE_CAP if f.hash >= FIRST_POOL else 2**32)
        check_size(f.n_numbers, SIZE_CAP)
        check_size(f.n_groups, f.n_rows)
        check_size(f.n_gains, SIZE_CAP)
        refuse_if(f.n_buckets < 2, Status.SIZE_ZERO)

    def _check_own(self, f: SimpleNamespace) -> None:
        refuse_if(f.n_codes != f.n_rows * f.n_concat, Status.SIZE_MISMATCH)
        refuse_if(f.n_axes or f.n_nonzeros or f.threshold_nbytes or f.bias_scale, Status.FIELD)
        if f.fold == Fold.UNIVERSAL:
            refuse_if(f.n_levels, Status.FIELD)
        else:
            _check_levels(f, family_of(f).is_binary)

    def _check_pool(self, f: SimpleNamespace) -> None:
        is_binary, is_integer = not f.flags & records.LEVELS, self.model.is_integer
        is_seeded = f.flags & records.SEEDED
        _check_levels(f, is_binary)
        refuse_if(f.n_axes > min(f.n_codes, self.n_inputs), Status.FIELD)
        if f.hash == Hash.POOL_SPARSE:
            refuse_if(not 1 <= f.n_nonzeros <= MAX_NONZEROS, Status.FIELD)
        else:
            refuse_if(f.n_nonzeros, Status.FIELD)
        if f.hash == Hash.POOL_THRESHOLD:
            others = records.SEEDED | records.NORMALISED | records.INTERPOLATED | records.LEVELS
            refuse_if(f.flags & others or f.n_axes, Status.FIELD)
            refuse_if(f.threshold_nbytes not in ((1, 2) if is_integer else (4,)), Status.FIELD)
        else:
            refuse_if(f.threshold_nbytes, Status.FIELD)
        refuse_if(is_binary and f.flags & (records.NORMALISED | records.INTERPOLATED), Status.FIELD)
        refuse_if(f.flags & records.INTERPOLATED and f.n_concat != 1, Status.FIELD)
        refuse_if(is_integer and not is_binary and not is_seeded and f.width_bits < 1, Status.SHIFT)
        bias_scale = f.bias_scale if is_integer else float(np.uint32(f.bias_scale).view(np.float32))
        refuse_if(not 0 <= bias_scale <= (MAX_BIAS_SCALE if is_integer else LARGEST_ENTRY), Status.SCALE)
        refuse_if(f.bias_scale and not (is_seeded and is_binary), Status.FIELD)
        refuse_if(not f.flags & records.HAS_INDICES and f.n_codes != f.n_rows * f.n_concat, Status.SIZE_MISMATCH)

    def _check_shape(self, f: SimpleNamespace) -> None:
        n_outputs = self.model.n_outputs
        refuse_if(f.decode == DecodeKind.NONE and f.n_numbers != n_outputs, Status.SIZE_MISMATCH)
        refuse_if(f.decode == DecodeKind.ROWS and f.n_numbers != 1, Status.SIZE_MISMATCH)
        refuse_if(f.n_gains not in (1, n_outputs), Status.SIZE_MISMATCH)
        is_median = f.aggregate == Aggregate.MEDIAN_OF_MEANS
        refuse_if(not is_median and f.n_groups != 1, Status.FIELD)
        refuse_if(is_median and f.decode, Status.FIELD)
        refuse_if(is_median and self.model.is_integer and f.n_rows % f.n_groups, Status.FIELD)

    def _check_arrays(self, f: SimpleNamespace) -> None:
        if f.flags & records.HAS_INDICES:
            self.sections.packed(Section.INDICES + self.first, f.n_rows * f.n_concat, index_bits(f.n_codes), f.n_codes)
        if f.hash == Hash.POOL_THRESHOLD:
            self.sections.packed(Section.CODE_COLUMNS + self.first, f.n_codes, index_bits(self.n_inputs), self.n_inputs)
            if self.model.is_integer:
                self.thresholds = self.sections.integers(
                    Section.THRESHOLDS + self.first, f"<i{f.threshold_nbytes}", f.n_codes
                )
            else:
                self.thresholds = self.sections.floats(Section.THRESHOLDS + self.first, f.n_codes, Status.NOT_FINITE)
        self.counters = self._counters(f).reshape(f.n_rows, f.n_buckets, f.n_numbers)
        self.decode = self._decode(f)
        self.gain = self.sections.floats(Section.GAIN + self.first, f.n_gains, Status.NOT_FINITE).astype(
            np.float32, copy=False
        )
        refuse_if(not self.gain.all(), Status.SCALE)

    def _counters(self, f: SimpleNamespace) -> np.ndarray:
        kind, n = Section.COUNTERS + self.first, f.n_rows * f.n_buckets * f.n_numbers
        if f.counter_type == CounterType.FLOAT32:
            return self.sections.floats(kind, n, Status.NOT_FINITE)
        if f.counter_type == CounterType.INT4:
            return self.sections.signed(kind, n, 4)
        return self.sections.integers(kind, "<i2" if f.counter_type == CounterType.INT16 else "i1", n)

    def _decode(self, f: SimpleNamespace) -> np.ndarray | None:
        if f.decode == DecodeKind.NONE:
            return None
        shape = (f.n_numbers if f.decode == DecodeKind.SHARED else f.n_rows, self.model.n_outputs)
        kind, n = Section.DECODE + self.first, shape[0] * shape[1]
        if f.decode_stored_as == DecodeBits.INT4:
            return self.sections.signed(kind, n, 4).reshape(shape)
        if self.model.is_integer:
            return self.sections.integers(kind, "i1", n).reshape(shape)
        return self.sections.floats(kind, n, Status.NOT_FINITE).reshape(shape)

    def _check_bounds(self, f: SimpleNamespace) -> None:
        """No sum may leave 32 bits: *Bounds* of ``docs/spec/inference.md``."""
        reader = self.reader
        largest = reader.largest_coordinate if f.source == Source.PROJECTED else reader.largest_value
        width = 1 << f.width_bits
        if f.hash < FIRST_POOL:
            code = family_of(f).largest_sum(records.DIRECTIONS[f.directions], self.n_inputs, largest, width)
        else:
            code = largest_sum(records.POOLS[f.hash], self.n_inputs, f.n_levels, largest, width)
        refuse_if(code > LARGEST_INT, Status.OVERFLOW)
        total = np.zeros(self.model.n_outputs if f.decode == DecodeKind.ROWS else f.n_numbers, np.int64)
        for first in range(0, f.n_numbers, CHUNK):
            numbers = slice(first, first + CHUNK)
            for rows, sizes in self._row_sizes(f, numbers):
                if f.decode == DecodeKind.ROWS:
                    assert self.decode is not None
                    total += sizes[:, 0] @ np.abs(self.decode[rows].astype(np.int64))
                else:
                    total[numbers] += sizes.sum(axis=0)
        refuse_if(int(total.max()) > LARGEST_INT, Status.OVERFLOW)
        if f.decode == DecodeKind.SHARED:
            assert self.decode is not None
            decoded = np.zeros(self.model.n_outputs, np.int64)
            step = max(1, CHUNK // self.model.n_outputs)
            for start in range(0, f.n_numbers, step):
                factors = (total[start : start + step] >> f.decode_shift) + 1
                decoded += factors @ np.abs(self.decode[start : start + step].astype(np.int64))
            refuse_if(int(decoded.max()) > LARGEST_INT, Status.OVERFLOW)
            total = decoded
        self.largest_sum = int(total.max())

    def largest_accumulator(self) -> float:
        """Bound of the accumulators; refused if something on the way to them could become infinite."""
        f = self.fields
        if self.model.is_integer:
            return float(self.largest_sum)
        entry = 1.0 if self.decode is None else largest_size(self.decode)
        found = Magnitudes(
            largest_size(self.counters),
            f.n_rows,
            f.aggregate == Aggregate.SUM,
            bool(f.flags & records.INTERPOLATED),
            entry if f.decode == DecodeKind.ROWS else 1.0,
            (f.n_numbers, entry) if f.decode == DecodeKind.SHARED else None,
        )
        refuse_if(found.largest > LARGEST_MAGNITUDE, Status.MAGNITUDE)
        return found.accumulator

    def _row_sizes(self, f: SimpleNamespace, numbers: slice) -> Iterator[tuple[slice, np.ndarray]]:
        """What a row may add to a sum, int64 (rows, numbers), for some rows after the other: wide copies stay small."""
        counters = self.counters[:, :, numbers]
        step = max(1, CHUNK // max(counters[0].size, self.model.n_outputs if f.decode == DecodeKind.ROWS else 1))
        for start in range(0, f.n_rows, step):
            rows = slice(start, start + step)
            high, low = (edge(counters[rows], axis=1).astype(np.int64) for edge in (np.max, np.min))
            yield rows, np.maximum(high, -low) << (f.width_bits if f.flags & records.INTERPOLATED else 0)

    def _digest(self) -> int:
        if self.fields.hash < FIRST_POOL:
            return digest_of_rows(self._row_hashes())
        return 0 if self.fields.hash == Hash.POOL_THRESHOLD else digest_of_pool(self._pool(), self._are_boolean)

    def _are_boolean(self, places: list[int]) -> np.ndarray:
        has_kinds = reads_values(self.model, self.fields)
        return self.reader.are_boolean(places) if has_kinds else np.zeros(len(places), bool)

    def _row_hashes(self) -> RowHashes:
        f = self.fields
        width_bits = f.width_bits if self.model.is_integer else None
        fold = records.FOLDS[f.fold]
        family = family_of(f).from_parameters(f.width, records.DIRECTIONS[f.directions])
        return RowHashes(family, f.n_rows, f.n_buckets, self.n_inputs, f.n_concat, f.seed, fold, width_bits)

    def _pool(self, columns: np.ndarray | None = None, booleans: np.ndarray | None = None) -> CodePool:
        f, is_integer = self.fields, self.model.is_integer
        thresholds = None if columns is None else self.thresholds.astype(np.int32 if is_integer else np.float32)
        return CodePool(
            records.POOLS[f.hash],
            f.n_codes,
            self.n_inputs,
            f.seed,
            n_levels=f.n_levels if f.flags & records.LEVELS else 0,
            n_axes=f.n_axes,
            n_nonzeros=f.n_nonzeros or 3,
            is_seeded=bool(f.flags & records.SEEDED),
            bias_scale=f.bias_scale if is_integer else float(np.uint32(f.bias_scale).view(np.float32)),
            is_normalised=bool(f.flags & records.NORMALISED),
            width_bits=f.width_bits if is_integer else None,
            booleans=booleans,
            columns=columns,
            thresholds=thresholds,
        )

    def make(self, inputs: Inputs) -> RowGroup:
        """The group of rows, once all of the file is known to be good."""
        f = self.fields
        hashes: RowHashes | PooledRows
        if f.hash < FIRST_POOL:
            hashes = self._row_hashes()
        else:
            columns = None
            if f.hash == Hash.POOL_THRESHOLD:
                columns = self.sections.unpacked(
                    Section.CODE_COLUMNS + self.first, f.n_codes, index_bits(self.n_inputs)
                )
            indices = None
            if f.flags & records.HAS_INDICES:
                flat = self.sections.unpacked(
                    Section.INDICES + self.first, f.n_rows * f.n_concat, index_bits(f.n_codes)
                )
                indices = flat.reshape(f.n_rows, f.n_concat)
            booleans = None
            is_random_bit = f.flags & records.SEEDED and not f.flags & records.LEVELS
            if is_random_bit and reads_values(self.model, f):
                booleans = inputs.booleans  # nothing else needs them
            pool = self._pool(columns, booleans)
            hashes = PooledRows(pool, f.n_rows, f.n_concat, indices, bool(f.flags & records.INTERPOLATED))
        counter_type = records.COUNTER_TYPES[f.counter_type]
        decode = None if self.decode is None else self.decode.astype(self.decode.dtype.newbyteorder("="))
        return RowGroup(
            hashes,
            self.counters.astype(self.counters.dtype.newbyteorder("=")),
            self.gain,
            counter_type,
            records.SOURCES[f.source],
            records.AGGREGATES[f.aggregate],
            f.n_groups,
            decode if f.decode == DecodeKind.SHARED else None,
            decode if f.decode == DecodeKind.ROWS else None,
            f.decode_shift,
            records.DECODE_BITS[f.decode_stored_as],
        )


def _check_levels(f: SimpleNamespace, is_binary: bool) -> None:
    """Levels ** K = R, without computing a power that is too large."""
    refuse_if(f.n_levels < 2 or (is_binary and f.n_levels != 2), Status.BUCKETS)
    product = 1
    for _ in range(f.n_concat):
        product *= f.n_levels
        refuse_if(product > f.n_buckets, Status.BUCKETS)
    refuse_if(product != f.n_buckets, Status.BUCKETS)
