"""Write the digests in ``bench/src/repsketch_bench/sources.py`` from the archives in REPSKETCH_DATA.

``--check`` writes nothing and fails if the digests are not those of the archives.
"""

import os
import re
import sys
from pathlib import Path

from repsketch_bench.sources import DIGESTS, SOURCES, content_digest, read_archive

TARGET = Path(__file__).parent.parent / "bench" / "src" / "repsketch_bench" / "sources.py"


def digest_of(name: str, folder: Path) -> str:
    """The digest of the archive of the dataset called ``name``."""
    rows = read_archive(SOURCES[name], folder / SOURCES[name].file)
    dtypes = tuple(values.dtype.str[1:] for values in (rows.X, rows.y))
    if dtypes != SOURCES[name].dtypes:
        raise SystemExit(f"{name}: types are {dtypes}; sources.py says {SOURCES[name].dtypes}")
    return content_digest(rows.X, rows.y)


def main() -> int:
    """Write the digests, or check them."""
    if not os.environ.get("REPSKETCH_DATA"):
        print("set REPSKETCH_DATA to the folder with the archives")
        return 1
    digests = {name: digest_of(name, Path(os.environ["REPSKETCH_DATA"])) for name in DIGESTS}
    if "--check" in sys.argv[1:]:
        if digests != DIGESTS:
            print(f"the digests in {TARGET.name} are not up to date; run python tools/write_digests.py")
            return 1
        return 0
    block = "DIGESTS = {\n" + "".join(f'    "{name}": "{digest}",\n' for name, digest in digests.items()) + "}\n"
    text = TARGET.read_text(encoding="utf-8")
    TARGET.write_text(re.sub(r"^DIGESTS = \{\n.*?^\}\n", block, text, flags=re.M | re.S), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
