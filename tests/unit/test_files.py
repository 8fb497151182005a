"""A file is the old one or the new one, whatever goes wrong while it is written."""

import errno
import os
import stat

import pytest

from repsketch import files
from repsketch.errors import InputError
from repsketch.files import check_writable, write_atomically


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


def test_the_permissions_of_the_old_file_stay(tmp_path):
    path = tmp_path / "model.rsk"
    for mode in (0o600, 0o664, 0o444):
        path.write_bytes(b"old")
        path.chmod(mode)
        write_atomically(path, b"new")
        assert (path.read_bytes(), oct(stat.S_IMODE(path.stat().st_mode))) == (b"new", oct(mode))
        path.unlink()


def test_a_secret_is_readable_by_nobody_else_while_it_is_written(tmp_path, monkeypatch):
    path, seen, real_open = tmp_path / "model.rsk", [], os.open

    def spy(name, flags, mode=0o777, **options):
        handle = real_open(name, flags, mode, **options)
        seen.append(os.fstat(handle).st_mode & 0o077 if flags & os.O_CREAT else 0)
        return handle

    path.write_bytes(b"old")
    path.chmod(0o600)
    monkeypatch.setattr(files.os, "open", spy)
    write_atomically(path, b"new")
    assert seen
    assert not any(seen)


@pytest.mark.parametrize("name", ["model.rsk", "other/model.rsk"])
@pytest.mark.parametrize("is_there", [True, False], ids=["a file", "dangling"])
def test_the_target_of_a_link_is_replaced(tmp_path, name, is_there):
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to("second")
    (tmp_path / "second").symlink_to(name)
    if is_there:
        (tmp_path / name).write_bytes(b"old")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert not (tmp_path / name).is_symlink()
    assert (tmp_path / name).read_bytes() == b"new"


def test_a_loop_of_links_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match=r"symbolic links.*a'"):
        write_atomically(tmp_path / "a", b"new")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link"):
        with pytest.raises(InputError, match=r"is a pipe, a socket or a device; give the name of a file"):
            write_atomically(tmp_path / name, b"new")
    with pytest.raises(IsADirectoryError, match=r"Is a directory: '.*folder'"):
        write_atomically(tmp_path / "folder", b"new")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "pipe"]


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "\U0001f333" * 63], ids=["1 byte", "2 bytes", "4 bytes"])
def test_the_longest_names(tmp_path, name):
    for content in (b"first", b"second"):
        write_atomically(tmp_path / name, content)
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(OSError, match="too long"):
        write_atomically(tmp_path / (name + "nnnn"), b"new")
    assert os.listdir(tmp_path) == [name]


def left_by(tmp_path, name):
    """A file that a killed writer of ``name`` would have left."""
    path = tmp_path / f".{name}.0123456789abcdef.tmp"
    path.write_bytes(b"half of")
    return path


def test_leftovers_of_the_dead_are_removed(tmp_path):
    left, other = left_by(tmp_path, "model.rsk"), left_by(tmp_path, "other.rsk")
    alike = tmp_path / ".model.rsk.notes.tmp"
    alike.write_bytes(b"mine")
    write_atomically(tmp_path / "model.rsk", b"new")
    assert not left.exists()
    assert other.exists()
    assert alike.exists()


def test_what_a_living_writer_has_open_stays(tmp_path, monkeypatch):
    path, real_fsync = tmp_path / "model.rsk", os.fsync
    depths = []

    def fsync(handle):
        if stat.S_ISREG(os.fstat(handle).st_mode) and len(depths) < 2:
            depths.append(sorted(os.listdir(tmp_path)))
            write_atomically(path, b"from within")  # a second writer, in the middle of the first one's save
        real_fsync(handle)

    monkeypatch.setattr(files.os, "fsync", fsync)
    write_atomically(path, b"last")
    assert [len(names) for names in depths] == [1, 2]  # two temporaries at once
    assert path.read_bytes() == b"last"
    assert os.listdir(tmp_path) == ["model.rsk"]


def test_a_temporary_taken_for_a_leftover_before_it_was_locked(tmp_path, monkeypatch):
    path, n_locks, real_flock = tmp_path / "model.rsk", [], files.fcntl.flock

    def flock(handle, how):
        if not n_locks:
            n_locks.append(1)
            (name,) = os.listdir(tmp_path)
            files._remove_leftovers(path)
            assert not (tmp_path / name).exists()
        real_flock(handle, how)

    monkeypatch.setattr(files.fcntl, "flock", flock)
    write_atomically(path, b"new")
    assert n_locks == [1]
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["model.rsk"]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    left = left_by(tmp_path, "model.rsk")
    monkeypatch.setattr(files.fcntl, "flock", flock)
    write_atomically(tmp_path / "model.rsk", b"new")
    assert (tmp_path / "model.rsk").read_bytes() == b"new"
    assert left.exists()  # nobody can tell whether its writer lives


def test_a_link_in_place_of_a_leftover_is_not_followed(tmp_path):
    (tmp_path / "precious").write_bytes(b"mine")
    (tmp_path / ".model.rsk.0123456789abcdef.tmp").symlink_to("precious")
    write_atomically(tmp_path / "model.rsk", b"new")
    assert (tmp_path / "precious").read_bytes() == b"mine"


def test_trying_leaves_everything_as_it_was(tmp_path, monkeypatch):
    check_writable(tmp_path / "model.rsk", 10)
    assert os.listdir(tmp_path) == []
    (tmp_path / "model.rsk").write_bytes(b"old")
    check_writable(tmp_path / "model.rsk", 10)
    assert (tmp_path / "model.rsk").read_bytes() == b"old"

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*model.rsk'"):
        check_writable(tmp_path / "model.rsk", 10)
    assert os.listdir(tmp_path) == ["model.rsk"]
