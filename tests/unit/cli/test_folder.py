"""The output folder is tried before anything is read or trained, and leaves no trace if the work fails."""

import errno
import os

import pytest

from repsketch.cli.folder import output_folder
from repsketch.errors import InputError

NAMES = ("model.rsk", "summary.json")


def fail_in(folder):
    with output_folder(folder, 100, NAMES) as files:
        assert [path.name for path in files] == ["model.rsk", "summary.json"]
        assert os.listdir(folder) == []
        raise ZeroDivisionError


def test_the_folders_that_were_made_stay_only_if_the_work_is_done(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(ZeroDivisionError):
        fail_in(tmp_path / "there" / "a" / "b")
    assert os.listdir(tmp_path) == ["there"]
    assert os.listdir(tmp_path / "there") == []
    with output_folder(tmp_path / "there" / "a" / "b", 100, NAMES):
        pass
    assert (tmp_path / "there" / "a" / "b").is_dir()


def test_what_stood_there_is_not_touched(tmp_path):
    (tmp_path / "model.rsk").write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), output_folder(tmp_path, 100, NAMES):
        raise KeyboardInterrupt
    assert (tmp_path / "model.rsk").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.rsk"]


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("step", ["mkdir", "open", "fsync"])
def test_a_disk_that_takes_nothing(run, people, tmp_path, monkeypatch, step, code):
    """Found out before the table is read: there is none."""
    real_open = os.open

    def fail(path, *arguments, **options):
        if step == "open" and not arguments[0] & os.O_CREAT:
            return real_open(path, *arguments, **options)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, step, fail)
    result = run("compress", "--train", tmp_path / "none.csv", "-t", "y", "-o", tmp_path / "out" / "put")
    monkeypatch.undo()
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert f"put', but model.rsk cannot be written there: {os.strerror(code)}; give another one with -o." in result.err
    assert os.listdir(tmp_path) == []


def test_names_that_cannot_be(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "summary.json").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir(tmp_path))
    bad = {
        "n" * 256: "File name too long",
        "file": "file' is no folder; give another",
        "file/below": "file' is no folder",
        "dangling": "dangling' is no folder",
        "taken": "Is a directory",
        "pipe": "pipe' is no folder",
        "new/" + "n" * 256: "File name too long",
    }
    for name, message in bad.items():
        with pytest.raises(InputError, match=message), output_folder(tmp_path / name, 100, NAMES):
            pass
        assert sorted(os.listdir(tmp_path)) == before
