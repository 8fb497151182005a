"""The inputs that the fuzzer found, in one archive: ``fuzz_pack.py pack FOLDER`` writes it, ``unpack FOLDER`` reads it.

Each file is named by its checksum and dated alike, so the same inputs give the same archive. The shortest files come
first; what does not fit is left out. Files with stages are longer than most, so some of them come before all others.
"""

import hashlib
import struct
import sys
import zipfile
from pathlib import Path

ARCHIVE = Path(__file__).resolve().parents[2] / "tests" / "format" / "corpus.zip"
LARGEST_NBYTES = 300_000
DATE = (2026, 1, 1, 0, 0, 0)
N_STAGED = 120
STAGES = range(48, 64)  # types of sections


def has_stages(content: bytes) -> bool:
    """True if the table of sections names a section of a stage."""
    n_sections = struct.unpack_from("<I", content, 12)[0] if len(content) >= 32 else 0
    places = range(32, min(32 + 24 * n_sections, len(content) - 3), 24)
    return any(struct.unpack_from("<I", content, at)[0] in STAGES for at in places)


def pack(folder: Path) -> None:
    """Write the archive from the files of a folder."""
    contents = sorted({path.read_bytes() for path in folder.iterdir()}, key=lambda content: (len(content), content))
    staged = [content for content in contents if has_stages(content)][:N_STAGED]
    contents = staged + [content for content in contents if content not in set(staged)]
    n_left_out = 0
    with zipfile.ZipFile(ARCHIVE, "w") as archive:
        for content in contents:
            if archive.fp.tell() > 0.8 * LARGEST_NBYTES:  # the table at the end comes to a fifth
                n_left_out += 1
                continue
            entry = zipfile.ZipInfo(hashlib.sha256(content).hexdigest()[:12], DATE)
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    n_files = len(contents) - n_left_out
    print(f"fuzz_pack: {n_files} files in {ARCHIVE.stat().st_size:,} bytes, {n_left_out} longer ones left out")


def unpack(folder: Path) -> None:
    """Write the files of the archive, if there is one, into a folder."""
    if ARCHIVE.exists():
        with zipfile.ZipFile(ARCHIVE) as archive:
            archive.extractall(folder)


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](Path(sys.argv[2]))
