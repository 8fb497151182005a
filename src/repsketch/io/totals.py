"""What a file may cost: bytes of memory and operations a row, from its two records alone.

``docs/spec/format.md``, *Totals*; ``native/rsk_totals.c`` is the same in C. Both are upper bounds of what the C runtime
really takes, so a few hundred bytes cannot ask for gigabytes or hours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from ..checks import check_count
from . import records
from .framing import FILE_CAP
from .records import FIRST_POOL
from .status import FormatError, Status

MEMORY_CAP = 64 << 20
WORK_CAP = 100_000_000

_FIXED = 1 << 20  # small arrays, alignment, tables of bytes
_OWN_CODE, _POOL_CODE = 40, 112  # bytes of a code beside its terms
_LANES = 64
_WIDEST_BLOCK = 16_384  # values or coordinates; wider models are run row by row
_MOST_COLUMNS = 1 << 22  # entries of directions laid out for single rows
_L2, _MINHASH, _L1, _SPARSE, _THRESHOLD = 0, 2, 3, 17, 18
_COUNTER_NBYTES = (4, 2, 1, 1)
_ROWS, _MIXED, _MEDIAN = 2, 2, 2  # numbers of a decode of rows, of mixed kinds, of medians of means


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


def totals_of(model: SimpleNamespace, parts: Sequence[SimpleNamespace]) -> Totals:
    """The totals of a checked MODEL record and its checked PART records."""
    d, n_values, p, n_outputs = model.n_features, model.n_values, model.n_components, model.n_outputs
    lanes = _lanes(model)
    entries = n_values * p if model.has_matrix else 0
    beside = d * p if model.has_matrix and model.is_whole and max(d, p) <= _WIDEST_BLOCK else 0
    linear = p * n_outputs if model.linear else 0
    memory = _FIXED + 20 * model.n_columns + 4 * d + 8 * p + 8 * n_outputs + 4 * linear
    memory += 4 * lanes * (2 * n_values + p + n_outputs)
    if d <= _WIDEST_BLOCK:
        memory += (8 * lanes + 24) * d
    if model.has_matrix:
        memory += 4 * entries + beside + 8 * n_values + 16 * p
    work = d + n_values + entries + beside + linear + n_outputs
    memory += sum(_part_memory(model, part) for part in parts)
    work += sum(_part_work(model, part) for part in parts)
    return Totals(memory, work)


def _lanes(model: SimpleNamespace) -> int:
    return 1 if max(model.n_values, model.n_components) > _WIDEST_BLOCK else _LANES


def _n_inputs(model: SimpleNamespace, f: SimpleNamespace) -> int:
    return model.n_components if f.source else model.n_values


def _used_codes(f: SimpleNamespace) -> int:
    named = f.n_rows * f.n_concat
    return min(f.n_codes, named) if f.flags & records.HAS_INDICES else named


def _terms(model: SimpleNamespace, f: SimpleNamespace) -> int:
    return {_SPARSE: 3, _THRESHOLD: 1}.get(f.hash) or _n_inputs(model, f)


def _decode_entries(model: SimpleNamespace, f: SimpleNamespace) -> int:
    return (f.n_rows if f.decode == _ROWS else f.n_numbers) * model.n_outputs if f.decode else 0


def _part_memory(model: SimpleNamespace, f: SimpleNamespace) -> int:
    lanes, n_inputs, used, width = _lanes(model), _n_inputs(model, f), _used_codes(f), max(f.n_numbers, model.n_outputs)
    nbytes = _COUNTER_NBYTES[f.counter_type] * f.n_rows * f.n_buckets * f.n_numbers
    if model.is_whole and f.n_numbers == 1:
        nbytes += 3 * f.n_rows * f.n_buckets
    nbytes += (1 if model.is_whole else 4) * _decode_entries(model, f) + 4 * model.n_outputs
    is_short = f.hash == _MINHASH or f.directions or n_inputs > _WIDEST_BLOCK
    term = 12 if f.hash == _L1 else 4 if is_short else 8
    nbytes += used * (term * _terms(model, f) + (_POOL_CODE if f.hash >= FIRST_POOL else _OWN_CODE))
    nbytes += 8 * f.n_rows * f.n_concat + 4 * f.n_rows
    columns = -(-f.n_rows // 64) * 64 * f.n_concat
    is_paper = f.hash == _L2 and f.fold == 0 and f.directions == 0
    is_paper = is_paper and f.n_numbers == f.n_groups == 1 and f.decode == 0
    if is_paper and columns * n_inputs <= _MOST_COLUMNS:
        nbytes += 5 * columns * (n_inputs + 5)
    nbytes += 4 * lanes * width * (f.n_groups + 1) + 4 * f.n_groups
    nbytes += 4 * n_inputs + 6 * lanes * f.n_concat
    if not model.is_whole and lanes > 1:
        nbytes += 8 * lanes * n_inputs
    if f.flags & records.HAS_INDICES:
        nbytes += 4 * f.n_codes + 4 * lanes * used
    return nbytes


def _part_work(model: SimpleNamespace, f: SimpleNamespace) -> int:
    used, width = _used_codes(f), max(f.n_numbers, model.n_outputs)
    work = used * _terms(model, f) + f.n_rows * f.n_concat + model.n_outputs
    if f.flags & records.HAS_INDICES:
        work += f.n_codes
    is_seeded_bit = f.hash >= FIRST_POOL and f.flags & records.SEEDED and not f.flags & records.LEVELS
    if is_seeded_bit and model.kinds == _MIXED and (f.source == 0 or model.projection == 0):
        work += used * model.n_columns  # whether a value is boolean is looked up from the first column on
    work += f.n_rows * f.n_numbers + _decode_entries(model, f)
    if f.aggregate == _MEDIAN:
        work += 2 * f.n_groups * width * f.n_groups.bit_length()
    return work
