"""The numbers of the .rsk format: types of sections, enumerations, flags, and the fields of the fixed records.

This is the one list of them. ``tools/write_format.py`` writes ``native/rsk_format.h`` from it, so that C has the same
names and numbers; ``docs/spec/format.md``, section 2, is the specification.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum
from types import SimpleNamespace
from typing import Any


class Section(IntEnum):
    """Types of sections; those of group of rows i lie ``ROW_GROUP_STRIDE`` i above, of stage i ``STAGE_STRIDE`` i.

    Types below ``FIRST_OPTIONAL`` are required to predict.
    """

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
    ROW_GROUP = 16
    INDICES = 17
    CODE_COLUMNS = 18
    THRESHOLDS = 19
    COUNTERS = 20
    DECODE = 21
    GAIN = 22
    STAGE = 48
    STAGE_MATRIX = 49
    STAGE_COORDINATES = 50
    STAGE_LINEAR = 51
    CLASSES = 64
    NAMES = 65
    SUMS = 66
    METADATA = 67
    CATEGORIES = 68
    INTERVALS = 69


#: Distance between the sections of two groups of rows, and how many groups there may be.
ROW_GROUP_STRIDE, MAX_ROW_GROUPS = 8, 4
#: The same of stages.
STAGE_STRIDE, MAX_STAGES = 4, 4
#: Types from here on are not needed for a prediction.
FIRST_OPTIONAL = Section.CLASSES


def is_known(kind: int) -> bool:
    """True for a section type that this format version defines."""
    if Section.ROW_GROUP <= kind < Section.ROW_GROUP + ROW_GROUP_STRIDE * MAX_ROW_GROUPS:
        kind = Section.ROW_GROUP + (kind - Section.ROW_GROUP) % ROW_GROUP_STRIDE
    if Section.STAGE <= kind < Section.STAGE + STAGE_STRIDE * MAX_STAGES:
        kind = Section.STAGE + (kind - Section.STAGE) % STAGE_STRIDE
    return kind in _KNOWN


_KNOWN = frozenset(Section)


class Precision(IntEnum):
    """What predicts: float32 numbers, or integers."""

    FLOAT32 = 0
    INT = 1


class Task(IntEnum):
    """What the outputs are for."""

    NONE = 0
    CLASSIFICATION = 1
    REGRESSION = 2


class ProjectionKind(IntEnum):
    """From values to coordinates: a shift alone, a matrix of so many bits, or stages."""

    NONE = 0
    SHIFT = 1
    FLOAT32 = 2
    INT8 = 3
    TERNARY = 4
    STAGES = 5


class LinearType(IntEnum):
    """Type of the linear term's entries."""

    NONE = 0
    FLOAT32 = 1
    INT16 = 2
    INT8 = 3


class StoredAs(IntEnum):
    """How centers and scales are stored."""

    FLOAT32 = 0
    BFLOAT16 = 1
    FLOAT8 = 2


class OffsetType(IntEnum):
    """How offsets are stored; NONE: all are 0."""

    FLOAT32 = 0
    BFLOAT16 = 1
    NONE = 2


class Kinds(IntEnum):
    """Kinds of the columns: all alike, or section KINDS."""

    NUMERIC = 0
    BOOLEAN = 1
    MIXED = 2


class Source(IntEnum):
    """What a group of rows hashes."""

    VALUES = 0
    PROJECTED = 1


class Hash(IntEnum):
    """LSH families, whose rows have their own codes, and from ``POOL_TERNARY`` on pools of codes that rows share."""

    L2 = 0
    ANGULAR = 1
    MINHASH = 2
    L1 = 3
    POOL_TERNARY = 16
    POOL_SPARSE = 17
    POOL_THRESHOLD = 18


class DirectionKind(IntEnum):
    """Distribution of the directions of L2 and Angular."""

    TERNARY = 0
    GAUSSIAN = 1


class Fold(IntEnum):
    """From the codes of a row to its bucket."""

    UNIVERSAL = 0
    DIRECT = 1


class CounterType(IntEnum):
    """Type of the counters."""

    FLOAT32 = 0
    INT16 = 1
    INT8 = 2
    INT4 = 3


class Aggregate(IntEnum):
    """From rows to an accumulator."""

    SUM = 0
    MEAN = 1
    MEDIAN_OF_MEANS = 2


class DecodeKind(IntEnum):
    """From counters to outputs: as they are, by one matrix, by one vector a row."""

    NONE = 0
    SHARED = 1
    ROWS = 2


class DecodeBits(IntEnum):
    """Bits of an entry of a decode matrix in the int precision."""

    INT8 = 0
    INT4 = 1


class Activation(IntEnum):
    """What a stage hands on: its coordinates, or a map of each of them to 8 bits."""

    NONE = 0
    TABLE = 1
    RELU = 2
    CLIP = 3


class StageMatrix(IntEnum):
    """How the matrix of a stage is stored: all entries, or a bitmap and those that are not 0."""

    INT8 = 0
    INT4 = 1
    SPARSE_INT8 = 2
    SPARSE_INT4 = 3


class ModelFlag(IntEnum):
    """Flags of MODEL."""

    HAS_COLUMNS = 1
    ACCEPTS_MISSING = 2
    HAS_SHIFT = 4
    HAS_MULTIPLIERS = 8


class RowGroupFlag(IntEnum):
    """Flags of ROW_GROUP, for pools."""

    HAS_INDICES = 1
    SEEDED = 2
    NORMALISED = 4
    INTERPOLATED = 8
    LEVELS = 16


#: The version of ``docs/spec/generator.md`` that draws the hash functions.
GENERATOR = 1


class Record:
    """A fixed sequence of named fields, little-endian. Names that begin with "unused" are zero bytes."""

    def __init__(self, fields: str) -> None:
        pairs = [field.split(":") for field in fields.split()]
        self.names = [name for name, _ in pairs]
        self._struct = struct.Struct("<" + "".join(code for _, code in pairs))
        self._codes = [code for _, code in pairs]
        self._zeros = {name: bytes(int(code[:-1])) for name, code in pairs if name.startswith("unused")}

    def fields(self) -> Iterator[tuple[str, str, int]]:
        """Name, code of ``struct`` and offset of every field, unused ones too."""
        offset = 0
        for name, code in zip(self.names, self._codes, strict=True):
            yield name, code, offset
            offset += struct.calcsize("<" + code)

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
    "precision:B generator:B task:B n_row_groups:B projection:B right_shift:B linear:B stored_as:B "
    "n_features:I n_columns:I n_values:I n_components:I n_outputs:I kinds:H flags:H low:h high:h limit:H "
    "offset_stored_as:B n_stages:B n_classes:I n_centers:I n_scales:I n_linear_gains:I center_bias:b scale_bias:b "
    "unused0:6s"
)
ROW_GROUP = Record(
    "source:B hash:B directions:B fold:B counter_type:B aggregate:B decode:B decode_shift:B width_bits:B flags:B "
    "n_nonzeros:B n_parameters:B threshold_nbytes:B decode_stored_as:B unused0:2s width:d seed:I n_rows:I n_concat:I "
    "n_buckets:I n_levels:I n_codes:I n_axes:I n_numbers:I n_groups:I n_gains:I bias_scale:I digest:I unused1:8s"
)
STAGE = Record(
    "activation:B matrix:B right_shift:B shift_bits:B width_bits:B n_levels:B limit:H n_components:I n_nonzeros:I "
    "n_gains:I unused0:12s"
)

INTERVALS = Record("n_rows:I n_levels:H n_bins:H")


def _names(numbers: type[IntEnum]) -> tuple[str, ...]:
    """The words that the rest of the package uses, at their numbers in the file."""
    return tuple(member.name.lower() for member in numbers)


def _names_or_none(numbers: type[IntEnum]) -> tuple[str | None, ...]:
    return (None, *_names(numbers)[1:])


PRECISIONS, STORED_AS, OFFSETS, SOURCES = _names(Precision), _names(StoredAs), _names(OffsetType), _names(Source)
TASKS, PROJECTIONS, LINEARS = _names_or_none(Task), _names_or_none(ProjectionKind), _names_or_none(LinearType)
DIRECTIONS, FOLDS, COUNTER_TYPES = _names(DirectionKind), _names(Fold), _names(CounterType)
AGGREGATES, DECODES = _names(Aggregate), _names_or_none(DecodeKind)
FIRST_POOL = int(Hash.POOL_TERNARY)
FAMILIES = tuple(member.name.lower() for member in Hash if member < FIRST_POOL)
POOLS = {int(member): member.name.removeprefix("POOL_").lower() for member in Hash if member >= FIRST_POOL}
ACTIVATIONS, STAGE_MATRICES = _names(Activation), _names(StageMatrix)
DECODE_BITS = tuple(int(member.name.removeprefix("INT")) for member in DecodeBits)

HAS_COLUMNS, ACCEPTS_MISSING, HAS_SHIFT, HAS_MULTIPLIERS = (int(flag) for flag in ModelFlag)
HAS_INDICES, SEEDED, NORMALISED, INTERPOLATED, LEVELS = (int(flag) for flag in RowGroupFlag)
ALL_MODEL_FLAGS, ALL_ROW_GROUP_FLAGS = sum(ModelFlag), sum(RowGroupFlag)
