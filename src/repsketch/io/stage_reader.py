"""Reads one stage. ``docs/spec/format.md``, section 3, paragraph 5."""

from types import SimpleNamespace

import numpy as np

from ..model.numbers import packed_nbytes
from ..model.rows import LARGEST_INT
from ..model.stages import LARGEST_OUTPUT, MAX_TABLE_BITS, MAX_WIDTH, TABLE_SIZES, Stage, half_of
from . import records
from .bounds import column_sizes, signed_numbers, stored_entries
from .records import Activation, Section, StageMatrix
from .sections import CHUNK, MOST_SHIFT, Sections, check_size, refuse_if
from .status import Status

_MOST_BITS = 15  # of a shift, and of the bits that ReLU and clip drop
_WIDTHS = {Activation.NONE: (0, 0), Activation.TABLE: (1, MAX_TABLE_BITS)}


class StageReader:
    """The sections of one stage; ``n_inputs`` numbers of at most ``largest_input`` in size go into it."""

    def __init__(
        self, sections: Sections, model: SimpleNamespace, index: int, n_inputs: int, largest_input: int
    ) -> None:
        self.sections, self.model = sections, model
        self.first, self.is_last = records.STAGE_STRIDE * index, index + 1 == model.n_stages
        self.n_inputs, self.largest_input = n_inputs, largest_input
        self.fields = SimpleNamespace()
        self.linear: np.ndarray | None = None
        self.gain: np.ndarray | None = None
        self.largest_linear = 0

    @property
    def largest(self) -> int:
        """Bound of what the stage hands on."""
        return self.fields.limit if self.fields.activation == Activation.NONE else LARGEST_OUTPUT

    def check(self) -> None:
        """All checks of a stage."""
        record = self.sections.section(Section.STAGE + self.first, records.STAGE.nbytes)
        self.fields = f = records.STAGE.unpack(record)
        if not self.sections.are_good:
            self._check_fields(f)
        f.n_bits = 4 if f.matrix in (StageMatrix.INT4, StageMatrix.SPARSE_INT4) else 8
        f.is_sparse = f.matrix >= StageMatrix.SPARSE_INT8
        f.n_entries = self.n_inputs * f.n_components
        self._read_matrix(f)
        self._read_coordinates(f)
        if f.n_gains:
            self._read_linear(f)
        if not self.sections.are_good:
            self._check_bounds(f)

    def _check_fields(self, f: SimpleNamespace) -> None:
        refuse_if(f.activation >= len(Activation), Status.FIELD)
        refuse_if(f.activation == Activation.NONE and not self.is_last, Status.FIELD)
        refuse_if(f.matrix >= len(StageMatrix), Status.FIELD)
        refuse_if(f.right_shift > MOST_SHIFT or f.shift_bits > _MOST_BITS, Status.SHIFT)
        smallest, largest = _WIDTHS.get(f.activation, (0, _MOST_BITS))
        refuse_if(not smallest <= f.width_bits <= largest, Status.SHIFT)
        refuse_if(f.n_levels not in (TABLE_SIZES if f.activation == Activation.TABLE else (0,)), Status.FIELD)
        refuse_if(not 1 <= f.limit <= 32_767, Status.SHIFT)
        check_size(f.n_components, MAX_WIDTH)
        refuse_if(self.is_last and f.n_components != self.model.n_components, Status.SIZE_MISMATCH)
        most = self.n_inputs * f.n_components if f.matrix >= StageMatrix.SPARSE_INT8 else 0
        refuse_if(f.n_nonzeros > most or f.n_gains not in (0, 1, self.model.n_outputs), Status.SIZE_MISMATCH)
        refuse_if(f.n_gains and f.activation == Activation.NONE, Status.FIELD)
        refuse_if(not f.is_padded, Status.PADDING)

    def _read_matrix(self, f: SimpleNamespace) -> None:
        kind = Section.STAGE_MATRIX + self.first
        if not f.is_sparse:
            if f.n_bits == 4:
                stored = self.sections.signed(kind, f.n_entries, 4)
            else:
                stored = self.sections.integers(kind, "i1", f.n_entries)
            self.matrix = stored.reshape(self.n_inputs, f.n_components)
            return
        size = packed_nbytes(f.n_entries, 1)
        data = self.sections.section(kind, size + packed_nbytes(f.n_nonzeros, f.n_bits))
        self.bitmap, self.entries = data[:size], data[size:]
        if not self.sections.are_good:
            self._check_sparse(f)

    def _check_sparse(self, f: SimpleNamespace) -> None:
        self.sections.check_left_over(self.bitmap, f.n_entries)
        bits, n_ones = np.frombuffer(self.bitmap, np.uint8), 0
        for start in range(0, len(bits), CHUNK):
            n_ones += int(np.count_nonzero(np.unpackbits(bits[start : start + CHUNK])))
        refuse_if(n_ones != f.n_nonzeros, Status.SIZE_MISMATCH)
        for start in range(0, f.n_nonzeros, CHUNK):
            numbers = signed_numbers(self.entries, start, min(CHUNK, f.n_nonzeros - start), f.n_bits)
            refuse_if(not numbers.all() or numbers.min() == -(1 << (f.n_bits - 1)), Status.COUNTER_RANGE)
        self.sections.check_left_over(self.entries, f.n_nonzeros * f.n_bits)

    def _read_coordinates(self, f: SimpleNamespace) -> None:
        p = f.n_components
        stored = self.sections.array(Section.STAGE_COORDINATES + self.first, "u1", p * (2 + f.n_levels))
        self.multipliers, signed = stored[:p], stored[p:].view(np.int8)
        self.shift, self.tables = signed[:p], signed[p:].reshape(p, f.n_levels)
        refuse_if(not self.multipliers.all(), Status.SCALE)
        refuse_if(signed.min() == -128, Status.COUNTER_RANGE)

    def _read_linear(self, f: SimpleNamespace) -> None:
        n, n_outputs = 4 * f.n_gains, self.model.n_outputs
        data = self.sections.section(Section.STAGE_LINEAR + self.first, n + f.n_components * n_outputs)
        self.gain = np.frombuffer(data[:n], "<f4").astype(np.float32)
        self.linear = np.frombuffer(data[n:], np.int8).reshape(f.n_components, n_outputs)
        refuse_if(not np.isfinite(self.gain).all() or not self.gain.all(), Status.SCALE)
        refuse_if(self.linear.min() == -128, Status.COUNTER_RANGE)

    def _check_bounds(self, f: SimpleNamespace) -> None:
        """No sum may leave 32 bits: *Bounds* of ``docs/spec/inference.md``."""
        sizes = np.zeros(f.n_components, np.int64)
        if f.is_sparse:
            for places, numbers in stored_entries(self.bitmap, self.entries, f.n_entries, f.n_bits):
                np.add.at(sizes, places % f.n_components, np.abs(numbers).astype(np.int64))
        else:
            for columns, total in column_sizes(self.matrix):
                sizes[columns] = total
        for start in range(0, f.n_components, CHUNK):
            here = slice(start, start + CHUNK)
            moved = np.abs(self.shift[here].astype(np.int64)) << f.shift_bits
            sums = self.largest_input * sizes[here] * self.multipliers[here] + half_of(f.right_shift) + moved
            refuse_if(sums.max() > LARGEST_INT, Status.OVERFLOW)
        for _, total in () if self.linear is None else column_sizes(self.linear):
            self.largest_linear = max(self.largest_linear, int(total.max()) * f.limit)
        refuse_if(self.largest_linear > LARGEST_INT, Status.OVERFLOW)

    def make(self) -> Stage:
        """The stage, once all of the file is known to be good."""
        f = self.fields
        return Stage(
            self._sparse_matrix(f) if f.is_sparse else self.matrix,
            self.multipliers,
            self.shift,
            f.right_shift,
            f.shift_bits,
            f.limit,
            records.ACTIVATIONS[f.activation],
            self.tables if f.n_levels else None,
            f.width_bits,
            f.n_bits,
            f.is_sparse,
            self.linear,
            self.gain,
        )

    def _sparse_matrix(self, f: SimpleNamespace) -> np.ndarray:
        flat = np.zeros(f.n_entries, np.int8)
        for places, numbers in stored_entries(self.bitmap, self.entries, f.n_entries, f.n_bits):
            flat[places] = numbers
        return flat.reshape(self.n_inputs, f.n_components)
