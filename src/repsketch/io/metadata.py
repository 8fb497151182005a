"""The metadata of a file: a small JSON object, scanned before it is parsed.

Python's own parser accepts double keys, NaN, 1e400 and any depth; a reader of untrusted files must not, and all
readers must agree. So the text is scanned here by the rules of ``docs/spec/format.md`` first.
"""

import json
import re
from functools import cache
from typing import Any

from .status import FormatError, Status

METADATA_CAP = 32_768
DEPTH_CAP = 4
KEY_CAP = 64
STRING_CAP = 1024
_EXPONENT_CAP = 8  # digits
_LARGEST_POWER, _LARGEST = 308, 1e308
# No quantifier gives back what it took (`++`, `*+`, `?+`): a refusal then takes no more time and memory than a match.
_S = rb"[ \t\n\r]*+"
_LETTER, _ESCAPE = rb'[^"\\\x00-\x1f]', rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_NUMBER = re.compile(rb"-?+(0|[1-9][0-9]*+)(\.[0-9]++)?+([eE][+-]?+[0-9]++)?+")
_STRING = re.compile(rb'"((?:%b++|%b)*+)"' % (_LETTER, _ESCAPE))
# Plain values need no second look and are passed in one step, however many there are: strings that cannot reach the
# cap, numbers below 1e308 of few digits, words, and containers of these in which no two keys can be the same.
_PLAIN_KEY = rb'"%b{0,%d}+"' % (_LETTER, STRING_CAP)
_PLAIN_STRING = rb'(?:%b|"(?:%b|%b){0,%d}+")' % (_PLAIN_KEY, _LETTER, _ESCAPE, STRING_CAP // 6)
_EXPONENT = rb"[eE](?:-[0-9]{1,8}|\+?(?:[0-2][0-9]{2}|300|[0-9]{1,2}|(?<=[^0-9.][0-9][eE])30[0-7]))"
_PLAIN_NUMBER = rb"-?+(?:0|[1-9][0-9]{0,7}+)(?:\.[0-9]{1,16}+)?+(?:%b)?(?![0-9.eE])" % _EXPONENT
_PLAIN = rb"(?:%b|%b|true|false|null)" % (_PLAIN_STRING, _PLAIN_NUMBER)


def _plain(nesting: int) -> bytes:
    if nesting == 0:
        return _PLAIN
    inner = _plain(nesting - 1)
    array = rb"\[%b(?:%b%b(?:,%b(?!\])|(?=\])))*+\]" % (_S, inner, _S, _S)
    pair = rb"\{%b(?:%b%b:%b%b%b)?+\}" % (_S, _PLAIN_KEY, _S, _S, inner, _S)
    return rb"(?:%b|%b|%b)" % (_PLAIN, array, pair)


@cache  # made when first needed: most files have no arrays in their metadata
def _elements(depth: int) -> re.Pattern[bytes]:
    """Plain elements, with their commas, of an array that lies this deep."""
    return re.compile(rb"(?:%b%b,%b)*+" % (_plain(DEPTH_CAP - depth), _S, _S))


_SPACES = re.compile(_S)
_PAIR = re.compile(rb'"(%b{0,%d}+)"%b:%b(%b%b)?+' % (_LETTER, STRING_CAP, _S, _S, _PLAIN, _S))
_SCALAR = re.compile(_PLAIN + _S)
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
    if _value(text, start, 1) != len(text):
        raise FormatError(Status.META_SYNTAX)


def _skip(text: bytes, at: int) -> int:
    """The first place from ``at`` on that is no white space."""
    if not text[at : at + 1].isspace():
        return at
    match = _SPACES.match(text, at)
    assert match is not None
    return match.end()


def _value(text: bytes, at: int, depth: int) -> int:
    """The end of the value that begins at ``at``, and of white space after it; a container is at nesting ``depth``."""
    first = text[at : at + 1]
    if first in (b"{", b"["):
        if depth > DEPTH_CAP:
            raise FormatError(Status.META_DEPTH)
        return _object(text, at + 1, depth) if first == b"{" else _array(text, at + 1, depth)
    match = _SCALAR.match(text, at)
    if match is not None:
        return match.end()
    if first == b'"':
        return _skip(text, _string(text, at)[1])
    if text.startswith(_NOT_FINITE, at):
        raise FormatError(Status.META_NUMBER)
    return _skip(text, _number(text, at))


def _object(text: bytes, at: int, depth: int) -> int:
    keys: set[bytes] = set()
    at = _skip(text, at)
    if text[at : at + 1] == b"}":
        return _skip(text, at + 1)
    while True:
        pair = _PAIR.match(text, at)
        key = pair[1] if pair is not None else _string(text, at)[0]
        if b"\\" in key:
            raise FormatError(Status.META_SYNTAX)
        if key in keys:
            raise FormatError(Status.META_DUPLICATE)
        if len(keys) == KEY_CAP:
            raise FormatError(Status.META_CAP)
        if pair is None:  # a good key without its colon
            raise FormatError(Status.META_SYNTAX)
        keys.add(key)
        at = pair.end() if pair[2] else _value(text, pair.end(), depth + 1)
        if text[at : at + 1] == b"}":
            return _skip(text, at + 1)
        at = _pass_comma(text, at)


def _array(text: bytes, at: int, depth: int) -> int:
    at = _skip(text, at)
    if text[at : at + 1] == b"]":
        return _skip(text, at + 1)
    while True:
        passed = _elements(depth).match(text, at)
        assert passed is not None
        at = _value(text, passed.end(), depth + 1)
        if text[at : at + 1] == b"]":
            return _skip(text, at + 1)
        at = _pass_comma(text, at)


def _pass_comma(text: bytes, at: int) -> int:
    if text[at : at + 1] != b",":
        raise FormatError(Status.META_SYNTAX)
    return _skip(text, at + 1)


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
    # Short ones cannot have too many digits in the exponent; and what a float64 rounds to below 1e308 is below it.
    if match.end() - at <= _EXPONENT_CAP + 2 and abs(float(match[0])) < _LARGEST:
        return match.end()
    integer, fraction, exponent = match[1], (match[2] or b".")[1:], (match[3] or b"e0")[1:]
    digits = (integer + fraction).lstrip(b"0")
    if len(exponent.lstrip(b"+-")) > _EXPONENT_CAP:
        raise FormatError(Status.META_NUMBER)
    # Power of ten that the leading digit stands for.
    power = len(integer) - 1 if integer != b"0" else len(digits) - len(fraction) - 1
    if digits and power + int(exponent) >= _LARGEST_POWER:
        raise FormatError(Status.META_NUMBER)
    return match.end()
