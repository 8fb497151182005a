"""The metadata of a file: a small JSON object, scanned before it is parsed.

Python's own parser accepts double keys, NaN, 1e400 and any depth; a reader of strangers' files must not, and all
readers must agree. So the text is scanned here by the rules of ``docs/spec/format.md`` first.
"""

import json
import re
from typing import Any

from .status import FormatError, Status

METADATA_CAP = 32_768
DEPTH_CAP = 4
KEY_CAP = 64
STRING_CAP = 1024
_EXPONENT_CAP = 8  # digits
_LARGEST_POWER = 308
_SPACE = re.compile(rb"[ \t\n\r]*")
_NUMBER = re.compile(rb"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_STRING = re.compile(rb'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)"')
_WORDS = (b"true", b"false", b"null")
_NOT_FINITE = (b"NaN", b"Infinity", b"-Infinity")


def read_metadata(data: memoryview) -> dict[str, Any]:
    """The metadata as a dictionary, checked."""
    check_metadata(data)
    return json.loads(bytes(data))


def check_metadata(data: memoryview) -> None:
    """Refuse metadata that are too large, no UTF-8, or no JSON object within the caps."""
    if len(data) > METADATA_CAP:
        raise FormatError(Status.META_CAP)
    text = bytes(data)
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise FormatError(Status.TEXT) from error
    start = _skip(text, 0)
    if text[start : start + 1] != b"{":
        raise FormatError(Status.META_OBJECT)
    end = _skip(text, _value(text, start, 1))
    if end != len(text):
        raise FormatError(Status.META_SYNTAX)


def _skip(text: bytes, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _value(text: bytes, at: int, depth: int) -> int:
    """The end of the value that begins at ``at``, which is at nesting ``depth`` if it is a container."""
    first = text[at : at + 1]
    if first in (b"{", b"["):
        if depth > DEPTH_CAP:
            raise FormatError(Status.META_DEPTH)
        return _object(text, at + 1, depth) if first == b"{" else _array(text, at + 1, depth)
    if first == b'"':
        return _string(text, at)[1]
    for word in _WORDS:
        if text.startswith(word, at):
            return at + len(word)
    if text.startswith(_NOT_FINITE, at):
        raise FormatError(Status.META_NUMBER)
    return _number(text, at)


def _object(text: bytes, at: int, depth: int) -> int:
    keys: set[bytes] = set()
    at = _skip(text, at)
    if text[at : at + 1] == b"}":
        return at + 1
    while True:
        key, at = _string(text, at)
        if b"\\" in key:
            raise FormatError(Status.META_SYNTAX)
        if key in keys:
            raise FormatError(Status.META_DUPLICATE)
        if len(keys) == KEY_CAP:
            raise FormatError(Status.META_CAP)
        keys.add(key)
        at = _skip(text, at)
        if text[at : at + 1] != b":":
            raise FormatError(Status.META_SYNTAX)
        at = _skip(text, _value(text, _skip(text, at + 1), depth + 1))
        closing = text[at : at + 1]
        if closing == b"}":
            return at + 1
        if closing != b",":
            raise FormatError(Status.META_SYNTAX)
        at = _skip(text, at + 1)


def _array(text: bytes, at: int, depth: int) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == b"]":
        return at + 1
    while True:
        at = _skip(text, _value(text, at, depth + 1))
        closing = text[at : at + 1]
        if closing == b"]":
            return at + 1
        if closing != b",":
            raise FormatError(Status.META_SYNTAX)
        at = _skip(text, at + 1)


def _string(text: bytes, at: int) -> tuple[bytes, int]:
    match = _STRING.match(text, at)
    if match is None:
        raise FormatError(Status.META_SYNTAX)
    if len(match[1]) > STRING_CAP:
        raise FormatError(Status.STRING_CAP)
    return match[1], match.end()


def _number(text: bytes, at: int) -> int:
    match = _NUMBER.match(text, at)
    if match is None:
        raise FormatError(Status.META_SYNTAX)
    whole, fraction, exponent = match[1], (match[2] or b".")[1:], (match[3] or b"e0")[1:]
    digits = (whole + fraction).lstrip(b"0")
    if len(exponent.lstrip(b"+-")) > _EXPONENT_CAP:
        raise FormatError(Status.META_NUMBER)
    # Power of ten that the leading digit stands for.
    power = len(whole) - 1 if whole != b"0" else len(digits) - len(fraction) - 1
    if digits and power + int(exponent) >= _LARGEST_POWER:
        raise FormatError(Status.META_NUMBER)
    return match.end()
