"""Writing files so that a kill, Ctrl-C or a full disk leaves the old file or the new one, never half."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_atomically(path: str | os.PathLike, content: bytes) -> None:
    """Replace the file at ``path`` by ``content`` in one step.

    A temporary file in the same directory is written, flushed to the disk and renamed; on any
    failure it is removed and the error raised.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    # Not tempfile: its files can be read by their owner only, and a saved model should be as readable as any file.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    if os.name != "posix":
        return  # only POSIX lets a directory be opened and flushed
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
