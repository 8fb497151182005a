"""From the bytes of a .rsk file to a sketch. A file from a stranger is hostile: all of it is checked before it is used.

The checks follow ``docs/spec/format.md`` in its order, so that this reader and the C reader give the same status to
the same bad file.
"""

import json
import os
import stat
from dataclasses import astuple, replace
from typing import Any

import numpy as np

from .. import core
from ..comparison import Comparison
from ..errors import InputError
from ..lsh import RowHashes
from ..sketch import CompiledSketch, Form, KernelSketch, Sketch
from ..sketch.magnitudes import LARGEST_MAGNITUDE, largest_output
from ..sketch.part import Part
from . import records
from .extras import Sums, read_categories, read_intervals, read_labels, read_sums
from .framing import FILE_CAP, FIRST_OPTIONAL, is_known, sections_of, unpack
from .metadata import check_metadata
from .model_reader import ModelReader
from .part_reader import PartReader
from .records import Section
from .sections import Sections, refuse_if
from .status import FormatError, Status
from .totals import MEMORY_CAP, WORK_CAP, Limits, totals_of
from .write import COMPARISON


def load(
    path: str | os.PathLike,
    *,
    max_nbytes: int = FILE_CAP,
    max_memory: int = MEMORY_CAP,
    max_work: int = WORK_CAP,
) -> Sketch:
    """The sketch in a .rsk file.

    A file is refused if predicting with it could take more memory or work than accepted: raise the limits for a large
    sketch from a source that you trust.

    Parameters
    ----------
    path : a regular file
    max_nbytes : largest file accepted
    max_memory : bytes that predicting may take in one thread
    max_work : operations that the prediction of one row may take

    >>> import tempfile
    >>> from repsketch import lsh
    >>> density = Sketch.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1).add([[0.5]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     density.save(os.path.join(folder, "density.rsk"))
    ...     again = load(os.path.join(folder, "density.rsk"))
    >>> bool(again.predict([[0.5]]) == density.predict([[0.5]]))
    True
    """
    data, limits = read_file(path, max_nbytes), Limits(max_nbytes, max_memory, max_work)
    if core.native is not None and _native_status(data, limits) == Status.OK:
        # The C reader makes the same checks, in a tenth of the time. It refuses nothing by itself: from_bytes does.
        return _read(Sections(sections_of(memoryview(data)), are_good=True), data, limits)
    return from_bytes(data, max_nbytes=max_nbytes, max_memory=max_memory, max_work=max_work, name=os.fspath(path))


def _native_status(data: bytes, limits: Limits) -> int:
    """What the C reader says. Its limits are 64-bit numbers, of which 0 asks for the default."""
    return core.native.file_status(data, *(max(limit, 1) for limit in astuple(limits)))


def read_file(path: str | os.PathLike, max_nbytes: int = FILE_CAP) -> bytes:
    """The bytes of a regular file of at most ``max_nbytes`` bytes whose size does not change meanwhile."""
    name = f"{os.fspath(path)!s}: "
    # Without O_NONBLOCK, opening a pipe would wait for its other end.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        state = os.fstat(handle)
        # Asked before fdopen, which has an error of its own for a directory.
        if not stat.S_ISREG(state.st_mode):
            raise FormatError(Status.NOT_REGULAR, name)
        if state.st_size > max_nbytes:
            raise FormatError(Status.FILE_CAP, name)
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(state.st_size + 1)
    finally:
        os.close(handle)
    if len(data) != state.st_size:
        raise FormatError(Status.FILE_CHANGED, name)
    return data


def from_bytes(
    data: bytes,
    *,
    max_nbytes: int = FILE_CAP,
    max_memory: int = MEMORY_CAP,
    max_work: int = WORK_CAP,
    name: str = "",
) -> Sketch:
    """The sketch in the bytes of a .rsk file; a ``FormatError`` says what is wrong with them. Limits as in ``load``."""
    limits = Limits(max_nbytes, max_memory, max_work)
    try:
        return _read(Sections(unpack(memoryview(data), max_nbytes)), bytes(data), limits)
    except FormatError as error:
        raise FormatError(error.status, f"{name}: " if name else "", error.detail) from None


def _read(sections: Sections, data: bytes, limits: Limits) -> Sketch:
    """Everything checked, then put together."""
    reader = ModelReader(sections)
    model = reader.model
    reader.check_columns()
    reader.check_projection()
    parts = [PartReader(reader, i) for i in range(model.n_parts)]
    for part in parts:
        part.check()
    if not sections.are_good:
        totals_of(model, [part.fields for part in parts]).check(limits)
        accumulators = [(part.largest_accumulator(), part.gain) for part in parts]
        largest = largest_output(reader.offset, accumulators, reader.largest_linear())
        refuse_if(largest > LARGEST_MAGNITUDE, Status.MAGNITUDE)
    for kind in () if sections.are_good else sections.contents:
        refuse_if(kind < FIRST_OPTIONAL and is_known(kind) and kind not in sections.used, Status.SECTION_UNEXPECTED)
    classes, names = read_labels(sections, model)
    sums = read_sums(sections, model, parts, reader.offset)
    if Section.METADATA in sections.contents and not sections.are_good:
        check_metadata(sections.contents[Section.METADATA])
    try:
        inputs, projection = reader.make_inputs(), reader.make_projection()
        categories = read_categories(sections, inputs)
        intervals = read_intervals(sections, model)
        made = tuple(part.make(inputs) for part in parts)
        task = records.TASKS[model.task]
        linear, gain = reader.linear, reader.linear_gain
        extras = (task, classes, names, categories, intervals, records.STORED_AS[model.offset_stored_as], data)
        form = Form(inputs, projection, made, reader.offset, linear, gain, *extras)
        sketch = _as_sketch(form, sums)
        if isinstance(sketch, CompiledSketch) and Section.METADATA in sections.contents:
            content = json.loads(bytes(sections.contents[Section.METADATA]))
            sketch = replace(sketch, summary=Comparison.from_dict(content.get(COMPARISON)))
    except InputError as error:  # a check of the form that the page forgot: refused all the same
        raise FormatError(Status.FIELD) from error
    vars(sketch).setdefault("form", form)  # what a KernelSketch would make of itself again
    return sketch


def _as_sketch(form: Form, sums: Sums | None) -> Sketch:
    """The paper's kind of sketch where the form is of that kind, so that it can be added to or refitted again."""
    part = form.parts[0]
    kinds = None if form.projection is None else form.projection.kind
    is_paper = (
        len(form.parts) == 1
        and not form.is_whole
        and isinstance(part.hashes, RowHashes)
        and part.counter_type == "float32"
        and part.decode is None
        and part.aggregate != "sum"
        and kinds in (None, "shift", "float32")
        and part.source == "projected"
        and form.inputs.columns is None
        and form.inputs.kinds is None
        and form.feature_names is None
        and form.intervals is None
        and _has_units_of(form, part)
    )
    if not is_paper:
        return CompiledSketch(form)
    assert isinstance(part.hashes, RowHashes)
    projection = form.projection
    options: dict[str, Any] = {
        "projection": None if projection is None else projection.matrix,
        "shift": None if projection is None else projection.shift,
        "linear": form.linear,
        "n_groups": part.n_groups,
        "task": form.task,
        "classes": form.classes,
    }
    if sums is None:
        gain = np.broadcast_to(part.gain, form.offset.shape).astype(np.float64)
        return KernelSketch(
            part.hashes, None, part.counters, output_scale=gain, output_bias=form.offset.astype(np.float64), **options
        )
    options |= {"output_scale": sums.scale, "output_bias": sums.bias, "debias": sums.debias}
    return KernelSketch(part.hashes, sums.state, **options)


def _has_units_of(form: Form, part: Part) -> bool:
    """The columns are scaled as the family of an unprojected sketch asks for, and in no other way."""
    assert isinstance(part.hashes, RowHashes)
    unit, scales = np.float32(part.hashes.family.unit_scale), form.inputs.scales
    if form.inputs.centers is not None or form.inputs.accepts_missing or form.inputs.stored_as != "float32":
        return False
    has_matrix = form.projection is not None and form.projection.matrix is not None
    if has_matrix or unit == 1.0:
        return scales is None
    return scales is not None and len(scales) == 1 and scales[0] == unit
