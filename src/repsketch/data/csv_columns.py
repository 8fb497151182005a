"""Cells of CSV text, converted to the columns of a frame chunk by chunk.

Takes the cells of one column, some thousand at a time; hands on a ``Column`` whose kind fits all of them.
"""

from collections.abc import Sequence

import numpy as np

from .frame import Column

MISSING = frozenset(("", "?", "NA", "N/A", "NaN", "nan", "null"))  # cells that hold no value
_TRUTH = ("true", "false")
_EXACT = 2.0**53  # float64 holds the integers up to here
_LARGEST = 2.0**127  # integers up to here are read as floats, larger ones are refused


class ColumnBuilder:
    """A column whose cells arrive in chunks.

    Numbers are stored as arrays. A column that holds numbers first and text later is to be read again, as text.

    Parameters
    ----------
    is_text : True for a column that is not read as numbers
    has_decimal_comma : True if 1,5 is a number

    >>> builder = ColumnBuilder(False, False).add(["1", "?"]).add([" 2.5"])
    >>> builder.finish().cells(), builder.must_be_read_again
    ([1.0, None, 2.5], False)
    >>> ColumnBuilder(False, False).add(["1", "2"]).add(["x"]).must_be_read_again
    True
    """

    def __init__(self, is_text: bool, has_decimal_comma: bool):
        self.must_be_read_again = False
        self._kind = "text" if is_text else "missing"
        self._has_decimal_comma = has_decimal_comma
        self._values: list[np.ndarray] = []
        self._are_missing: list[np.ndarray] = []
        self._texts: dict[str, str] = {}  # equal cells share their text

    def add(self, cells: Sequence[str]) -> "ColumnBuilder":
        """Convert some more cells."""
        if self.must_be_read_again:
            return self
        before = self._kind
        kind, values, is_missing = ("text", None, None) if before == "text" else self._as_numbers(cells)
        self._kind = _common_kind(before, kind)
        if self._kind == "text":
            self.must_be_read_again = before not in ("text", "missing", "spaced")
            values, is_missing = self._as_text(cells)
        assert values is not None
        assert is_missing is not None
        self._values.append(values)
        self._are_missing.append(is_missing)
        return self

    def finish(self) -> Column:
        """The column of all cells."""
        if self._kind == "too large":
            raise ValueError("it holds integers of more than 128 bits; write them as text or with an exponent")
        chunks, are_missing, self._values, self._are_missing = self._values, self._are_missing, [], []
        if self._kind == "text":
            chunks = [np.full(len(chunk), None, object) if chunk.dtype != object else chunk for chunk in chunks]
        if self._kind == "boolean":
            chunks = [chunk.astype(bool) for chunk in chunks]
        values = np.concatenate(chunks or [np.empty(0, np.int64)])
        is_missing = np.concatenate([np.empty(0, bool), *are_missing])
        return Column(values, is_missing, self._kind if self._kind in ("text", "boolean") else "number")

    def _as_numbers(self, cells: Sequence[str]) -> tuple[str, np.ndarray | None, np.ndarray | None]:
        """The kind of some cells, their values and which of them are missing; no values where it is text."""
        numbers = _parse(cells)
        if numbers is not None and not np.isnan(numbers[1]).any():  # NaN may be a missing cell
            return *numbers, np.zeros(len(cells), bool)
        stripped = [cell.strip() for cell in cells]
        present = [cell for cell in stripped if cell not in MISSING]
        is_missing = np.fromiter((cell in MISSING for cell in stripped), bool, len(cells))
        if not present:
            kind = "missing" if MISSING.issuperset(cells) else "spaced"
            return kind, np.zeros(len(cells), np.int64), is_missing
        numbers = _parse(present)
        if numbers is None and self._has_decimal_comma:
            numbers = _parse([cell.replace(",", ".", 1) for cell in present])
        if numbers is None:
            if not all(cell in MISSING or cell.lower() in _TRUTH for cell in cells):
                return "text", None, None
            numbers = "boolean", np.array([cell.lower() == "true" for cell in present])
        kind, found = numbers
        values = np.zeros(len(cells), found.dtype)
        values[~is_missing] = found
        return kind, values, is_missing

    def _as_text(self, cells: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        stripped = [cell.strip() for cell in cells]
        share = self._texts.setdefault
        values = np.array([None if cell in MISSING else share(cell, cell) for cell in stripped], object)
        return values, np.fromiter((cell is None for cell in values), bool, len(values))


def _parse(cells: Sequence[str]) -> tuple[str, np.ndarray] | None:
    """The kind "integer", "number" or "too large" of cells that are all numbers, and their values; else None.

    Python's parser alone would accept 1_000 and digits of all scripts.

    >>> _parse(["1", " -2 "]), _parse(["1_000"])
    (('integer', array([ 1, -2])), None)
    """
    text = "\n".join(cells)
    if not text.isascii() or "_" in text:
        return None
    try:
        values = np.fromiter(map(float, cells), np.float64, len(cells))
    except ValueError:
        return None
    if any(sign in text for sign in ".eEnNiI"):  # of 1.5, 1e5, nan, inf
        return "number", values
    largest = np.abs(values).max(initial=0.0)
    if largest < _EXACT:
        return "integer", values.astype(np.int64)
    if largest >= _LARGEST:
        return "too large", values
    try:
        return "integer", np.array([int(cell) for cell in cells], np.int64)
    except OverflowError:
        return "integer", values


def _common_kind(one: str, other: str) -> str:
    """The kind of a column that holds cells of two kinds.

    "spaced" are missing cells with spaces around them: true and false are text beside them, as they are with spaces.
    """
    kinds = {one, other} - {"missing"}
    if "boolean" not in kinds:
        kinds -= {"spaced"} if len(kinds) > 1 else set()
    if len(kinds) < 2:
        return next(iter(kinds), "missing")
    if kinds <= {"integer", "too large", "number"}:
        return "number" if "number" in kinds else "too large"
    return "text"
