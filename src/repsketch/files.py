"""Atomic writing: a kill, Ctrl-C or a full disk leaves the old file or the new one, never half of it.

A writer holds a lock (``flock``) on its temporary file. The kernel releases the lock when the process ends for whatever
reason, so that the next save to the same path recognises leftover temporary files, and removes them.
"""

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import InputError

try:
    import fcntl
except ImportError:  # Windows: no locks, so leftover files are not removed
    fcntl = None  # type: ignore[assignment]

_NAME_CHARACTERS = 24  # of the file's name in the name of its temporary: at most 118 bytes, which all systems allow
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_OPEN = (
    os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
)  # NFS locks only files that are open for writing


@dataclass(frozen=True)
class _Temporary:
    """An open temporary file, locked, and the path that it is to replace."""

    path: Path
    file: BinaryIO
    destination: Path


def write_atomically(path: str | os.PathLike, content: bytes) -> None:
    """Replace the file at ``path`` by ``content`` in one step.

    A temporary file in the same directory is written, flushed to the disk and renamed; on any failure it is removed
    and the error raised. Of a symbolic link the target is replaced. The new file has the permissions of the old one,
    or those of the umask. Anything but a regular file is refused.
    """
    with _temporary_for(path) as temporary:
        temporary.file.write(content)
        temporary.file.flush()
        os.fsync(temporary.file.fileno())
        if fcntl is None:
            temporary.file.close()  # Windows cannot rename an open file; elsewhere the lock must last until the rename
        os.replace(temporary.path, temporary.destination)
    _sync_directory(temporary.destination.parent)


def check_writable(path: str | os.PathLike, nbytes: int) -> None:
    """Refuse a path that ``write_atomically`` could not write ``nbytes`` to: tries everything but the rename.

    >>> check_writable("no/such/folder/model.rsk", 10)
    Traceback (most recent call last):
    ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/folder/model.rsk'
    """
    with _temporary_for(path) as temporary:
        temporary.file.write(bytes(nbytes))
        temporary.file.flush()
        os.fsync(temporary.file.fileno())  # some file systems report a full disk only now


@contextmanager
def _temporary_for(path: str | os.PathLike) -> Iterator[_Temporary]:
    """A temporary file beside ``path``, removed at the end unless it was renamed; system errors name ``path``."""
    try:
        destination = Path(os.path.realpath(path))
        old = _status(destination)
        _remove_leftovers(destination)
        place, handle = _create(destination, 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o666)
        try:
            with os.fdopen(handle, "wb") as file:
                if old is not None and hasattr(os, "fchown"):
                    with suppress(PermissionError):  # only the superuser may change the owner
                        os.fchown(handle, old.st_uid, old.st_gid)
                    os.fchmod(handle, stat.S_IMODE(old.st_mode) & 0o777)
                yield _Temporary(place, file, destination)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(place)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _status(destination: Path) -> os.stat_result | None:
    """Status of the file at the path, or None if there is none; anything but a regular file is refused."""
    try:
        found = os.stat(destination)  # raises for a loop of links, which realpath leaves as it is
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{str(destination)!r} is a pipe, a socket or a device; give the name of a file to write.")
    return found


def _create(destination: Path, mode: int) -> tuple[Path, int]:
    """A new temporary file, locked: its path and its handle."""
    while True:
        path = destination.with_name(f"{_prefix(destination)}{secrets.token_hex(8)}.tmp")
        # Not tempfile: only the owner can read its files, and a saved model should be as readable as any file.
        handle = os.open(path, _CREATE, mode)
        if fcntl is None:
            return path, handle
        try:
            with suppress(OSError):  # a file system without locks: then no other writer can lock it to remove it
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_open_as(handle, path):
                return path, handle
        except BaseException:
            os.close(handle)
            with suppress(FileNotFoundError):
                os.unlink(path)
            raise
        os.close(handle)  # another writer took it for a leftover before it was locked


def _remove_leftovers(destination: Path) -> None:
    """Remove temporary files of writers that have ended; those of running writers are locked."""
    if fcntl is None:
        return
    pattern = re.compile(re.escape(_prefix(destination)) + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError):  # a directory that may not be listed may still be written to
        for name in os.listdir(destination.parent):
            if pattern.fullmatch(name):
                with suppress(OSError):  # locked by its writer, or gone, or somebody else's
                    _remove_unlocked(destination.with_name(name))


def _remove_unlocked(path: Path) -> None:
    handle = os.open(path, _OPEN)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISREG(os.fstat(handle).st_mode) and _is_open_as(handle, path):
            os.unlink(path)
    finally:
        os.close(handle)


def _is_open_as(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _prefix(destination: Path) -> str:
    return f".{destination.name[:_NAME_CHARACTERS]}."


def _sync_directory(directory: Path) -> None:
    if os.name != "posix":
        return  # only POSIX lets a directory be opened and flushed
    with suppress(PermissionError):  # one that may be written to but not read
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
