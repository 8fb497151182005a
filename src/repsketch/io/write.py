"""From a sketch to the bytes of a .rsk file."""

import json
import os
from functools import partial
from typing import Any

import numpy as np

from ..files import write_atomically
from ..lsh import RowHashes
from ..lsh.pool import PooledRows
from ..sketch import Form, KernelSketch, Sketch
from ..sketch.inputs import Inputs
from ..sketch.intervals import Intervals
from ..sketch.numbers import encode_bfloat16, encode_float8, float8_bias, index_bits
from ..sketch.part import Part, threshold_nbytes
from . import records
from .digest import digest_of_pool, digest_of_rows
from .framing import FIRST_OPTIONAL, pack
from .metadata import check_metadata
from .packing import pack_bits, pack_signed
from .records import Section
from .tables import encode_categories, encode_classes, encode_strings

SOFTWARE = (0, 1, 0)
COMPARISON = "comparison"  # the key of the metadata


def save(sketch: Sketch, path: str | os.PathLike, metadata: dict[str, Any] | None = None) -> None:
    """Write a sketch to a .rsk file, in one step: a kill or a full disk leaves the old file or the new one."""
    write_atomically(path, to_bytes(sketch, metadata))


def to_bytes(sketch: Sketch, metadata: dict[str, Any] | None = None) -> bytes:
    """The bytes of a .rsk file with this sketch; what it was compared with is kept in the metadata."""
    sections = sections_of_form(sketch.form)
    if isinstance(sketch, KernelSketch) and sketch.sums is not None:
        sections[Section.SUMS] = _sums(sketch)
    comparison = getattr(sketch, "summary", None)
    if comparison is not None:
        metadata = {COMPARISON: comparison.to_dict(), **(metadata or {})}
    if metadata:
        content = json.dumps(metadata, ensure_ascii=False, allow_nan=False, sort_keys=True).encode()
        check_metadata(memoryview(content))
        sections[Section.METADATA] = content
    return pack(sections, SOFTWARE)


def form_to_bytes(form: Form) -> bytes:
    """The bytes of a .rsk file with this form and nothing beside it: what the C core reads."""
    return pack(sections_of_form(form), SOFTWARE)


def sections_of_form(form: Form) -> dict[int, bytes]:
    """The contents of all sections that the form alone gives, by type."""
    sections: dict[int, bytes] = {
        Section.MODEL: _model(form),
        Section.OFFSET: _stored_floats(form.offset, form.offset_stored_as),
    }
    _add_inputs(sections, form.inputs)
    _add_projection(sections, form)
    for i, part in enumerate(form.parts):
        for kind, content in _part_sections(form, part).items():
            if content:
                sections[kind + records.PART_STRIDE * i] = content
    if form.classes is not None:
        sections[Section.CLASSES] = encode_classes(form.classes)
    if form.feature_names is not None:
        sections[Section.NAMES] = encode_strings(form.feature_names)
    if form.categories is not None:
        sections[Section.CATEGORIES] = encode_categories(form.categories)
    if form.intervals is not None:
        sections[Section.INTERVALS] = _intervals(form.intervals)
    return sections


def device_nbytes(sections: dict[int, bytes]) -> int:
    """Bytes of the arrays a device must hold: all required sections but the records of sizes and flags."""
    is_record = {Section.MODEL, *range(Section.PART, FIRST_OPTIONAL, records.PART_STRIDE)}
    return sum(len(content) for kind, content in sections.items() if kind < FIRST_OPTIONAL and kind not in is_record)


def _floats(array: np.ndarray) -> bytes:
    return array.astype("<f4").tobytes()


def _stored_floats(array: np.ndarray, stored_as: str, bias: int = 0) -> bytes:
    if stored_as == "float8":
        return encode_float8(array, bias).tobytes()
    return encode_bfloat16(array).astype("<u2").tobytes() if stored_as == "bfloat16" else _floats(array)


def _model(form: Form) -> bytes:
    inputs, projection = form.inputs, form.projection
    biases = {name: _float8_bias(inputs, name) for name in ("centers", "scales")}
    low, high = inputs.limits or (0, 0)
    flags = records.HAS_COLUMNS * (inputs.columns is not None) | records.ACCEPTS_MISSING * inputs.accepts_missing
    if projection is not None:
        flags |= records.HAS_SHIFT * (projection.shift is not None)
        flags |= records.HAS_MULTIPLIERS * (projection.multipliers is not None)
    linear = None if form.linear is None else str(form.linear.dtype)
    return records.MODEL.pack(
        precision=records.PRECISIONS.index(form.precision),
        generator=records.GENERATOR,
        task=records.TASKS.index(form.task),
        n_parts=len(form.parts),
        projection=records.PROJECTIONS.index(None if projection is None else projection.kind),
        right_shift=0 if projection is None else projection.right_shift,
        linear=records.LINEARS.index(linear),
        stored_as=records.STORED_AS.index(inputs.stored_as),
        n_features=inputs.n_features,
        n_columns=inputs.n_columns,
        n_values=inputs.n_values,
        n_components=form.n_coordinates,
        n_outputs=form.n_outputs,
        kinds=_kinds(inputs),
        flags=flags,
        low=low,
        high=high,
        limit=0 if projection is None else projection.limit or 0,
        offset_stored_as=records.STORED_AS.index(form.offset_stored_as),
        n_classes=0 if form.classes is None else len(form.classes),
        n_centers=0 if inputs.centers is None else len(inputs.centers),
        n_scales=0 if inputs.scales is None else len(inputs.scales),
        n_linear_gains=0 if form.linear_gain is None else len(form.linear_gain),
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


def _add_projection(sections: dict[int, bytes], form: Form) -> None:
    projection = form.projection
    if projection is not None and projection.matrix is not None:
        matrix = projection.matrix
        if projection.kind == "ternary":
            sections[Section.PROJECTION] = pack_signed(matrix, 2)
        else:
            sections[Section.PROJECTION] = matrix.astype("<f4" if projection.kind == "float32" else "i1").tobytes()
    if projection is not None:
        if projection.shift is not None:
            sections[Section.SHIFT] = projection.shift.astype("<i4" if form.is_whole else "<f4").tobytes()
        if projection.multipliers is not None:
            sections[Section.MULTIPLIERS] = projection.multipliers.astype("<i2").tobytes()
        if projection.scales is not None:
            sections[Section.PROJECTION_SCALES] = _floats(projection.scales)
    if form.linear is not None:
        sections[Section.LINEAR] = form.linear.astype(form.linear.dtype.newbyteorder("<")).tobytes()
    if form.linear_gain is not None:
        sections[Section.LINEAR_GAIN] = _floats(form.linear_gain)


def _part_sections(form: Form, part: Part) -> dict[Section, bytes]:
    counters = part.counters
    if part.counter_type == "int4":
        packed = pack_signed(counters, 4)
    else:
        packed = counters.astype(counters.dtype.newbyteorder("<")).tobytes()
    sections = {Section.COUNTERS: packed, Section.GAIN: _floats(part.gain)}
    if part.decode is not None and part.decode_bits == 4:
        sections[Section.DECODE] = pack_signed(part.decode, 4)
    elif part.decode is not None:
        sections[Section.DECODE] = part.decode.astype(part.decode.dtype.newbyteorder("<")).tobytes()
    if isinstance(part.hashes, PooledRows):
        rows, pool = part.hashes, part.hashes.pool
        if rows.indices is not None:
            sections[Section.INDICES] = pack_bits(rows.indices, index_bits(pool.n_codes))
        if pool.columns is not None and pool.thresholds is not None:
            sections[Section.CODE_COLUMNS] = pack_bits(pool.columns, index_bits(pool.n_features))
            size = threshold_nbytes(pool.thresholds, pool.width_bits)
            kind = "<f4" if pool.width_bits is None else f"<i{size}"
            sections[Section.THRESHOLDS] = pool.thresholds.astype(kind).tobytes()
    sections[Section.PART] = _part(form, part)
    return sections


def _part(form: Form, part: Part) -> bytes:
    hashes = part.hashes
    specific = _pool_fields(form, part, hashes) if isinstance(hashes, PooledRows) else _family_fields(hashes)
    decode = "shared" if part.shared_decode is not None else "rows" if part.row_decode is not None else None
    return records.PART.pack(
        source=records.SOURCES.index("projected" if form.projection is None else part.source),
        counter_type=records.COUNTER_TYPES.index(part.counter_type),
        aggregate=records.AGGREGATES.index(part.aggregate),
        decode=records.DECODES.index(decode),
        decode_shift=part.decode_shift,
        decode_stored_as=records.DECODE_BITS.index(part.decode_bits),
        width_bits=hashes.width_bits or 0,
        n_rows=part.n_rows,
        n_concat=hashes.n_concat,
        n_buckets=hashes.n_buckets,
        n_numbers=part.counters.shape[2],
        n_groups=part.n_groups,
        n_gains=len(part.gain),
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
        "spread": 0,
        "digest": digest_of_rows(hashes),
    }


def _pool_fields(form: Form, part: Part, rows: PooledRows) -> dict[str, Any]:
    pool = rows.pool
    spread = int(np.float32(pool.spread).view(np.uint32)) if pool.width_bits is None else int(pool.spread)
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
        "spread": spread if pool.is_seeded and pool.is_binary else 0,
        "digest": digest_of_pool(pool, partial(form.are_boolean, part.source)),
    }


def _intervals(table: Intervals) -> bytes:
    head = records.INTERVALS.pack(n_rows=table.n_rows, n_levels=table.n_levels, n_bins=table.scales.shape[1])
    return head + b"".join(_floats(array) for array in (table.borders, table.scales, table.quantiles))


def _sums(sketch: KernelSketch) -> bytes:
    sums = sketch.sums
    assert sums is not None
    scale, bias = (np.full(sketch.n_outputs, v, "<f8") for v in (sketch.output_scale, sketch.output_bias))
    head = np.array([sums.step], "<f8").tobytes() + np.array([int(sketch.debias), 0], "<u4").tobytes()
    return (
        head + sums.sums.astype("<i8").tobytes() + sums.total.astype("<i8").tobytes() + scale.tobytes() + bias.tobytes()
    )
