"""A save is all or nothing: killed at any instant, on a full disk, or given a path that cannot be written."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import repsketch
from support.rsk.build import kernel_sketch

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
if hasattr(os, "fork"):
    from support.rsk.saver import two_sketches

SAVER = Path(__file__).parents[1] / "support" / "rsk" / "saver.py"
N_KILLS, N_FAST = 200, 60
LONGEST = 0.030  # seconds from the first save to the kill; a save takes a few milliseconds


def temporaries(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != "model.rsk"]


@contextmanager
def saver_of(path):
    """A process that forks savers: calling what is yielded starts one and returns its number."""
    with subprocess.Popen(
        [sys.executable, SAVER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def start():
            server.stdin.write("go\n")
            return int(server.stdout.readline())

        def kill(child):
            os.kill(child, signal.SIGKILL)
            assert server.stdout.readline() == "dead\n"

        try:
            yield start, kill
        finally:
            server.stdin.close()
    assert server.returncode == 0


@pytest.mark.parametrize("n_kills", [N_FAST, pytest.param(N_KILLS, marks=pytest.mark.slow)])
def test_a_killed_save_leaves_the_old_file_or_the_new_one(n_kills, tmp_path):
    path, rng = tmp_path / "model.rsk", np.random.default_rng(0)
    sketches = two_sketches()
    good = {sketch.to_bytes() for sketch in sketches}
    assert len(good) == 2
    seen, n_left = set(), 0
    with saver_of(path) as (start, kill):
        for _ in range(n_kills):
            child = start()  # its first save has removed what the one before left
            time.sleep(rng.uniform(0, LONGEST))
            kill(child)
            data = path.read_bytes()
            assert data in good
            seen.add(data)
            repsketch.load(path)
            assert len(temporaries(tmp_path)) <= 1  # the killed writer could not clean up
            n_left += len(temporaries(tmp_path))
    assert seen == good
    assert n_left > 0  # some of the kills came in the middle of a save
    sketches[0].save(path)
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("n_kills", [N_FAST // 4, pytest.param(N_KILLS // 4, marks=pytest.mark.slow)])
def test_a_living_writer_keeps_its_file_while_others_are_killed(n_kills, tmp_path):
    path, rng = tmp_path / "model.rsk", np.random.default_rng(1)
    with saver_of(path) as (start, kill), saver_of(path) as (start_another, kill_another):
        lasting = start()
        for _ in range(n_kills):
            child = start_another()
            time.sleep(rng.uniform(0, LONGEST))
            kill_another(child)
            assert len(temporaries(tmp_path)) <= 2  # one of the living, one of the dead at most
            repsketch.load(path)
        kill(lasting)  # fails if it has ended already, as it would have, had its temporary file been removed
    two_sketches()[0].save(path)
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("limit", [0, 1, 4_096, 100_000])
def test_a_disk_that_fills_up_leaves_the_old_file_and_no_temporary(tmp_path, limit):
    path = tmp_path / "model.rsk"
    kernel_sketch().save(path)
    before = path.read_bytes()
    result = subprocess.run([sys.executable, SAVER, path, str(limit)], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["OSError", str(errno.EFBIG)], result.stderr
    assert path.read_bytes() == before
    assert temporaries(tmp_path) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_no_space_left_on_the_device(tmp_path, monkeypatch, step):
    path = tmp_path / "model.rsk"
    kernel_sketch().save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(f"repsketch.files.os.{step}", fail)
    with pytest.raises(OSError, match="No space left on device"):
        kernel_sketch(seed=4).save(path)
    assert path.read_bytes() == before
    assert temporaries(tmp_path) == []


def test_a_path_that_cannot_be_written(tmp_path):
    sketch = kernel_sketch()
    with pytest.raises(FileNotFoundError, match="missing"):
        sketch.save(tmp_path / "missing" / "model.rsk")
    (tmp_path / "folder.rsk").mkdir()
    with pytest.raises(OSError, match=r"folder\.rsk"):
        sketch.save(tmp_path / "folder.rsk")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(NotADirectoryError, match="file"):
        sketch.save(tmp_path / "file" / "model.rsk")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.rsk"]
    assert os.listdir(tmp_path / "folder.rsk") == []


def test_metadata_that_cannot_be_read_again_are_not_written(tmp_path):
    path = tmp_path / "model.rsk"
    for metadata in ({"a": float("nan")}, {"a": {"b": {"c": {"d": {}}}}}, {"a": "x" * 1025}, {"a": 10**400}):
        with pytest.raises(ValueError, match=r"JSON|nested|longer|number"):
            kernel_sketch().save(path, metadata)
    with pytest.raises(TypeError):
        kernel_sketch().save(path, {"a": object()})
    assert os.listdir(tmp_path) == []
