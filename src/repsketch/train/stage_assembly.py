"""From trained stages to a model: the integers that the trainer computed with, in their stored types."""

from itertools import pairwise
from typing import Any

import numpy as np

from ..lsh.pool import PooledRows
from ..model.inputs import Inputs
from ..model.model import OFFSET_NBYTES, Model
from ..model.numbers import packed_nbytes
from ..model.rows import RowGroup
from ..model.stages import Stage, Stages
from .assemble import gain_of, stored_offset
from .stage_shape import LIMIT, RANGE_BITS, WIDTH_BITS, Shape, n_pruned
from .stages import Trained

_STEPS = 1 << WIDTH_BITS


def assemble(trained: Trained, inputs: Inputs, unit: np.ndarray, middle: np.ndarray, **labels: Any) -> Model:
    """The model of trained stages; its outputs are ``unit`` (C,) times those trained plus ``middle`` (C,).

    ``labels`` are further fields of the model: task, classes and names.
    """
    shape, integers, scales = trained.shape, trained.integers, trained.scales
    fields: dict[str, Any] = dict(labels)
    fields |= stored_offset(integers["offset"] * unit + middle, labels.get("task"), has_offset=shape.has_offset)
    stages = Stages(tuple(_stage(trained, k, unit) for k in range(len(shape.widths))))
    if "linear" in integers:
        # Of the coordinates that rows read, in steps; or of what a network hands on.
        size = 1.0 / _STEPS if shape.rows is not None else scales["stages"][-1]["output_step"]
        fields["linear"] = _int8(integers["linear"])
        fields["linear_gain"] = gain_of(unit * scales["linear_step"] * size)
    rows = () if shape.rows is None else (_row_group(trained, unit),)
    return Model(inputs, stages, rows, **fields)


def _stage(trained: Trained, k: int, unit: np.ndarray) -> Stage:
    shape, integers, scale = trained.shape, trained.integers, trained.scales["stages"][k]
    optional: dict[str, Any] = {}
    if k < len(shape.stages):
        activation = shape.stages[k].activation
        optional = {"activation": activation, "width_bits": WIDTH_BITS if activation == "table" else RANGE_BITS}
    if f"tables {k}" in integers:
        optional["tables"] = _int8(integers[f"tables {k}"])
    if f"linear {k}" in integers:
        optional["linear"] = _int8(integers[f"linear {k}"])
        optional["linear_gain"] = gain_of(unit * scale["linear_step"] / _STEPS)
    return Stage(
        _int8(integers[f"matrix {k}"]), scale["multipliers"].astype(np.uint8), _int8(integers[f"shift {k}"]),
        scale["right_shift"], scale["shift_bits"], LIMIT, matrix_bits=shape.matrix_bits[k],
        is_sparse=_is_sparse(shape, k, integers[f"matrix {k}"].size), **optional,
    )  # fmt: skip


def _is_sparse(shape: Shape, k: int, size: int) -> bool:
    """True if a bitmap and the entries that are left take fewer bytes than all entries."""
    return n_pruned(shape.sparsities[k], size) * shape.matrix_bits[k] > size


def _row_group(trained: Trained, unit: np.ndarray) -> RowGroup:
    rows, integers, scales = trained.shape.rows, trained.integers, trained.scales
    assert rows is not None
    hashes = PooledRows(rows.pool(trained.seed), rows.n_components, interpolate=True)
    decoded: dict[str, Any] = {}
    if rows.factored:
        decoded = {"row_decode": _int8(integers["decode"]), "decode_bits": 4}
    gain = gain_of(unit * scales["counter_step"] * scales["decode_step"] / _STEPS)
    return RowGroup(hashes, _int8(integers["counters"]), gain, "int8", aggregate="sum", **decoded)


def _int8(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.int8)


def nbytes_of(
    shape: Shape, inputs: Inputs, n_outputs: int, task: str | None = None, *, has_equal_units: bool = True
) -> int:
    """Bytes of a model of this shape, without training it: those that ``Model.nbytes`` of the assembled one counts.

    A pruned matrix may take fewer: entries that are rounded to 0 are not stored either.

    Parameters
    ----------
    has_equal_units : all outputs have the same unit, so that a gain is one number
    """
    gain_nbytes = 4 if has_equal_units else 4 * n_outputs
    offset = stored_offset(np.zeros(n_outputs), task, has_offset=shape.has_offset)["offset_stored_as"]
    size = Model.HEADER_NBYTES + inputs.nbytes + n_outputs * OFFSET_NBYTES[offset]
    widths, rows = [inputs.n_values, *shape.widths], shape.rows
    for k, (n_inputs, width) in enumerate(pairwise(widths)):
        n_entries, bits = n_inputs * width, shape.matrix_bits[k]
        if _is_sparse(shape, k, n_entries):
            size += packed_nbytes(n_entries, 1)
            n_entries -= n_pruned(shape.sparsities[k], n_entries)
        size += Stage.HEADER_NBYTES + packed_nbytes(n_entries, bits) + 2 * width
        if k < len(shape.stages):
            stage = shape.stages[k]
            size += width * stage.n_entries if stage.activation == "table" else 0
            size += width * n_outputs + gain_nbytes if stage.has_linear else 0
    if rows is not None:
        size += rows.n_components * rows.n_levels * (1 if rows.factored else n_outputs) + gain_nbytes
        size += packed_nbytes(rows.n_components * n_outputs, 4) if rows.factored else 0
    if rows is None or rows.has_linear:
        size += widths[-1] * n_outputs + gain_nbytes
    return size
