"""From trained stages to a model: the integers that the trainer computed with, in their stored types."""

from typing import Any

import numpy as np

from ..lsh.pool import PooledRows
from ..model.inputs import Inputs
from ..model.model import Model
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
    fields |= stored_offset(integers["offset"] * unit + middle, labels.get("task"))
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
    hashes = PooledRows(rows.pool(trained.seed), rows.n_rows, interpolate=True)
    decoded: dict[str, Any] = {}
    if rows.factored:
        decoded = {"row_decode": _int8(integers["decode"]), "decode_bits": 4}
    gain = gain_of(unit * scales["counter_step"] * scales["decode_step"] / _STEPS)
    return RowGroup(hashes, _int8(integers["counters"]), gain, "int8", aggregate="sum", **decoded)


def _int8(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.int8)


def nbytes_of(shape: Shape, inputs: Inputs, n_outputs: int, task: str | None = None) -> int:
    """Bytes of a model of this shape, without training it.

    A pruned matrix may take fewer: entries that are rounded to 0 are not stored either.
    """
    integers = {name: np.zeros(size, np.float32) for name, size in shape.sizes(inputs.n_values, n_outputs).items()}
    for k, sparsity in enumerate(shape.sparsities):
        matrix = integers[f"matrix {k}"].reshape(-1)
        matrix[n_pruned(sparsity, matrix.size) :] = 1.0
    stages = [
        {"multipliers": np.ones(width), "right_shift": 0, "shift_bits": 0, "output_step": 1.0, "linear_step": 1.0}
        for width in shape.widths
    ]
    scales = {"stages": stages, "counter_step": 1.0, "decode_step": 1.0, "linear_step": 1.0}
    blank = Trained(shape, 0, {}, integers, scales, ())
    return assemble(blank, inputs, np.ones(n_outputs), np.zeros(n_outputs), task=task).nbytes
