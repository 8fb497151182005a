"""CSV text: its encoding, separator and names are detected here, then polars reads it.

Takes the bytes of a file, hands on a polars frame and the separator.
"""

import csv
import gzip
import io
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from ..errors import InputError, require

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null")  # cells that hold no value
SEPARATORS = (",", ";", "\t", "|")
_MAX_HEAD = 1 << 16  # bytes searched for the separator, besides the first line
_MAX_RECORDS = 50  # lines searched for it
_MARKS = {  # longer marks first: that of UTF-32 begins like that of UTF-16
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"\xef\xbb\xbf": "utf-8-sig",
}


def read_csv(
    content: bytes, name: str, text: Collection[str] = (), encoding: str | None = None, usual: str = ","
) -> tuple[Any, str]:
    """The table in the bytes of a CSV file, compressed by gzip or not, and its separator.

    Parameters
    ----------
    content : the file
    name : name of the file, for messages
    text : names of columns that are not read as numbers
    encoding : of the text, where it is not UTF-8 and has no byte order mark
    usual : the separator to prefer where several are possible

    >>> frame, separator = read_csv(b"size;kind\\n1,5;oak\\n2,0;ash\\n", "trees.csv")
    >>> frame.rows(), separator
    ([(1.5, 'oak'), (2.0, 'ash')], ';')
    """
    polars = require("polars", "cli")
    content = as_utf8(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content, name, encoding)
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")  # line ends of old Macintoshes
    content = content.rstrip(b"\r\n") + b"\n"  # blank lines at the end would be rows of missing values
    head = content[: max(_MAX_HEAD, content.find(b"\n") + 1)].decode("utf-8", "ignore")
    separator = find_separator(head, usual)
    _check_names(next(_records(head, separator), []), name)
    try:
        frame = polars.read_csv(
            content,
            separator=separator,
            null_values=list(MISSING),
            infer_schema_length=None,  # all rows: a column may begin with many integers and go on with text
            schema_overrides=dict.fromkeys(text, polars.String),
        )
    except polars.exceptions.ComputeError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{reason}; the separator is taken to be {separator!r}") from error
    frame.columns = [column.strip() for column in frame.columns]
    columns = [_tidied(frame[column], column in text, separator != ",") for column in frame.columns]
    return frame.with_columns(columns), separator


def as_utf8(content: bytes, name: str, encoding: str | None = None) -> bytes:
    """Text of any encoding as UTF-8 without a byte order mark; bytes that cannot be decoded are an error.

    >>> as_utf8("a,é".encode("utf-16"), "a.csv").decode()
    'a,é'
    """
    marked = next((codec for mark, codec in _MARKS.items() if content.startswith(mark)), None)
    codec = encoding or marked or "utf-8"
    try:
        decoded = content.decode(codec)
    except LookupError:
        raise InputError(f"encoding={codec!r} is unknown; allowed are names such as 'utf-8', 'cp1252'.") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name} is no {codec} text: byte 0x{content[error.start]:02x} in line {line} cannot be decoded; "
            "give its encoding, such as --encoding cp1252 (encoding='cp1252' in Python), or save it as UTF-8."
        ) from None
    if "\0" in decoded:
        line = decoded.count("\n", 0, decoded.index("\0")) + 1
        raise InputError(
            f"{name} holds a NUL byte in line {line}, which no text does; if it is UTF-16 without a byte order mark, "
            "give --encoding utf-16-le (encoding='utf-16-le' in Python)."
        )
    return content if codec == "utf-8" else decoded.encode()


def find_separator(head: str, usual: str = ",") -> str:
    """The separator that splits the first lines into the most columns, the same number in each line and at least two.

    If none does, the lines are ragged: then the one that splits the first line into the most columns.

    >>> find_separator("a;b\\n1,5;2\\n"), find_separator('a,b\\n"x;y",2\\n'), find_separator("a")
    (';', ',', ',')
    """
    widths = {separator: [len(cells) for cells in _records(head, separator)] for separator in SEPARATORS}
    even = {separator: set(found).pop() for separator, found in widths.items() if len(set(found)) == 1}
    first = {separator: found[0] for separator, found in widths.items() if found}
    for known in (even, first):
        most = max(known.values(), default=1)
        if most > 1:
            return usual if known.get(usual) == most else next(s for s, width in known.items() if width == most)
    return usual


def _records(head: str, separator: str) -> Iterator[list[str]]:
    """The cells of the first lines, with quotes; the last line, which may be cut off, only if there is no other."""
    try:
        records = [cells for cells in csv.reader(io.StringIO(head, newline=""), delimiter=separator) if cells]
    except csv.Error:  # a quote that is never closed: polars reports it
        return iter(())
    is_cut = len(records) > 1 and len(head.encode()) >= _MAX_HEAD
    return islice(records[: -1 if is_cut else None], _MAX_RECORDS)


def _check_names(cells: list[str], name: str) -> None:
    names = [cell.strip() for cell in cells]
    for place, column in enumerate(names):
        if column in names[:place]:
            places = f"columns {names.index(column)} and {place}, counted from 0"
            raise InputError(f"{name} has two columns named {column!r} ({places}); rename or remove one of them.")


def _tidied(column: Any, is_text: bool, has_decimal_comma: bool) -> Any:
    """A column with its cells stripped of spaces, which some files have after every comma, and converted to numbers."""
    polars = require("polars", "cli")
    if column.dtype == polars.Int128:
        return column.cast(polars.Float64)  # as arrays have no such type
    if column.dtype != polars.String:
        return column
    stripped = column.str.strip_chars()
    stripped = stripped.set(stripped.is_in(MISSING), None)
    if is_text:
        return stripped
    written = [(polars.Int64, stripped), (polars.Float64, stripped)]
    if has_decimal_comma:
        written.append((polars.Float64, stripped.str.replace(",", ".", literal=True)))
    for kind, cells in written:
        numbers = cells.cast(kind, strict=False)
        if numbers.null_count() == stripped.null_count():
            return numbers
    return stripped
