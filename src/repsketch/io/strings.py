"""Class labels, feature names and categories in a file, each in an order that shows any double at once."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..errors import InputError
from .status import FormatError, Status

STRING_CAP = 1024
_KINDS = {0: "<i8", 1: "<f8", 2: "u1"}
_TEXT = 3
_TEXT_NBYTES = 4  # a character of an array of text
WIDEST_NBYTES = 1 << 18  # larger arrays of text become arrays of strings


def encode_strings(strings: Sequence[str]) -> bytes:
    """A table of text: the order of the strings, their ends, their bytes."""
    encoded = [string.encode() for string in strings]
    for string in encoded:
        if len(string) > STRING_CAP or b"\0" in string:
            raise InputError(f"the text {string[:40]!r} is longer than {STRING_CAP} bytes or holds a NUL.")
    if len(set(encoded)) != len(encoded):
        raise InputError("two labels or names are the same.")
    order = np.array(sorted(range(len(encoded)), key=encoded.__getitem__), "<u4")
    ends = np.cumsum([len(string) for string in encoded]).astype("<u4")
    return order.tobytes() + ends.tobytes() + b"".join(encoded)


def decode_strings(data: memoryview, n: int, too_short: Status, duplicate: Status) -> list[str]:
    """The n strings of a table, checked."""
    if len(data) < 8 * n:
        raise FormatError(too_short)
    strings = _split(data[8 * n :], np.frombuffer(data, "<u4", n, 4 * n))
    order = np.frombuffer(data, "<u4", n)
    previous = None
    for index in order.tolist():
        if index >= n:
            raise FormatError(Status.INDEX_RANGE)
        # UTF-8 keeps the order of code points, which is how Python compares strings.
        string = strings[index]
        if previous is not None and string <= previous:
            raise FormatError(duplicate if string == previous else Status.INDEX_ORDER)
        previous = string
    return strings


def encode_categories(categories: Sequence[Sequence[str]]) -> bytes:
    """The labels of all categories, column by column: where they end, and their bytes."""
    encoded = [label.encode() for labels in categories for label in labels]
    for label in encoded:
        if len(label) > STRING_CAP or b"\0" in label:
            raise InputError(f"the category {label[:40]!r} is longer than {STRING_CAP} bytes or holds a NUL.")
    return np.cumsum([len(label) for label in encoded]).astype("<u4").tobytes() + b"".join(encoded)


def decode_categories(data: memoryview, counts: Sequence[int]) -> tuple[tuple[str, ...], ...]:
    """For each categorical column its labels, which rise; checked."""
    n = sum(counts)
    if n == 0 or len(data) < 4 * n:
        raise FormatError(Status.NAME_COUNT)
    strings = _split(data[4 * n :], np.frombuffer(data, "<u4", n))
    columns, start = [], 0
    for count in counts:
        labels = tuple(strings[start : start + count])
        for before, label in pairwise(labels):
            if label <= before:
                raise FormatError(Status.NAME_DUPLICATE if label == before else Status.INDEX_ORDER)
        columns.append(labels)
        start += count
    return tuple(columns)


def _split(text: memoryview, ends: np.ndarray) -> list[str]:
    """The strings that end there, checked."""
    if ends[-1] != len(text) or np.any(ends[1:] < ends[:-1]):
        raise FormatError(Status.SIZE_MISMATCH)
    starts = [0, *ends[:-1].tolist()]
    return [_decode(text[start:end]) for start, end in zip(starts, ends.tolist(), strict=True)]


def _decode(raw: memoryview) -> str:
    if len(raw) > STRING_CAP:
        raise FormatError(Status.STRING_CAP)
    try:
        string = bytes(raw).decode()
    except UnicodeDecodeError as error:
        raise FormatError(Status.TEXT) from error
    if "\0" in string:
        raise FormatError(Status.TEXT)
    return string


def encode_classes(classes: np.ndarray) -> bytes:
    """Class labels: integers, floats, booleans or text."""
    kind = {"i": 0, "u": 0, "f": 1, "b": 2}.get(classes.dtype.kind, _TEXT)
    head = np.array([kind, 0], "<u4").tobytes()
    if kind == _TEXT:
        if not all(isinstance(label, str) for label in classes.tolist()):
            raise InputError("class labels must be numbers, booleans or text to be saved.")
        return head + encode_strings([str(label) for label in classes])
    labels = classes.astype(_KINDS[kind])
    if len(np.unique(labels)) != len(labels):
        raise InputError("two classes have the same label.")
    order = np.argsort(labels, kind="stable").astype("<u4").tobytes()
    return head + order + bytes(-len(order) % 8) + labels.tobytes()


def decode_classes(data: memoryview, n: int) -> np.ndarray:
    """The n class labels, checked."""
    if len(data) < 8:
        raise FormatError(Status.CLASS_COUNT)
    kind, unused = np.frombuffer(data, "<u4", 2).tolist()
    if kind > _TEXT:
        raise FormatError(Status.FIELD)
    if unused:
        raise FormatError(Status.PADDING)
    if kind == _TEXT:
        strings = decode_strings(data[8:], n, Status.CLASS_COUNT, Status.CLASS_DUPLICATE)
        # All entries of NumPy's arrays of text are as wide as the widest: one long label among thousands of short ones
        # would take thousands of times its size.
        is_narrow = _TEXT_NBYTES * n * max(map(len, strings)) <= WIDEST_NBYTES
        return np.array(strings, None if is_narrow else object)
    start = 8 + (4 * n + 7) // 8 * 8
    dtype = np.dtype(_KINDS[kind])
    if len(data) != start + n * dtype.itemsize:
        raise FormatError(Status.CLASS_COUNT)
    if any(data[8 + 4 * n : start]):
        raise FormatError(Status.PADDING)
    labels = np.frombuffer(data, dtype, n, start)
    if kind == 1 and not np.isfinite(labels).all():
        raise FormatError(Status.NOT_FINITE)
    if kind == 2 and labels.max() > 1:
        raise FormatError(Status.FIELD)
    order = np.frombuffer(data, "<u4", n, 8)
    _check_order(labels, order)
    return labels.astype(bool) if kind == 2 else labels.astype(dtype.newbyteorder("="))


def _check_order(labels: np.ndarray, order: np.ndarray) -> None:
    n, previous = len(labels), None
    for index in order.tolist():
        if index >= n:
            raise FormatError(Status.INDEX_RANGE)
        label = labels[index]
        if previous is not None and not label > previous:
            raise FormatError(Status.CLASS_DUPLICATE if label == previous else Status.INDEX_ORDER)
        previous = label
