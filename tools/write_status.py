"""Write ``native/rsk_status.def`` from the table of statuses in ``src/repsketch/io/status.py``.

``--check`` writes nothing and fails if the file is not what would be written.
"""

import sys
from pathlib import Path

from repsketch.io.status import Status

TARGET = Path(__file__).parent.parent / "native" / "rsk_status.def"
HEAD = """/* rsk_status.def: every answer of the reader and of the runtime. Written by tools/write_status.py from
 * src/repsketch/io/status.py, so that all readers give the same number and sentence.
 */
"""


def content() -> str:
    """What the file should hold."""
    return HEAD + "".join(f'RSK_STATUS({s.name}, {s.value}, "{s.text}")\n' for s in Status)


def main() -> int:
    """Write the file, or check it."""
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="utf-8") != content():
            print(f"{TARGET.name} is not up to date; run python tools/write_status.py")
            return 1
        return 0
    TARGET.write_text(content(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
