"""The outer shell of a .rsk file: header, table of sections, checksums. ``docs/spec/format.md``, section 1."""

import struct
import zlib
from collections.abc import Mapping

from ..errors import InputError
from .records import FIRST_OPTIONAL, is_known
from .status import FormatError, Status

MAGIC = b"\x89RSK"
FORMAT_VERSION = 1
HEADER_CAP = 65_536
SECTION_CAP = 32
FILE_CAP = 64 << 20

_HEADER = struct.Struct("<4sHHIIIIBBBBI")
_ENTRY = struct.Struct("<6I")
_REQUIRED = 1


def pack(sections: Mapping[int, bytes], software: tuple[int, int, int]) -> bytes:
    """The bytes of a file with these sections, by type."""
    kinds = sorted(sections)
    if len(kinds) > SECTION_CAP:
        raise InputError(
            f"the sketch needs {len(kinds)} sections in a file; allowed are {SECTION_CAP}. Use fewer groups of rows "
            "or stages, or groups without thresholds, indices and decode matrices of their own."
        )
    start = _HEADER.size + _ENTRY.size * len(kinds)
    table, body, offset = [], [], start
    for kind in kinds:
        content = sections[kind]
        required = _REQUIRED if kind < FIRST_OPTIONAL else 0
        table.append(_ENTRY.pack(kind, required, offset, len(content), zlib.crc32(content), 0))
        padded = content + bytes(-len(content) % 8)
        body.append(padded)
        offset += len(padded)
    header = _header(start, len(kinds), offset, 0, software) + b"".join(table)
    return _header(start, len(kinds), offset, zlib.crc32(header), software) + header[_HEADER.size :] + b"".join(body)


def _header(length: int, n_sections: int, file_length: int, crc: int, software: tuple[int, int, int]) -> bytes:
    return _HEADER.pack(MAGIC, FORMAT_VERSION, 0, length, n_sections, file_length, crc, *software, 0, 0)


def sections_of(data: memoryview) -> dict[int, memoryview]:
    """The sections of a file that is known to be good, by type."""
    (n_sections,) = struct.unpack_from("<I", data, 12)
    entries = _ENTRY.iter_unpack(data[_HEADER.size : _HEADER.size + _ENTRY.size * n_sections])
    return {kind: data[offset : offset + size] for kind, _, offset, size, _, _ in entries}


def unpack(data: memoryview, max_nbytes: int = FILE_CAP) -> dict[int, memoryview]:
    """The sections of a file by type; a ``FormatError`` names the first check that fails."""
    n = len(data)
    _refuse_if(n == 0, Status.EMPTY)
    _refuse_if(n > max_nbytes, Status.FILE_CAP)
    _refuse_if(n < _HEADER.size, Status.TOO_SHORT)
    magic, version, flags, length, n_sections, file_length, crc, *_, reserved, last = _HEADER.unpack_from(data)
    _refuse_if(magic == MAGIC[::-1], Status.SWAPPED)
    _refuse_if(magic != MAGIC, Status.MAGIC)
    _refuse_if(version == 0, Status.VERSION_ZERO)
    _refuse_if(version > FORMAT_VERSION, Status.VERSION_FUTURE)
    _refuse_if(flags != 0, Status.FLAGS)
    _refuse_if(length > HEADER_CAP, Status.HEADER_CAP)
    _refuse_if(n_sections == 0, Status.NO_SECTIONS)
    _refuse_if(n_sections > SECTION_CAP, Status.SECTION_CAP)
    _refuse_if(length != _HEADER.size + _ENTRY.size * n_sections, Status.HEADER_LENGTH)
    _refuse_if(length > n or file_length > n, Status.TRUNCATED)
    _refuse_if(file_length < n, Status.TRAILING)
    header = bytearray(data[:length])
    header[20:24] = bytes(4)
    _refuse_if(zlib.crc32(header) != crc, Status.HEADER_CRC)
    _refuse_if(reserved != 0 or last != 0, Status.PADDING)
    entries = [_ENTRY.unpack_from(data, _HEADER.size + _ENTRY.size * i) for i in range(n_sections)]
    _check_table(entries, length, n)
    for _, _, offset, size, section_crc, _ in entries:
        end = offset + size
        _refuse_if(any(data[end : _round_up(end)]), Status.PADDING)
        _refuse_if(zlib.crc32(data[offset:end]) != section_crc, Status.SECTION_CRC)
    return sections_of(data)


def _check_table(entries: list[tuple[int, ...]], header_length: int, file_length: int) -> None:
    previous, end = -1, header_length
    for kind, flags, offset, size, _, reserved in entries:
        _refuse_if(flags > _REQUIRED or reserved != 0, Status.FLAGS)
        _refuse_if(kind == previous, Status.SECTION_DUPLICATE)
        _refuse_if(kind < previous, Status.SECTION_ORDER)
        _refuse_if(offset % 8 != 0, Status.SECTION_ALIGNMENT)
        _refuse_if(offset < header_length, Status.SECTION_IN_HEADER)
        _refuse_if(offset + size > file_length, Status.SECTION_BEYOND)
        _refuse_if(size == 0, Status.SECTION_EMPTY)
        _refuse_if(offset < end, Status.SECTION_OVERLAP)
        _refuse_if(offset != _round_up(end), Status.SECTION_HOLE)
        _refuse_if(not is_known(kind) and flags == _REQUIRED, Status.SECTION_UNKNOWN)
        _refuse_if(is_known(kind) and kind < FIRST_OPTIONAL and flags != _REQUIRED, Status.FLAGS)
        previous, end = kind, offset + size
    _refuse_if(_round_up(end) != file_length, Status.TRAILING)


def _round_up(offset: int) -> int:
    return (offset + 7) & ~7


def _refuse_if(condition: bool, status: Status) -> None:
    if condition:
        raise FormatError(status)
