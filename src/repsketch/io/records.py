"""The two fixed records of a file, and the types of its sections. ``docs/spec/format.md``, section 2."""

import struct
from enum import IntEnum
from types import SimpleNamespace
from typing import Any


class Section(IntEnum):
    """Types of sections; those of part i lie 8 i above."""

    MODEL = 1
    COLUMNS = 2
    KINDS = 3
    CENTERS = 4
    SCALES = 5
    PROJECTION = 6
    SHIFT = 7
    MULTIPLIERS = 8
    PROJECTION_SCALES = 9
    LINEAR = 10
    LINEAR_GAIN = 11
    OFFSET = 12
    PART = 16
    INDICES = 17
    CODE_COLUMNS = 18
    THRESHOLDS = 19
    COUNTERS = 20
    DECODE = 21
    GAIN = 22
    CLASSES = 64
    NAMES = 65
    SUMS = 66
    METADATA = 67
    CATEGORIES = 68
    INTERVALS = 69


#: Distance between the sections of two parts.
PART_STRIDE = 8


class Record:
    """A fixed sequence of named fields, little-endian. Names that begin with "unused" are zero bytes."""

    def __init__(self, fields: str) -> None:
        pairs = [field.split(":") for field in fields.split()]
        self.names = [name for name, _ in pairs]
        self._struct = struct.Struct("<" + "".join(code for _, code in pairs))
        self._zeros = {name: bytes(int(code[:-1])) for name, code in pairs if name.startswith("unused")}

    @property
    def nbytes(self) -> int:
        """Bytes of the record."""
        return self._struct.size

    def pack(self, **values: Any) -> bytes:
        """The record's bytes; every field must be given."""
        values |= self._zeros
        return self._struct.pack(*(values.pop(name) for name in self.names))

    def unpack(self, data: memoryview) -> SimpleNamespace:
        """The fields as attributes; ``is_padded`` tells whether all unused bytes are zero."""
        values = dict(zip(self.names, self._struct.unpack(data), strict=True))
        is_padded = all(not any(values[name]) for name in self._zeros)
        return SimpleNamespace(**values, is_padded=is_padded)


MODEL = Record(
    "precision:B generator:B task:B n_parts:B projection:B right_shift:B linear:B stored_as:B "
    "n_features:I n_columns:I n_values:I n_components:I n_outputs:I kinds:H flags:H low:h high:h limit:H "
    "offset_stored_as:B unused0:1s n_classes:I n_centers:I n_scales:I n_linear_gains:I center_bias:b scale_bias:b "
    "unused1:6s"
)
PART = Record(
    "source:B hash:B directions:B fold:B counter_type:B aggregate:B decode:B decode_shift:B width_bits:B flags:B "
    "n_nonzeros:B n_parameters:B threshold_nbytes:B decode_stored_as:B unused0:2s width:d seed:I n_rows:I n_concat:I "
    "n_buckets:I n_levels:I n_codes:I n_axes:I n_numbers:I n_groups:I n_gains:I spread:I digest:I unused1:8s"
)

INTERVALS = Record("n_rows:I n_levels:H n_bins:H")

# The order of each tuple is the number in the file.
PRECISIONS = ("float32", "int")
TASKS = (None, "classification", "regression")
PROJECTIONS = (None, "shift", "float32", "int8", "ternary")
LINEARS = (None, "float32", "int16", "int8")
STORED_AS = ("float32", "bfloat16", "float8")
SOURCES = ("values", "projected")
FAMILIES = ("l2", "angular", "minhash", "l1")
FIRST_POOL = 16
POOLS = {16: "ternary", 17: "sparse", 18: "threshold"}
DIRECTIONS = ("ternary", "gaussian")
FOLDS = ("universal", "direct")
COUNTER_TYPES = ("float32", "int16", "int8", "int4")
AGGREGATES = ("sum", "mean", "median_of_means")
DECODES = (None, "shared", "rows")
DECODE_BITS = (8, 4)  # of whole numbers
GENERATOR = 1

# Flags of MODEL and of PART.
HAS_COLUMNS, ACCEPTS_MISSING, HAS_SHIFT, HAS_MULTIPLIERS = 1, 2, 4, 8
HAS_INDICES, SEEDED, NORMALISED, INTERPOLATED, LEVELS = 1, 2, 4, 8, 16
