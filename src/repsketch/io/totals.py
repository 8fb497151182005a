"""What a file may cost: bytes of memory and operations a row, from its records alone.

``docs/spec/format.md``, *Totals*; ``native/rsk_totals.c`` is the same in C. Both are upper bounds of what the C runtime
really takes, so that a file of a few hundred bytes cannot take gigabytes or hours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from ..checks import check_count
from ..lsh import Family, family_named
from ..lsh.pool import most_terms
from . import records
from .framing import FILE_CAP
from .records import FIRST_POOL, Aggregate, CounterType, DecodeKind, DirectionKind, Fold, Kinds, ProjectionKind, Source
from .status import FormatError, Status

MEMORY_CAP = 64 << 20
WORK_CAP = 100_000_000

_FIXED = 1 << 20  # small arrays, alignment, tables of bytes
_OWN_CODE, _POOL_CODE = 40, 112  # bytes of a code beside its terms
_LANES = 64
_WIDEST_BLOCK = 16_384  # values or coordinates; wider models are run row by row
_ACTIVATION = 8  # operations that map a coordinate of a stage
_MOST_COLUMNS = 1 << 22  # entries of directions laid out for single rows
_COUNTER_NBYTES = {CounterType.FLOAT32: 4, CounterType.INT16: 2, CounterType.INT8: 1, CounterType.INT4: 1}


@dataclass(frozen=True)
class Limits:
    """What a caller accepts of a file: its bytes, the memory to predict with, the operations a row."""

    max_nbytes: int = FILE_CAP
    max_memory: int = MEMORY_CAP
    max_work: int = WORK_CAP

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            check_count(name, limit, 2**64 - 1, smallest=0)


@dataclass(frozen=True)
class Totals:
    """What a model costs at most: bytes of an unpacked plan and the scratch of one thread; operations of one row."""

    memory: int
    work: int

    def check(self, limits: Limits) -> None:
        """Refuse a file that costs more than the caller accepts."""
        for name, status in (("memory", Status.MEMORY_CAP), ("work", Status.WORK_CAP)):
            needed, accepted = getattr(self, name), getattr(limits, f"max_{name}")
            if needed > accepted:
                raise FormatError(status, detail=f"{name} up to {needed:,}, max_{name}={accepted:,}: ")


def totals_of(
    model: SimpleNamespace, groups: Sequence[SimpleNamespace], stages: Sequence[SimpleNamespace] = ()
) -> Totals:
    """The totals of a checked MODEL record, its checked ROW_GROUP records and its checked STAGE records."""
    d, n_values, p, n_outputs = model.n_features, model.n_values, model.n_components, model.n_outputs
    widths = [n_values, *(stage.n_components for stage in stages)]
    lanes = 1 if max(p, *widths) > _WIDEST_BLOCK else _LANES
    entries = n_values * p if model.has_matrix else 0
    beside = d * p if model.has_matrix and model.is_integer and max(d, p) <= _WIDEST_BLOCK else 0
    linear = p * n_outputs if model.linear else 0
    memory = _FIXED + 20 * model.n_columns + 4 * d + 8 * p + 8 * n_outputs + 4 * linear
    memory += 4 * lanes * (2 * n_values + p + n_outputs)
    if d <= _WIDEST_BLOCK:
        memory += (8 * lanes + 24) * d
    if model.has_matrix:
        memory += 4 * entries + beside + 8 * n_values + 16 * p
    work = d + n_values + entries + beside + linear + n_outputs
    memory += sum(_row_group_memory(model, group, lanes) for group in groups)
    work += sum(_row_group_work(model, group) for group in groups)
    for stage, n_inputs in zip(stages, widths, strict=False):
        products = n_inputs * stage.n_components
        linear = stage.n_components * n_outputs if stage.n_gains else 0
        memory += products + (5 + stage.n_levels + 2 * lanes) * stage.n_components + linear
        memory += 4 * (1 + lanes) * n_outputs if stage.n_gains else 0
        work += products + _ACTIVATION * stage.n_components + linear
    return Totals(memory, work)


def family_of(f: SimpleNamespace) -> type[Family]:
    """The family of a checked ROW_GROUP record that is no pool's."""
    return family_named(records.FAMILIES[f.hash])


def reads_values(model: SimpleNamespace, f: SimpleNamespace) -> bool:
    """The rows hash values, not coordinates behind a projection."""
    return f.source == Source.VALUES or model.projection == ProjectionKind.NONE


def _n_inputs(model: SimpleNamespace, f: SimpleNamespace) -> int:
    return model.n_values if f.source == Source.VALUES else model.n_components


def _used_codes(f: SimpleNamespace) -> int:
    named = f.n_rows * f.n_concat
    return min(f.n_codes, named) if f.flags & records.HAS_INDICES else named


def _terms(model: SimpleNamespace, f: SimpleNamespace) -> int:
    n_inputs = _n_inputs(model, f)
    return most_terms(records.POOLS[f.hash], n_inputs) if f.hash >= FIRST_POOL else n_inputs


def _entry_nbytes(model: SimpleNamespace, f: SimpleNamespace) -> int:
    """Bytes of a coordinate of a code."""
    if f.hash < FIRST_POOL:
        family = family_of(f)
        if not family.has_directions or f.directions != DirectionKind.TERNARY:
            return family.entry_nbytes
    return 4 if _n_inputs(model, f) > _WIDEST_BLOCK else 8


def _decode_entries(model: SimpleNamespace, f: SimpleNamespace) -> int:
    return (f.n_rows if f.decode == DecodeKind.ROWS else f.n_numbers) * model.n_outputs if f.decode else 0


def _row_group_memory(model: SimpleNamespace, f: SimpleNamespace, lanes: int) -> int:
    n_inputs, used, width = _n_inputs(model, f), _used_codes(f), max(f.n_numbers, model.n_outputs)
    nbytes = _COUNTER_NBYTES[f.counter_type] * f.n_rows * f.n_buckets * f.n_numbers
    if model.is_integer and f.n_numbers == 1:
        nbytes += 3 * f.n_rows * f.n_buckets
    nbytes += (1 if model.is_integer else 4) * _decode_entries(model, f) + 4 * model.n_outputs
    nbytes += used * (_entry_nbytes(model, f) * _terms(model, f) + (_POOL_CODE if f.hash >= FIRST_POOL else _OWN_CODE))
    nbytes += 8 * f.n_rows * f.n_concat + 4 * f.n_rows
    columns = -(-f.n_rows // 64) * 64 * f.n_concat
    is_paper = f.hash < FIRST_POOL and family_of(f).wraps
    is_paper = is_paper and f.fold == Fold.UNIVERSAL and f.directions == DirectionKind.TERNARY
    is_paper = is_paper and f.n_numbers == f.n_groups == 1 and f.decode == DecodeKind.NONE
    if is_paper and columns * n_inputs <= _MOST_COLUMNS:
        nbytes += 5 * columns * (n_inputs + 5)
    nbytes += 4 * lanes * width * (f.n_groups + 1) + 4 * f.n_groups
    nbytes += 4 * n_inputs + 6 * lanes * f.n_concat
    if not model.is_integer and lanes > 1:
        nbytes += 8 * lanes * n_inputs
    if f.flags & records.HAS_INDICES:
        nbytes += 4 * f.n_codes + 4 * lanes * used
    return nbytes


def _row_group_work(model: SimpleNamespace, f: SimpleNamespace) -> int:
    used, width = _used_codes(f), max(f.n_numbers, model.n_outputs)
    work = used * _terms(model, f) + f.n_rows * f.n_concat + model.n_outputs
    if f.flags & records.HAS_INDICES:
        work += f.n_codes
    is_seeded_bit = f.hash >= FIRST_POOL and f.flags & records.SEEDED and not f.flags & records.LEVELS
    if is_seeded_bit and model.kinds == Kinds.MIXED and reads_values(model, f):
        work += used * model.n_columns  # whether a value is boolean is looked up from the first column on
    work += f.n_rows * f.n_numbers + _decode_entries(model, f)
    if f.aggregate == Aggregate.MEDIAN_OF_MEANS:
        work += 2 * f.n_groups * width * f.n_groups.bit_length()
    return work
