"""What a file holds, in plain words and numbers: for ``repsketch inspect`` and for people who ask."""

import os
from typing import Any

from ..lsh import RowHashes
from ..sketch import Form, KernelSketch, Sketch
from ..sketch.intervals import Intervals
from ..sketch.part import Part
from .framing import FILE_CAP, FORMAT_VERSION, unpack
from .metadata import read_metadata
from .read import from_bytes, read_file
from .records import PART_STRIDE, Section
from .totals import MEMORY_CAP, WORK_CAP


def describe(
    path: str | os.PathLike,
    *,
    max_nbytes: int = FILE_CAP,
    max_memory: int = MEMORY_CAP,
    max_work: int = WORK_CAP,
) -> dict[str, Any]:
    """Everything there is to say about a .rsk file, as a dictionary that JSON can hold. Limits as in ``load``.

    >>> import tempfile
    >>> from repsketch import lsh, Sketch
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "density.rsk")
    ...     Sketch.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1).save(path)
    ...     facts = describe(path)
    >>> facts["precision"], facts["parts"][0]["hash"], facts["device_nbytes"]
    ('float32', 'l1, bandwidth 1.0, universal fold', 3240)
    """
    data = read_file(path, max_nbytes)
    limits = {"max_nbytes": max_nbytes, "max_memory": max_memory, "max_work": max_work}
    sketch = from_bytes(data, name=os.fspath(path), **limits)
    sections = unpack(memoryview(data), max_nbytes)
    metadata = read_metadata(sections[Section.METADATA]) if Section.METADATA in sections else {}
    return {
        "file_nbytes": len(data),
        "format_version": FORMAT_VERSION,
        "software_version": ".".join(str(number) for number in data[24:27]),
        **describe_sketch(sketch),
        "sections": {_name(kind): len(content) for kind, content in sections.items()},
        "metadata": metadata,
    }


def describe_sketch(sketch: Sketch) -> dict[str, Any]:
    """What a sketch is: precision, sizes, parts, bytes a device must hold."""
    form = sketch.form
    inputs, projection = form.inputs, form.projection
    return {
        "precision": form.precision,
        "task": form.task,
        "classes": None if form.classes is None else form.classes.tolist(),
        "n_features": form.n_features,
        "n_columns": inputs.n_columns,
        "n_values": inputs.n_values,
        "accepts_missing": inputs.accepts_missing,
        "feature_names": None if form.feature_names is None else list(form.feature_names),
        "categories": None if form.categories is None else [list(labels) for labels in form.categories],
        "n_outputs": form.n_outputs,
        "intervals": None if form.intervals is None else _describe_intervals(form.intervals),
        "projection": None if projection is None else f"{projection.kind}, {projection.n_components} components",
        "linear": None if form.linear is None else str(form.linear.dtype),
        "parts": [_describe_part(form, part) for part in form.parts],
        "is_additive": isinstance(sketch, KernelSketch) and sketch.sums is not None,
        "device_nbytes": sketch.nbytes,
    }


def _describe_intervals(table: Intervals) -> dict[str, Any]:
    """Where they come from and what may be asked; their bytes are beyond those a device must hold."""
    return {
        "n_rows": table.n_rows,
        "n_bins": table.scales.shape[1],
        "most_confidence": table.most,
        "nbytes": table.nbytes,
    }


def _describe_part(form: Form, part: Part) -> dict[str, Any]:
    hashes = part.hashes
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
    decode = "shared" if part.shared_decode is not None else "rows" if part.row_decode is not None else None
    return {
        "reads": part.source if form.projection is not None else "values",
        "hash": ", ".join(details),
        "seed": seed,
        "n_rows": part.n_rows,
        "n_concat": hashes.n_concat,
        "n_buckets": hashes.n_buckets,
        "counters": part.counter_type,
        "aggregate": part.aggregate if part.n_groups == 1 else f"{part.aggregate}, {part.n_groups} groups",
        "decode": decode if part.decode_bits == 8 else f"{decode}, int4",
        "nbytes": part.nbytes,
    }


def _name(kind: int) -> str:
    if kind in Section.__members__.values():
        return Section(kind).name
    part, section = divmod(kind - Section.PART, PART_STRIDE)
    return f"{Section(section + Section.PART).name} {part}"
