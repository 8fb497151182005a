"""Reads what a prediction does not need: labels, names, sums behind counters, intervals. Paragraph 12 of section 3."""

from types import SimpleNamespace

import numpy as np

from ..lsh.fold import fold_collision_rate
from ..model.counters import Counters, Sums
from ..model.inputs import Inputs
from ..model.intervals import CONFIDENCES, MAX_BINS, Intervals, n_confidences_of
from . import records
from .records import FIRST_POOL, Section
from .row_group_reader import RowGroupReader
from .sections import CHUNK, Sections, check_size, refuse_if
from .status import Status
from .strings import decode_categories, decode_classes, decode_strings


def read_labels(sections: Sections, model: SimpleNamespace) -> tuple[np.ndarray | None, tuple[str, ...] | None]:
    """Class labels and feature names, or None where there are none."""
    n = model.n_classes
    refuse_if((n > 0) != (Section.CLASSES in sections.contents), Status.CLASS_COUNT)
    classes = decode_classes(sections.contents[Section.CLASSES], n) if n else None
    if Section.NAMES not in sections.contents:
        return classes, None
    data = sections.contents[Section.NAMES]
    return classes, tuple(decode_strings(data, model.n_features, Status.NAME_COUNT, Status.NAME_DUPLICATE))


def read_categories(sections: Sections, inputs: Inputs) -> tuple[tuple[str, ...], ...] | None:
    """The labels of the categories of every categorical column used, or None."""
    if Section.CATEGORIES not in sections.contents:
        return None
    return decode_categories(sections.contents[Section.CATEGORIES], inputs.category_counts)


def read_intervals(sections: Sections, model: SimpleNamespace) -> Intervals | None:
    """How far values may be from the outputs, or None."""
    if Section.INTERVALS not in sections.contents:
        return None
    data, n_outputs = sections.contents[Section.INTERVALS], model.n_outputs
    refuse_if(records.TASKS[model.task] == "classification", Status.SECTION_UNEXPECTED)
    refuse_if(len(data) < records.INTERVALS.nbytes, Status.SIZE_MISMATCH)
    head = records.INTERVALS.unpack(data[: records.INTERVALS.nbytes])
    check_size(head.n_levels, len(CONFIDENCES))
    check_size(head.n_bins, MAX_BINS)
    refuse_if(head.n_levels > n_confidences_of(head.n_rows), Status.SIZE_MISMATCH)
    widths = (head.n_bins - 1, head.n_bins, head.n_levels)
    refuse_if(len(data) != records.INTERVALS.nbytes + 4 * n_outputs * sum(widths), Status.SIZE_MISMATCH)
    numbers = np.frombuffer(data, "<f4", offset=records.INTERVALS.nbytes)
    ends = np.cumsum([n_outputs * width for width in widths])[:2]
    shaped = [table.reshape(n_outputs, width) for table, width in zip(np.split(numbers, ends), widths, strict=True)]
    borders, scales, quantiles = shaped
    refuse_if(not np.isfinite(borders).all(), Status.NOT_FINITE)
    refuse_if(np.any(borders[:, 1:] <= borders[:, :-1]), Status.INDEX_ORDER)
    refuse_if(not (np.isfinite(scales).all() and scales.min() > 0), Status.SCALE)
    refuse_if(not np.isfinite(quantiles).all(), Status.NOT_FINITE)
    refuse_if(quantiles.min() < 0 or np.any(quantiles[:, 1:] < quantiles[:, :-1]), Status.INDEX_ORDER)
    return Intervals(head.n_rows, *shaped)


def read_sums(
    sections: Sections, model: SimpleNamespace, groups: list[RowGroupReader], offset: np.ndarray
) -> Sums | None:
    """The sums that the counters are made of, or None; they must belong to the counters, gain and offset."""
    if Section.SUMS not in sections.contents:
        return None
    data, fields = sections.contents[Section.SUMS], groups[0].fields
    is_plain = len(groups) == 1 and fields.hash < FIRST_POOL and not model.is_integer
    refuse_if(not is_plain or fields.counter_type or fields.decode, Status.SUMS)
    n, n_outputs = fields.n_rows * fields.n_buckets * fields.n_numbers, model.n_outputs
    refuse_if(len(data) != 16 + 8 * n + 24 * n_outputs, Status.SIZE_MISMATCH)
    step = float(np.frombuffer(data, "<f8", 1)[0])
    debias, unused = np.frombuffer(data, "<u4", 2, 8).tolist()
    refuse_if(not 2.0**-1000 <= step <= 2.0**1000 or np.frexp(step)[0] != 0.5, Status.SUMS)
    refuse_if(debias > 1, Status.FIELD)
    refuse_if(unused, Status.PADDING)
    numbers = np.frombuffer(data, "<i8", n + n_outputs, 16)
    refuse_if(numbers.max() >= 2**62 or numbers.min() <= -(2**62), Status.SUMS)
    sums, total = numbers[:n], numbers[n:]
    scale, bias = np.frombuffer(data, "<f8", 2 * n_outputs, 16 + 8 * (n + n_outputs)).reshape(2, -1)
    counters = np.frombuffer(sections.contents[Section.COUNTERS], "<u4")
    for start in range(0, n, CHUNK):
        with np.errstate(over="ignore"):
            stored = (sums[start : start + CHUNK] * step).astype("<f4").view("<u4")
        refuse_if(np.any(stored != counters[start : start + CHUNK]), Status.SUMS)
    refuse_if(not (np.isfinite(scale).all() and np.isfinite(bias).all()), Status.NOT_FINITE)
    rate = fold_collision_rate(fields.n_buckets) if debias and fields.fold == 0 else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        gain = scale / (1.0 - rate)
        moved = bias - gain * rate * (total * step) if rate else bias
        is_same = np.all(gain.astype(np.float32) == groups[0].gain) and np.all(moved.astype(np.float32) == offset)
    refuse_if(not is_same, Status.SUMS)
    shape = (fields.n_rows, fields.n_buckets, fields.n_numbers)
    state = Counters(sums.reshape(shape).astype(np.int64), total.astype(np.int64), step)
    return Sums(state, scale.astype(float), bias.astype(float), bool(debias))
