"""Write what C shares with the Python reader: ``native/rsk_status.def`` and ``native/rsk_format.h``.

Statuses come from ``src/repsketch/io/status.py``; sections, enumerations, flags and the fields of the fixed records
from ``src/repsketch/io/records.py``; streams of random words from ``src/repsketch/lsh/generator.py``. ``--check``
writes nothing and fails if a file is not what would be written.
"""

import struct
import sys
import textwrap
from collections.abc import Iterable
from enum import IntEnum
from pathlib import Path

from repsketch.io import records
from repsketch.io.status import Status
from repsketch.lsh.generator import Stream

NATIVE = Path(__file__).parent.parent / "native"
STATUS_HEAD = """/* rsk_status.def: every status of the reader and of the runtime. Written by tools/write_format.py from
 * src/repsketch/io/status.py, so that all readers give the same number and sentence.
 */
"""
FORMAT_HEAD = """/* rsk_format.h: the numbers of the .rsk format, docs/spec/format.md, section 2. Written by
 * tools/write_format.py from src/repsketch/io/records.py, which is the one list of them (streams: lsh/generator.py).
 */
#ifndef RSK_FORMAT_H
#define RSK_FORMAT_H

"""
#: What stands between RSK_ and a member's name.
PREFIXES: dict[type[IntEnum], str] = {
    records.Precision: "",
    records.Task: "TASK_",
    records.ProjectionKind: "PROJECTION_",
    records.LinearType: "LINEAR_",
    records.StoredAs: "STORED_",
    records.OffsetType: "OFFSET_",
    records.Kinds: "KINDS_",
    records.Source: "SOURCE_",
    records.Hash: "",
    records.DirectionKind: "DIRECTIONS_",
    records.Fold: "",
    records.CounterType: "COUNTER_",
    records.Aggregate: "",
    records.DecodeKind: "DECODE_",
    records.DecodeBits: "DECODE_BITS_",
    records.Activation: "ACTIVATION_",
    records.StageMatrix: "STAGE_MATRIX_",
    records.ModelFlag: "",
    records.RowGroupFlag: "",
    Stream: "STREAM_",
}
RECORDS = {"MODEL": records.MODEL, "ROW_GROUP": records.ROW_GROUP, "STAGE": records.STAGE}
#: Codes of ``struct`` as functions of rsk_bytes.h: rsk_u8 and so on.
READERS = {"B": "u8", "b": "i8", "H": "u16", "h": "i16", "I": "u32", "d": "f64"}


def statuses() -> str:
    """What ``rsk_status.def`` should hold."""
    return STATUS_HEAD + "".join(f'RSK_STATUS({s.name}, {s.value}, "{s.text}")\n' for s in Status)


def numbers() -> str:
    """What ``rsk_format.h`` should hold."""
    counts = {"MAX_ROW_GROUPS": records.MAX_ROW_GROUPS, "ROW_GROUP_STRIDE": records.ROW_GROUP_STRIDE}
    counts |= {"MAX_STAGES": records.MAX_STAGES, "STAGE_STRIDE": records.STAGE_STRIDE}
    blocks = [FORMAT_HEAD, _constants(counts)]
    limits = {"FIRST_OPTIONAL": records.FIRST_OPTIONAL, "FIRST_POOL": records.FIRST_POOL}
    blocks.append(_constants({**limits, "GENERATOR_VERSION": records.GENERATOR}))
    for numbered, prefix in PREFIXES.items():
        members: dict[str, int] = {prefix + member.name: member.value for member in numbered}
        name = _upper(numbered.__name__)
        members |= {f"ALL_{name}S": sum(numbered)} if name.endswith("FLAG") else {f"LAST_{name}": max(numbered)}
        sentence = (numbered.__doc__ or "").replace("`", "")
        blocks.append(f"\n/* {sentence} */\n{_constants(members)}")
    blocks.append(
        "\n/* Types of sections, SECTION(name, type). Those of group of rows i are RSK_ROW_GROUP_STRIDE i higher,\n"
    )
    blocks.append(" * those of stage i RSK_STAGE_STRIDE i. */\n")
    blocks.append(_list("SECTIONS(SECTION)", (f"SECTION({s.name}, {s.value})" for s in records.Section)))
    for name, record in RECORDS.items():
        blocks.append(
            f"\n/* The record {name}, FIELD(name, type, offset); and its unused bytes, ZEROS(offset, nbytes). */\n"
        )
        blocks.append(_constants({f"{name}_NBYTES": record.nbytes}))
        fields = list(record.fields())
        used = (f"FIELD({n}, {READERS[c]}, {at})" for n, c, at in fields if not n.startswith("unused"))
        blocks.append(_list(f"{name}_FIELDS(FIELD)", used))
        unused = (f"ZEROS({at}, {struct.calcsize(c)})" for n, c, at in fields if n.startswith("unused"))
        blocks.append(_list(f"{name}_UNUSED(ZEROS)", unused))
    return "".join(blocks) + "\n#endif\n"


def _upper(name: str) -> str:
    """A class's name as C spells it: ModelFlag becomes MODEL_FLAG."""
    return "".join("_" + c if c.isupper() and i else c for i, c in enumerate(name)).upper()


def _constants(values: dict[str, int]) -> str:
    text = ", ".join(f"RSK_{name}~=~{value:d}" for name, value in values.items())  # a line may not end inside
    return textwrap.fill(f"enum {{~{text}~}};", 118, subsequent_indent="       ").replace("~", " ") + "\n"


def _list(head: str, entries: Iterable[str]) -> str:
    return " \\\n    ".join([f"#define RSK_{head}", *entries]) + "\n"


def main() -> int:
    """Write the files, or check them."""
    for target, content in ((NATIVE / "rsk_status.def", statuses()), (NATIVE / "rsk_format.h", numbers())):
        if "--check" not in sys.argv[1:]:
            target.write_text(content, encoding="utf-8")
        elif not target.is_file() or target.read_text(encoding="utf-8") != content:
            print(f"{target.name} is not up to date; run python tools/write_format.py")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
