"""CSV files: records of cells, converted to columns chunk by chunk.

Takes a path, hands on a ``Frame`` and the separator. Python's ``csv`` splits lines into cells (``csv_text`` reads the
lines, ``csv_columns`` converts the cells), so that memory holds the columns and one chunk of cells.
"""

import csv
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain, islice, repeat
from pathlib import Path

from ..errors import InputError
from .csv_columns import ColumnBuilder
from .csv_text import MAX_HEAD, find_separator, open_lines
from .frame import Column, Frame

_CHUNK_CELLS = 1 << 14  # converted at once; ten times as many, which leave the cache, take twice as long


def read_csv(
    path: Path, text: Collection[str] = (), encoding: str | None = None, usual: str = ","
) -> tuple[Frame, str]:
    """The table in a CSV file, compressed by gzip or not, and its separator.

    Parameters
    ----------
    path : of the file
    text : names of columns that are not read as numbers
    encoding : of the text, where it is not UTF-8 and has no byte order mark
    usual : the separator to prefer where several are possible

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "trees.csv")
    ...     _ = path.write_text("size;kind\\n1,5;oak\\n2,0;ash\\n")
    ...     frame, separator = read_csv(path)
    >>> frame.rows(), separator
    ([(1.5, 'oak'), (2.0, 'ash')], ';')
    """
    with open_lines(path, encoding) as lines:
        head = _head(lines)
        separator = find_separator("".join(head), usual)
        names, columns = _read(chain(head, lines), separator, set(text), path.name)
    again = [name for name, column in zip(names, columns, strict=True) if column.must_be_read_again]
    if again:  # numbers first and text later; what they were written as is still in the file
        with open_lines(path, encoding) as lines:
            _, rest = _read(lines, separator, {*text, *again}, path.name, again)
        found = dict(zip(again, rest, strict=True))
        columns = [found.get(name, column) for name, column in zip(names, columns, strict=True)]
    finished: dict[str, Column] = {}
    for name in names:
        try:
            finished[name] = columns.pop(0).finish()
        except ValueError as error:
            raise ValueError(f"column {name!r} cannot be used: {error}") from None
    return Frame(finished), separator


def _head(lines: Iterator[str]) -> list[str]:
    """The first lines, of ``MAX_HEAD`` characters or more, if there are as many."""
    head, n_characters = [], 0
    for line in lines:
        head.append(line)
        n_characters += len(line)
        if n_characters >= MAX_HEAD:
            break
    return head


def _read(
    lines: Iterator[str], separator: str, text: Collection[str], name: str, only: Collection[str] | None = None
) -> tuple[list[str], list[ColumnBuilder]]:
    """The names of all columns, and these columns, or ``only`` some of them."""
    with _cells_of_any_length():
        reader = csv.reader(lines, delimiter=separator, strict=True)
        try:
            header = next((cells for cells in reader if cells), None)
            if header is None:
                raise ValueError("empty CSV")
            names = _checked_names(header, name)
            places = [place for place, column in enumerate(names) if only is None or column in only]
            columns = [ColumnBuilder(names[place] in text, separator != ",") for place in places]
            rows = _rows(reader, len(names), separator)
            while chunk := list(islice(rows, max(1, _CHUNK_CELLS // len(names)))):
                cells = list(zip(*chunk, strict=True))
                for place, column in zip(places, columns, strict=True):
                    column.add(cells[place])
        except csv.Error as error:
            where = f"in line {reader.line_num}; the separator is taken to be {separator!r}"
            raise ValueError(f"could not parse the file: {error} {where}") from error
    return names, columns


def _rows(reader: Iterator[list[str]], width: int, separator: str) -> Iterator[list[str]]:
    """Records of ``width`` cells: short and blank lines are filled up, blank lines at the end are left out."""
    n_blank = 0
    for cells in reader:
        if not cells:
            n_blank += 1
            continue
        if n_blank:
            yield from repeat([""] * width, n_blank)
            n_blank = 0
        if len(cells) > width:
            line = reader.line_num  # type: ignore[attr-defined]
            found = f"found more fields, {len(cells)}, than the {width} names in line {line}"
            raise ValueError(f"{found}; the separator is taken to be {separator!r}")
        yield cells if len(cells) == width else cells + [""] * (width - len(cells))


def _checked_names(cells: list[str], name: str) -> list[str]:
    names = [cell.strip() for cell in cells]
    for place, column in enumerate(names):
        if column in names[:place]:
            places = f"columns {names.index(column)} and {place}, counted from 0"
            raise InputError(f"{name} has two columns named {column!r} ({places}); rename or remove one of them.")
    return names


@contextmanager
def _cells_of_any_length() -> Iterator[None]:
    """Inside, Python's reader accepts cells of more than 131,072 characters."""
    before = csv.field_size_limit((1 << 31) - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)
