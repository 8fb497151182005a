"""What a file holds, as words and numbers, for ``repsketch inspect``."""

import os
from typing import Any

from ..lsh import RowHashes
from ..model.intervals import Intervals
from ..model.model import Model
from ..model.rows import RowGroup
from ..model.stages import Stage
from .framing import FILE_CAP, FORMAT_VERSION, sections_of
from .read import read_file, read_model
from .records import ROW_GROUP_STRIDE, STAGE_STRIDE, Section
from .totals import MEMORY_CAP, WORK_CAP


def describe(
    path: str | os.PathLike,
    *,
    max_nbytes: int = FILE_CAP,
    max_memory: int = MEMORY_CAP,
    max_work: int = WORK_CAP,
) -> dict[str, Any]:
    """The facts about a .rsk file, as a dictionary that JSON can hold. Limits as in ``load``.

    >>> import tempfile
    >>> from repsketch import lsh, Sketch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "density.rsk")
    ...     Sketch.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1).save(path)
    ...     facts = describe(path)
    >>> facts["precision"], facts["row_groups"][0]["hash"], facts["device_nbytes"]
    ('float32', 'l1, bandwidth 1.0, universal fold', 3240)
    """
    data = read_file(path, max_nbytes)
    contents = read_model(data, max_nbytes=max_nbytes, max_memory=max_memory, max_work=max_work, name=os.fspath(path))
    sections = sections_of(memoryview(data))
    return {
        "file_nbytes": len(data),
        "format_version": FORMAT_VERSION,
        "software_version": ".".join(str(number) for number in data[24:27]),
        **describe_model(contents.model),
        "is_additive": contents.sums is not None,
        "sections": {_name(kind): len(content) for kind, content in sections.items()},
        "metadata": contents.metadata,
    }


def describe_model(model: Model) -> dict[str, Any]:
    """What a model is: precision, sizes, groups of rows, bytes a device must hold."""
    inputs, projection = model.inputs, model.projection
    return {
        "precision": model.precision,
        "task": model.task,
        "classes": None if model.classes is None else model.classes.tolist(),
        "n_features": model.n_features,
        "n_columns": inputs.n_columns,
        "n_values": inputs.n_values,
        "accepts_missing": inputs.accepts_missing,
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "categories": None if model.categories is None else [list(labels) for labels in model.categories],
        "n_outputs": model.n_outputs,
        "intervals": None if model.intervals is None else _describe_intervals(model.intervals),
        "projection": None if projection is None else f"{projection.kind}, {projection.n_components} components",
        "stages": [_describe_stage(stage) for stage in model.stages],
        "linear": None if model.linear is None else str(model.linear.dtype),
        "row_groups": [_describe_row_group(model, group) for group in model.row_groups],
        "device_nbytes": model.nbytes,
    }


def _describe_intervals(table: Intervals) -> dict[str, Any]:
    """Rows they were calibrated on, the largest confidence, and bytes, which a device need not hold."""
    return {
        "n_rows": table.n_rows,
        "n_bins": table.scales.shape[1],
        "most_confidence": table.max_confidence,
        "nbytes": table.nbytes,
    }


def _describe_stage(stage: Stage) -> dict[str, Any]:
    activation = stage.activation
    if stage.tables is not None:
        activation = f"tables of {stage.tables.shape[1]} entries"
    return {
        "n_inputs": stage.n_inputs,
        "n_components": stage.n_components,
        "matrix": f"{'sparse ' if stage.is_sparse else ''}int{stage.matrix_bits}",
        "n_nonzeros": stage.n_nonzeros,
        "activation": activation,
        "linear": stage.linear is not None,
        "nbytes": stage.nbytes,
    }


def _describe_row_group(model: Model, group: RowGroup) -> dict[str, Any]:
    hashes = group.hashes
    if isinstance(hashes, RowHashes):
        family = hashes.family
        details = [family.name, *(f"{name} {value}" for name, value in vars(family).items()), f"{hashes.fold} fold"]
        seed = hashes.seed
    else:
        pool = hashes.pool
        kind = "bits" if pool.is_binary else f"{pool.n_levels} levels"
        details = [f"pool of {pool.n_codes} {pool.kind} codes", kind]
        details += ["interpolated"] if hashes.interpolate else []
        seed = pool.seed
    decode = "shared" if group.shared_decode is not None else "rows" if group.row_decode is not None else None
    return {
        "reads": group.source if model.projection is not None else "values",
        "hash": ", ".join(details),
        "seed": seed,
        "n_rows": group.n_rows,
        "n_concat": hashes.n_concat,
        "n_buckets": hashes.n_buckets,
        "counters": group.counter_type,
        "aggregate": group.aggregate if group.n_groups == 1 else f"{group.aggregate}, {group.n_groups} groups",
        "decode": decode if group.decode_bits == 8 else f"{decode}, int4",
        "nbytes": group.nbytes,
    }


def _name(kind: int) -> str:
    if kind in Section.__members__.values():
        return Section(kind).name
    first, stride = (Section.STAGE, STAGE_STRIDE) if kind >= Section.STAGE else (Section.ROW_GROUP, ROW_GROUP_STRIDE)
    number, section = divmod(kind - first, stride)
    return f"{Section(section + first).name} {number}"
