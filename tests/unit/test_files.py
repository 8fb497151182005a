"""A file is the old one or the new one, whatever goes wrong while it is written."""

import errno
import os
import stat

import pytest

from repsketch import files
from repsketch.files import write_atomically


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "model.rsk"
    write_atomically(path, b"first")
    assert path.read_bytes() == b"first"
    write_atomically(str(path), b"")
    assert path.read_bytes() == b""
    assert os.listdir(tmp_path) == ["model.rsk"]


FAILURES = [OSError(errno.ENOSPC, "disk full"), KeyboardInterrupt()]


@pytest.mark.parametrize("error", FAILURES, ids=["disk full", "Ctrl-C"])
@pytest.mark.parametrize("step", ["fdopen", "fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, error):
    path = tmp_path / "model.rsk"
    path.write_bytes(b"old")

    def fail(*args, **kwargs):
        if step == "fdopen":
            os.close(args[0])  # as if the process had been stopped between the two calls
        raise error

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.rsk"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_no_new_file(tmp_path, monkeypatch, step):
    def fail(*args):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(tmp_path / "model.rsk", b"new")
    assert os.listdir(tmp_path) == []


def test_content_is_complete_and_on_the_disk_before_the_rename(tmp_path, monkeypatch):
    path, seen = tmp_path / "model.rsk", []
    path.write_bytes(b"old")
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(handle):
        seen.append("directory" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        real_fsync(handle)

    def replace(source, target):
        with open(source, "rb") as file:
            seen.append(file.read())
        seen.append(path.read_bytes())
        real_replace(source, target)

    monkeypatch.setattr(files.os, "fsync", fsync)
    monkeypatch.setattr(files.os, "replace", replace)
    write_atomically(path, b"new content")
    # The directory is flushed last: without it the rename itself may be lost.
    assert seen == ["file", b"new content", b"old", "directory"]


@pytest.mark.skipif(os.name != "posix", reason="permission bits are POSIX's")
def test_the_file_is_as_readable_as_one_from_open(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "model.rsk", b"")
    plain, ours = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "model.rsk"))
    assert oct(ours) == oct(plain)


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "no" / "model.rsk", b"new")
    assert os.listdir(tmp_path) == []
