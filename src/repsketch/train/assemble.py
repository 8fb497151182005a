"""From trained rows to the fields of a model, every number in its stored type."""

from typing import Any

import numpy as np

from ..lsh.pool import CodePool, PooledRows
from ..model.inputs import Inputs
from ..model.numbers import DTYPES, index_bits, packed_nbytes, round_floats
from ..model.rows import RowGroup, threshold_nbytes
from .candidates import Thresholds


def threshold_rows(inputs: Inputs, candidates: Thresholds, codes: np.ndarray) -> tuple[Inputs, PooledRows]:
    """Rows of codes (L, K) over thresholds, and the inputs reduced to the columns in use."""
    found, numbers = np.unique(codes, return_inverse=True)
    numbers = numbers.reshape(codes.shape)
    values, borders = np.array([candidates.stored(code) for code in found]).T
    if inputs.booleans.all():
        return _boolean_rows(inputs, values, numbers)
    inputs, values = keep_used(inputs, values)
    n_rows, n_concat = codes.shape
    bits = index_bits(inputs.n_values) + 8 * threshold_nbytes(borders, 0)
    indices: np.ndarray | None = numbers
    if codes.size * bits <= len(found) * bits + codes.size * index_bits(len(found)):  # few codes are used twice
        values, borders, indices = values[numbers.ravel()], borders[numbers.ravel()], None
    pool = CodePool(
        "threshold", len(values), inputs.n_values, width_bits=0, columns=values.astype(np.int64),
        thresholds=borders.astype(np.int64), booleans=inputs.booleans,
    )  # fmt: skip
    return inputs, PooledRows(pool, n_rows, n_concat, indices)


def _boolean_rows(inputs: Inputs, values: np.ndarray, numbers: np.ndarray) -> tuple[Inputs, PooledRows]:
    """Rows whose codes are boolean columns themselves: a code takes no bytes."""
    fewer, renamed = keep_used(inputs, values)
    sizes = [each.nbytes + packed_nbytes(numbers.size, index_bits(each.n_values)) for each in (inputs, fewer)]
    if sizes[1] < sizes[0]:
        inputs, values = fewer, renamed
    n = inputs.n_values
    pool = CodePool(
        "sparse", n, n, n_axes=n, n_nonzeros=1, is_seeded=True, bias_scale=1, width_bits=0, booleans=inputs.booleans
    )
    n_rows, n_concat = numbers.shape
    return inputs, PooledRows(pool, n_rows, n_concat, values[numbers])


def keep_used(inputs: Inputs, values: np.ndarray) -> tuple[Inputs, np.ndarray]:
    """The inputs reduced to the columns behind ``values``, and the new indices of these values."""
    kinds = np.zeros(inputs.n_columns, np.int64) if inputs.kinds is None else np.asarray(inputs.kinds, np.int64)
    widths = np.maximum(kinds, 1)
    starts = np.concatenate([[0], np.cumsum(widths)])
    used = np.unique(np.searchsorted(starts, values, side="right") - 1)
    if len(used) == inputs.n_columns:
        return inputs, values
    is_numeric = kinds == 0
    among_numeric = np.flatnonzero(is_numeric[used])  # of the used columns, those with a center and a scale
    old_places = (np.cumsum(is_numeric) - 1)[used[among_numeric]]
    new_starts = np.concatenate([[0], np.cumsum(widths[used])])
    columns = used if inputs.columns is None else inputs.columns[used]
    owners = np.searchsorted(starts, values, side="right") - 1
    renamed = new_starts[np.searchsorted(used, owners)] + (values - starts[owners])

    def taken(array: np.ndarray | None) -> np.ndarray | None:
        if array is None or len(array) == 1 or not len(old_places):
            return array if len(old_places) else None
        return array[old_places]

    return (
        Inputs(
            inputs.n_features,
            columns=columns,
            kinds=kinds[used] if (kinds[used] != 0).any() else None,
            centers=taken(inputs.centers),
            scales=taken(inputs.scales),
            stored_as=inputs.stored_as,
            limits=inputs.limits,
            accepts_missing=inputs.accepts_missing,
        ),
        renamed,
    )


def gain_of(steps: np.ndarray) -> np.ndarray:
    """Gains (C,), or (1,) where all outputs have the same gain, float32."""
    return (steps[:1] if np.ptp(steps) == 0 else steps).astype(np.float32)


def stored_offset(offset: np.ndarray, task: str | None, *, has_offset: bool = True) -> dict[str, Any]:
    """Offsets (C,) as fields of a model: those of three classes and more take two bytes each, or none if they are 0."""
    stored_as = "none" if not has_offset else "bfloat16" if task == "classification" and len(offset) > 2 else "float32"
    return {"offset": round_floats(offset, stored_as), "offset_stored_as": stored_as}


def summed_rows(rows: PooledRows, counters: np.ndarray, counter_type: str, steps: np.ndarray) -> RowGroup:
    """A group of rows that adds up integer counters (L, R, C) in units of ``steps`` (C,)."""
    return RowGroup(rows, counters.astype(DTYPES[counter_type]), gain_of(steps), counter_type, aggregate="sum")
