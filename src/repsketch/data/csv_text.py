"""The text of a CSV file: lines in any encoding, compressed by gzip or not; and its separator.

Takes a path, hands on lines one at a time, so that a file larger than memory is no matter.
"""

import codecs
import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from ..errors import InputError

MAX_HEAD = 1 << 16  # characters searched for the separator, besides the first line
SEPARATORS = (",", ";", "\t", "|")
_MAX_RECORDS = 50  # lines searched for it
_BLOCK = 1 << 20  # bytes decoded at once in search of one that cannot be
_MARKS = {  # longer marks first: that of UTF-32 begins like that of UTF-16
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"\xef\xbb\xbf": "utf-8-sig",
}


@contextmanager
def open_lines(path: Path, encoding: str | None = None) -> Iterator[Iterator[str]]:
    """The lines of a file with their ends; bytes that cannot be decoded, and NUL, are an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text("größe;b\\n1;2\\n", encoding="utf-16")
    ...     with open_lines(path) as lines:
    ...         print(list(lines))
    ['größe;b\\n', '1;2\\n']
    """
    with path.open("rb") as packed:
        is_packed = packed.read(2) == b"\x1f\x8b"
        packed.seek(0)
        file: IO[bytes] = gzip.GzipFile(fileobj=packed) if is_packed else packed  # type: ignore[assignment]
        start = file.read(4)
        marked = next((codec for mark, codec in _MARKS.items() if start.startswith(mark)), None)
        codec = encoding or marked or "utf-8"
        file.seek(0)
        try:
            text = io.TextIOWrapper(file, codec, newline="\n")
        except LookupError:
            raise InputError(f"encoding={codec!r} is unknown; allowed are names such as 'utf-8', 'cp1252'.") from None
        try:
            yield _checked(text, path.name)
        except UnicodeDecodeError:
            file.seek(0)
            raise _bad_byte(file, codec, path.name) from None


def _checked(text: IO[str], name: str) -> Iterator[str]:
    for number, line in enumerate(text, 1):
        if "\0" in line:
            raise InputError(
                f"{name} holds a NUL byte in line {number}, which no text does; if it is UTF-16 without a byte order "
                "mark, give --encoding utf-16-le (encoding='utf-16-le' in Python)."
            )
        if number == 1 and "\r" in line and not line.endswith("\n"):  # line ends of old Macintoshes
            yield from io.StringIO(line.replace("\r", "\n"))
        elif "\r" in line[:-2] and '"' not in line:  # no end of a line; Python's reader accepts it in quotes alone
            yield line[:-2].replace("\r", " ") + line[-2:]
        else:
            yield line


def _bad_byte(file: IO[bytes], codec: str, name: str) -> InputError:
    """The error that names the first byte of a file that cannot be decoded."""
    decoder, line = codecs.getincrementaldecoder(codec)(), 1
    while True:
        block = file.read(_BLOCK)
        try:
            decoder.decode(block, final=not block)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            return InputError(
                f"{name} is no {codec} text: byte 0x{error.object[error.start]:02x} in line {line} cannot be decoded; "
                "give its encoding, such as --encoding cp1252 (encoding='cp1252' in Python), or save it as UTF-8."
            )
        line += block.count(b"\n")


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
    except csv.Error:  # such as a cell of over 131,072 characters behind a quote that is never closed
        return iter(())
    is_cut = len(records) > 1 and len(head) >= MAX_HEAD
    return islice(records[: -1 if is_cut else None], _MAX_RECORDS)
