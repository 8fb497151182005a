"""From a model to the bytes of a .rsk file."""

import json
from functools import partial
from typing import Any

import numpy as np

from ..lsh import RowHashes
from ..lsh.pool import PooledRows
from ..model.counters import Sums
from ..model.inputs import Inputs
from ..model.intervals import Intervals
from ..model.model import Model
from ..model.numbers import encode_bfloat16, encode_float8, float8_bias, index_bits
from ..model.rows import RowGroup, threshold_nbytes
from ..model.stages import Stage
from . import records
from .digest import digest_of_pool, digest_of_rows
from .framing import FIRST_OPTIONAL, pack
from .metadata import check_metadata
from .packing import pack_bits, pack_signed
from .records import Section
from .strings import encode_categories, encode_classes, encode_strings

SOFTWARE = (0, 1, 0)


def model_to_bytes(model: Model, sums: Sums | None = None, metadata: dict[str, Any] | None = None) -> bytes:
    """The bytes of a .rsk file.

    Parameters
    ----------
    model : what predicts; all that the C core reads
    sums : the sums behind the counters of a kernel sketch, so that points may be added after loading
    metadata : a small JSON object
    """
    sections = sections_of_model(model)
    if sums is not None:
        sections[Section.SUMS] = _sums(sums)
    if metadata:
        content = json.dumps(metadata, ensure_ascii=False, allow_nan=False, sort_keys=True).encode()
        check_metadata(memoryview(content))
        sections[Section.METADATA] = content
    return pack(sections, SOFTWARE)


def sections_of_model(model: Model) -> dict[int, bytes]:
    """The contents of all sections that follow from the model alone, by type."""
    sections: dict[int, bytes] = {
        Section.MODEL: _model_record(model),
    }
    if model.offset_stored_as != "none":
        sections[Section.OFFSET] = _stored_floats(model.offset, model.offset_stored_as)
    _add_inputs(sections, model.inputs)
    _add_projection(sections, model)
    for i, stage in enumerate(model.stages):
        sections |= {kind + records.STAGE_STRIDE * i: content for kind, content in _stage_sections(stage).items()}
    for i, group in enumerate(model.row_groups):
        for kind, content in _row_group_sections(model, group).items():
            if content:
                sections[kind + records.ROW_GROUP_STRIDE * i] = content
    if model.classes is not None:
        sections[Section.CLASSES] = encode_classes(model.classes)
    if model.feature_names is not None:
        sections[Section.NAMES] = encode_strings(model.feature_names)
    if model.categories is not None:
        sections[Section.CATEGORIES] = encode_categories(model.categories)
    if model.intervals is not None:
        sections[Section.INTERVALS] = _intervals(model.intervals)
    return sections


def device_nbytes(sections: dict[int, bytes]) -> int:
    """Bytes of the arrays a device must hold: all required sections but the records of sizes and flags."""
    is_record = {Section.MODEL, *range(Section.ROW_GROUP, Section.STAGE, records.ROW_GROUP_STRIDE)}
    is_record |= {*range(Section.STAGE, FIRST_OPTIONAL, records.STAGE_STRIDE)}
    return sum(len(content) for kind, content in sections.items() if kind < FIRST_OPTIONAL and kind not in is_record)


def _floats(array: np.ndarray) -> bytes:
    return array.astype("<f4").tobytes()


def _stored_floats(array: np.ndarray, stored_as: str, bias: int = 0) -> bytes:
    if stored_as == "float8":
        return encode_float8(array, bias).tobytes()
    return encode_bfloat16(array).astype("<u2").tobytes() if stored_as == "bfloat16" else _floats(array)


def _model_record(model: Model) -> bytes:
    inputs, projection = model.inputs, model.matrix_projection
    biases = {name: _float8_bias(inputs, name) for name in ("centers", "scales")}
    low, high = inputs.limits or (0, 0)
    flags = records.HAS_COLUMNS * (inputs.columns is not None) | records.ACCEPTS_MISSING * inputs.accepts_missing
    if projection is not None:
        flags |= records.HAS_SHIFT * (projection.shift is not None)
        flags |= records.HAS_MULTIPLIERS * (projection.multipliers is not None)
    linear = None if model.linear is None else str(model.linear.dtype)
    return records.MODEL.pack(
        precision=records.PRECISIONS.index(model.precision),
        generator=records.GENERATOR,
        task=records.TASKS.index(model.task),
        n_row_groups=len(model.row_groups),
        projection=records.PROJECTIONS.index(None if model.projection is None else model.projection.kind),
        right_shift=0 if projection is None else projection.right_shift,
        linear=records.LINEARS.index(linear),
        stored_as=records.STORED_AS.index(inputs.stored_as),
        n_features=inputs.n_features,
        n_columns=inputs.n_columns,
        n_values=inputs.n_values,
        n_components=model.n_coordinates,
        n_outputs=model.n_outputs,
        kinds=_kinds(inputs),
        flags=flags,
        low=low,
        high=high,
        limit=0 if projection is None else projection.limit or 0,
        offset_stored_as=records.OFFSETS.index(model.offset_stored_as),
        n_stages=len(model.stages),
        n_classes=0 if model.classes is None else len(model.classes),
        n_centers=0 if inputs.centers is None else len(inputs.centers),
        n_scales=0 if inputs.scales is None else len(inputs.scales),
        n_linear_gains=0 if model.linear_gain is None else len(model.linear_gain),
        center_bias=biases["centers"],
        scale_bias=biases["scales"],
    )


def _kinds(inputs: Inputs) -> int:
    if not inputs.has_one_kind:
        return records.Kinds.MIXED
    return records.Kinds.NUMERIC if inputs.n_numeric else records.Kinds.BOOLEAN


def _float8_bias(inputs: Inputs, name: str) -> int:
    array = getattr(inputs, name)
    return float8_bias(array) if inputs.stored_as == "float8" and array is not None else 0


def _add_inputs(sections: dict[int, bytes], inputs: Inputs) -> None:
    if inputs.columns is not None and inputs.n_features > 1:
        sections[Section.COLUMNS] = pack_bits(inputs.columns, index_bits(inputs.n_features))
    if not inputs.has_one_kind and inputs.kinds is not None:
        sections[Section.KINDS] = np.asarray(inputs.kinds).astype("<u2").tobytes()
    for kind, name in ((Section.CENTERS, "centers"), (Section.SCALES, "scales")):
        array = getattr(inputs, name)
        if array is None:
            continue
        sections[kind] = _stored_floats(array, inputs.stored_as, _float8_bias(inputs, name))


def _add_projection(sections: dict[int, bytes], model: Model) -> None:
    projection = model.matrix_projection
    if projection is not None and projection.matrix is not None:
        matrix = projection.matrix
        if projection.kind == "ternary":
            sections[Section.PROJECTION] = pack_signed(matrix, 2)
        else:
            sections[Section.PROJECTION] = matrix.astype("<f4" if projection.kind == "float32" else "i1").tobytes()
    if projection is not None:
        if projection.shift is not None:
            sections[Section.SHIFT] = projection.shift.astype("<i4" if model.is_integer else "<f4").tobytes()
        if projection.multipliers is not None:
            sections[Section.MULTIPLIERS] = projection.multipliers.astype("<i2").tobytes()
        if projection.scales is not None:
            sections[Section.PROJECTION_SCALES] = _floats(projection.scales)
    if model.linear is not None:
        sections[Section.LINEAR] = model.linear.astype(model.linear.dtype.newbyteorder("<")).tobytes()
    if model.linear_gain is not None:
        sections[Section.LINEAR_GAIN] = _floats(model.linear_gain)


def _stage_sections(stage: Stage) -> dict[Section, bytes]:
    matrix, bitmap = stage.matrix, b""
    if stage.is_sparse:
        bitmap, matrix = pack_bits(matrix != 0, 1), matrix[matrix != 0]
    per_coordinate = [stage.multipliers, stage.shift, *([] if stage.tables is None else [stage.tables])]
    sections = {
        Section.STAGE: _stage_record(stage),
        Section.STAGE_MATRIX: bitmap + pack_signed(matrix, stage.matrix_bits),
        Section.STAGE_COORDINATES: b"".join(array.tobytes() for array in per_coordinate),
    }
    if stage.linear is not None and stage.linear_gain is not None:
        sections[Section.STAGE_LINEAR] = _floats(stage.linear_gain) + stage.linear.tobytes()
    return sections


def _stage_record(stage: Stage) -> bytes:
    matrix = ("sparse_" if stage.is_sparse else "") + f"int{stage.matrix_bits}"
    return records.STAGE.pack(
        activation=records.ACTIVATIONS.index(stage.activation),
        matrix=records.STAGE_MATRICES.index(matrix),
        right_shift=stage.right_shift,
        shift_bits=stage.shift_bits,
        width_bits=stage.width_bits,
        n_levels=0 if stage.tables is None else stage.tables.shape[1],
        limit=stage.limit,
        n_components=stage.n_components,
        n_nonzeros=stage.n_nonzeros if stage.is_sparse else 0,
        n_gains=0 if stage.linear_gain is None else len(stage.linear_gain),
    )


def _row_group_sections(model: Model, group: RowGroup) -> dict[Section, bytes]:
    counters = group.counters
    if group.counter_type == "int4":
        packed = pack_signed(counters, 4)
    else:
        packed = counters.astype(counters.dtype.newbyteorder("<")).tobytes()
    sections = {Section.COUNTERS: packed, Section.GAIN: _floats(group.gain)}
    if group.decode is not None and group.decode_bits == 4:
        sections[Section.DECODE] = pack_signed(group.decode, 4)
    elif group.decode is not None:
        sections[Section.DECODE] = group.decode.astype(group.decode.dtype.newbyteorder("<")).tobytes()
    if isinstance(group.hashes, PooledRows):
        rows, pool = group.hashes, group.hashes.pool
        if rows.indices is not None:
            sections[Section.INDICES] = pack_bits(rows.indices, index_bits(pool.n_codes))
        if pool.columns is not None and pool.thresholds is not None:
            sections[Section.CODE_COLUMNS] = pack_bits(pool.columns, index_bits(pool.n_features))
            size = threshold_nbytes(pool.thresholds, pool.width_bits)
            kind = "<f4" if pool.width_bits is None else f"<i{size}"
            sections[Section.THRESHOLDS] = pool.thresholds.astype(kind).tobytes()
    sections[Section.ROW_GROUP] = _row_group(model, group)
    return sections


def _row_group(model: Model, group: RowGroup) -> bytes:
    hashes = group.hashes
    specific = _pool_fields(model, group, hashes) if isinstance(hashes, PooledRows) else _family_fields(hashes)
    decode = "shared" if group.shared_decode is not None else "rows" if group.row_decode is not None else None
    return records.ROW_GROUP.pack(
        source=records.SOURCES.index("projected" if model.projection is None else group.source),
        counter_type=records.COUNTER_TYPES.index(group.counter_type),
        aggregate=records.AGGREGATES.index(group.aggregate),
        decode=records.DECODES.index(decode),
        decode_shift=group.decode_shift,
        decode_stored_as=records.DECODE_BITS.index(group.decode_bits),
        width_bits=hashes.width_bits or 0,
        n_rows=group.n_rows,
        n_concat=hashes.n_concat,
        n_buckets=hashes.n_buckets,
        n_numbers=group.counters.shape[2],
        n_groups=group.n_groups,
        n_gains=len(group.gain),
        **specific,
    )


def _family_fields(hashes: RowHashes) -> dict[str, Any]:
    family = hashes.family
    width, directions = family.file_parameters
    return {
        "hash": records.FAMILIES.index(family.name),
        "directions": records.DIRECTIONS.index(directions),
        "fold": records.FOLDS.index(hashes.fold),
        "flags": 0,
        "n_nonzeros": 0,
        "n_parameters": int(family.has_bandwidth),
        "threshold_nbytes": 0,
        "width": width,
        "seed": hashes.seed,
        "n_levels": hashes.n_levels if hashes.fold == "direct" else 0,
        "n_codes": hashes.n_rows * hashes.n_concat,
        "n_axes": 0,
        "bias_scale": 0,
        "digest": digest_of_rows(hashes),
    }


def _pool_fields(model: Model, group: RowGroup, rows: PooledRows) -> dict[str, Any]:
    pool = rows.pool
    bias_scale = int(np.float32(pool.bias_scale).view(np.uint32)) if pool.width_bits is None else int(pool.bias_scale)
    flags = records.HAS_INDICES * (rows.indices is not None) | records.SEEDED * pool.is_seeded
    flags |= records.NORMALISED * pool.is_normalised | records.INTERPOLATED * rows.interpolate
    return {
        "hash": next(number for number, kind in records.POOLS.items() if kind == pool.kind),
        "directions": 0,
        "fold": records.FOLDS.index("direct"),
        "flags": flags | records.LEVELS * (not pool.is_binary),
        "n_nonzeros": pool.n_nonzeros if pool.kind == "sparse" else 0,
        "n_parameters": 0,
        "threshold_nbytes": 0 if pool.columns is None else threshold_nbytes(pool.thresholds, pool.width_bits),
        "width": 0.0,
        "seed": pool.seed,
        "n_levels": rows.n_levels,
        "n_codes": pool.n_codes,
        "n_axes": pool.n_axes,
        "bias_scale": bias_scale if pool.is_seeded and pool.is_binary else 0,
        "digest": digest_of_pool(pool, partial(model.are_boolean, group.source)),
    }


def _intervals(table: Intervals) -> bytes:
    head = records.INTERVALS.pack(n_rows=table.n_rows, n_levels=table.n_confidences, n_bins=table.scales.shape[1])
    return head + b"".join(_floats(array) for array in (table.borders, table.scales, table.quantiles))


def _sums(sums: Sums) -> bytes:
    state = sums.state
    head = np.array([state.step], "<f8").tobytes() + np.array([int(sums.debias), 0], "<u4").tobytes()
    integers = state.sums.astype("<i8").tobytes() + state.total.astype("<i8").tobytes()
    return head + integers + sums.scale.astype("<f8").tobytes() + sums.bias.astype("<f8").tobytes()
