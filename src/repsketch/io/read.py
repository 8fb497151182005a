"""From the bytes of a .rsk file to a model. Files are not trusted: all of a file is checked before it is used.

The checks follow ``docs/spec/format.md`` in its order, so that this reader and the C reader give the same status to
the same bad file.
"""

import json
import os
import stat
from dataclasses import astuple, dataclass
from typing import Any

from .. import core
from ..errors import InputError
from ..model.counters import Sums
from ..model.magnitudes import LARGEST_MAGNITUDE, largest_output
from ..model.model import Model
from . import records
from .extras import read_categories, read_intervals, read_labels, read_sums
from .framing import FILE_CAP, FIRST_OPTIONAL, is_known, sections_of, unpack
from .metadata import check_metadata
from .model_reader import ModelReader
from .records import Section
from .row_group_reader import RowGroupReader
from .sections import Sections, refuse_if
from .status import FormatError, Status
from .totals import MEMORY_CAP, WORK_CAP, Limits, totals_of


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds.

    Attributes
    ----------
    model : what predicts
    sums : the sums behind its counters, or None
    metadata : the JSON object stored with it, empty without
    """

    model: Model
    sums: Sums | None
    metadata: dict[str, Any]


def read_file(path: str | os.PathLike, max_nbytes: int = FILE_CAP) -> bytes:
    """The bytes of a regular file of at most ``max_nbytes`` bytes whose size does not change meanwhile."""
    name = f"{os.fspath(path)!s}: "
    # Without O_NONBLOCK, opening a pipe would wait for its other end.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        state = os.fstat(handle)
        # Checked before fdopen, which has an error of its own for a directory.
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


def read_model(
    data: bytes,
    *,
    max_nbytes: int = FILE_CAP,
    max_memory: int = MEMORY_CAP,
    max_work: int = WORK_CAP,
    name: str = "",
    use_native: bool = True,
) -> Contents:
    """What the bytes of a .rsk file hold; a ``FormatError`` says what is wrong with them.

    Parameters
    ----------
    max_nbytes : largest file accepted
    max_memory : bytes that predicting may take in one thread
    max_work : operations that the prediction of one row may take
    name : of the file, for messages
    use_native : let the C reader check the file where it is there; it makes the same checks in a tenth of the time
    """
    limits = Limits(max_nbytes, max_memory, max_work)
    if use_native and core.native is not None:
        # Limits of the C reader are 64-bit numbers, of which 0 means the default.
        opened = core.native.File(data, *(max(limit, 1) for limit in astuple(limits)))
        if opened.status == Status.OK:
            return _read(Sections(sections_of(memoryview(data)), are_good=True), opened, limits)
    try:  # the C reader refuses nothing by itself: this reader does, with its messages
        return _read(Sections(unpack(memoryview(data), max_nbytes)), bytes(data), limits)
    except FormatError as error:
        raise FormatError(error.status, f"{name}: " if name else "", error.detail) from None


def _read(sections: Sections, file: Any, limits: Limits) -> Contents:
    """Everything checked, then put together; ``file`` is what the runtime makes its plan from."""
    reader = ModelReader(sections)
    record = reader.model
    reader.check_columns()
    reader.check_projection()
    groups = [RowGroupReader(reader, i) for i in range(record.n_row_groups)]
    for group in groups:
        group.check()
    if not sections.are_good:
        stages = reader.stages
        totals_of(record, [group.fields for group in groups], [stage.fields for stage in stages]).check(limits)
        accumulators = [(group.largest_accumulator(), group.gain) for group in groups]
        linear_terms = [(float(stage.largest_linear), stage.gain) for stage in stages if stage.gain is not None]
        largest = largest_output(reader.offset, accumulators, reader.largest_linear(), linear_terms)
        refuse_if(largest > LARGEST_MAGNITUDE, Status.MAGNITUDE)
    for kind in () if sections.are_good else sections.contents:
        refuse_if(kind < FIRST_OPTIONAL and is_known(kind) and kind not in sections.used, Status.SECTION_UNEXPECTED)
    classes, names = read_labels(sections, record)
    sums = read_sums(sections, record, groups, reader.offset)
    metadata: dict[str, Any] = {}
    if Section.METADATA in sections.contents:
        if not sections.are_good:
            check_metadata(sections.contents[Section.METADATA])
        metadata = json.loads(bytes(sections.contents[Section.METADATA]))
    try:
        inputs, projection = reader.make_inputs(), reader.make_projection()
        categories = read_categories(sections, inputs)
        intervals = read_intervals(sections, record)
        made = tuple(group.make(inputs) for group in groups)
        task = records.TASKS[record.task]
        linear, gain = reader.linear, reader.linear_gain
        extras = (task, classes, names, categories, intervals, records.OFFSETS[record.offset_stored_as], file)
        return Contents(Model(inputs, projection, made, reader.offset, linear, gain, *extras), sums, metadata)
    except InputError as error:  # a check of the model that the specification lacks: refused all the same
        raise FormatError(Status.FIELD) from error
