"""Cases 52 to 59: checksums, metadata, and files of other formats under our suffix."""

import gzip
import io
import json
import pickle
import struct
import zipfile

import numpy as np

from repsketch.io import Status
from repsketch.io.metadata import METADATA_CAP
from repsketch.io.records import Section
from support.rsk.build import entry_of, raw, sections_of, with_entry, with_sections
from support.rsk.cases import INTEGER, KERNEL, Bad, all_bad, new_cases

CASES, case = new_cases()


@case("52 header checksum")
def _():
    files = {f"byte {at}": raw(INTEGER, at, "B", INTEGER[at] ^ 1) for at in (20, 23, 24, 26, 32, 48, 32 + 24 * 32 - 1)}
    return all_bad(Status.HEADER_CRC, files)


@case("53 section checksum")
def _():
    files = {}
    for i, content in enumerate(sections_of(INTEGER).values()):
        start = entry_of(INTEGER, i, "offset")
        for at in (start, start + len(content) - 1):
            files[f"section {i}, byte {at}"] = raw(INTEGER, at, "B", INTEGER[at] ^ 0x10)
        files[f"section {i}, stored"] = with_entry(INTEGER, i, crc=entry_of(INTEGER, i, "crc") ^ 1)
    return all_bad(Status.SECTION_CRC, files)


def metadata(status: Status, texts: dict[str, str | bytes]) -> dict[str, Bad]:
    """Files with these texts as metadata."""
    encoded = {name: text.encode() if isinstance(text, str) else text for name, text in texts.items()}
    return all_bad(status, {name: with_sections(INTEGER, {Section.METADATA: text}) for name, text in encoded.items()})


@case("54 metadata not a JSON object")
def _():
    others = {
        text: text for text in ("[]", '"x"', "1", "null", " ", "\n\t\r ", '[{"a":1}]', "\ufeff{}", "\x0b{}", "// {}")
    }
    broken = [
        '{"a":1',
        "{}}",
        "{} {}",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        "{,}",
        "{a:1}",
        "{'a':1}",
        '{"a":1 "b":2}',
        '{"a" 1}',
    ]
    broken += [
        '{"a":[1,]}',
        '{"a":[1 2]}',
        '{"a":[}',
        '{"a":tru}',
        '{"a":True}',
        '{"a":"\t"}',
        '{"a":"\\x"}',
        '{"a":"\\u12g4"}',
    ]
    broken += [
        '{"a":"x}',
        '{"a\\n":1}',
        '{"a":01}',
        '{"a":1.}',
        '{"a":.5}',
        '{"a":+1}',
        '{"a":1e}',
        '{"a":-}',
        '{"a":0x1}',
    ]
    broken += ["{\x00}", '{"a":1}\x00', '{"a":1}\x0c', "{/**/}", '{"a":nan}', '{"a":--1}', '{"a":undefined}']
    no_text = {
        "half a character": b'{"a":"\xc3"}',
        "UTF-16": '{"a":1}'.encode("utf-16"),
        "surrogate": b'{"a":"\xed\xa0\x80"}',
    }
    return (
        metadata(Status.META_OBJECT, others)
        | metadata(Status.META_SYNTAX, {text: text for text in broken})
        | metadata(Status.TEXT, no_text)
    )


@case("55 duplicate keys")
def _():
    texts = [
        '{"a":1,"a":1}',
        '{"a":1,"b":2,"a":3}',
        '{"x":{"a":1,"a":2}}',
        '{"x":[{"":0,"":0}]}',
        '{"é":1,"é":2}',
        '{"a":1,"a"',
    ]
    return metadata(Status.META_DUPLICATE, {text: text for text in texts})


@case("56 nesting bomb")
def _():
    texts = {
        "five objects": '{"a":' * 5 + "1" + "}" * 5,
        "five with arrays": '{"a":[[[[]]]]}',
        "mixed": '{"a":[{"b":[{}]}]}',
    }
    texts |= {"30 thousand arrays": '{"a":' + "[" * 30_000, "six thousand objects": '{"a":' * 6_000}
    return metadata(Status.META_DEPTH, texts)


@case("57 1e400 or NaN in JSON")
def _():
    numbers = ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "1e308", "1E+308", "10e307", "0.01e310", "1" * 309]
    numbers += ["-" + "9" * 309 + ".5", "1e123456789", "1e-123456789", "0e999999999", "0." + "0" * 20 + "1e330"]
    texts = {number: f'{{"a":{number}}}' for number in numbers} | {"in a list": '{"a":[1,2,NaN]}'}
    return metadata(Status.META_NUMBER, texts)


@case("58 string over the cap")
def _():
    long = "x" * 1025
    texts = {"value": f'{{"a":"{long}"}}', "key": f'{{"{long}":1}}', "escapes": '{"a":"' + "\\n" * 513 + '"}'}
    texts |= {"two-byte letters": '{"a":"' + "é" * 513 + '"}', "in a list": f'{{"a":["{long}"]}}'}
    table = np.array([0, 1, 2, 1, 2, 2 + 1025], "<u4").tobytes() + b"ab" + long.encode()
    label = with_sections(INTEGER, {Section.CLASSES: np.array([3, 0], "<u4").tobytes() + table})
    ends = [*range(1, 12), 11 + 1025]
    names = np.array([*range(12), *ends], "<u4").tobytes() + b"abcdefghijk" + long.encode()
    name = with_sections(INTEGER, {Section.NAMES: names})
    large = '{"a":"' + "x" * 1000 + '"' + " " * METADATA_CAP + "}"
    keys = json.dumps({f"key {i}": i for i in range(65)})
    return (
        metadata(Status.STRING_CAP, texts)
        | all_bad(Status.STRING_CAP, {"label": label, "name": name})
        | metadata(
            Status.META_CAP, {"metadata over 32 KiB": large, "65 keys": keys, "65 keys inside": f'{{"a":{keys}}}'}
        )
    )


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.rsk", INTEGER)
    return buffer.getvalue()


def _npz() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, counters=np.zeros(9))
    return buffer.getvalue()


class _Pickled:
    """What a pickle could do; it must never be unpickled."""

    def __reduce__(self):
        return (exit, ())


@case("59 pickle, zip, npz, ONNX or safetensors bytes")
def _():
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    files = {
        f"pickle {n}": pickle.dumps({"counters": [0.5] * 20}, protocol=n) for n in range(pickle.HIGHEST_PROTOCOL + 1)
    }
    files["pickle that runs code"] = pickle.dumps([_Pickled(), "x" * 40])
    files |= {"zip": _zip(), "npz": _npz(), "gzip": gzip.compress(INTEGER), "npy": b"\x93NUMPY\x01\x00" + bytes(120)}
    # ir_version 8, producer_name: the first fields of an ONNX model.
    files["ONNX"] = b"\x08\x08\x12\x07pytorch\x1a\x052.6.0" + bytes(60)
    files["safetensors"] = struct.pack("<Q", len(header)) + header + bytes(4)
    files |= {
        "JSON": json.dumps(list(range(20))).encode(),
        "PNG": b"\x89PNG\r\n\x1a\n" + bytes(40),
        "text": b"hello " * 10,
    }
    files["a .rsk file after a byte order mark"] = b"\xef\xbb\xbf" + KERNEL
    return all_bad(Status.MAGIC, files)
