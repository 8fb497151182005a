"""A stopped distillation goes on from its file and ends in the bytes of a run that was never stopped."""

import os
import pickle
import signal
import subprocess
import sys
import time
from importlib import import_module

import numpy as np
import pytest

from repsketch import distill
from repsketch.errors import InputError
from repsketch.paper.adam import Adam

QUICK = {"n_points": 12, "n_components": 2, "n_epochs": 6, "batch_size": 64, "progress": False, "linear": True}
ARRAYS = ("points", "weights", "bias", "projection", "shift", "linear")


def values(X):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1]


@pytest.fixture(scope="module")
def X():
    return (np.random.default_rng(0).normal(size=(200, 3)) * 8).round() / 8


@pytest.fixture(scope="module")
def expected(X):
    return bytes_of(distill(values, X, **QUICK))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.npz"


def bytes_of(model):
    arrays = (getattr(model, name) for name in ARRAYS)
    return [b"" if array is None else array.tobytes() for array in arrays], getattr(model.family, "bandwidth", None)


def epoch_of(path):
    with np.load(path, allow_pickle=False) as file:
        return int(file["number/epoch"])


def stop_after(n_saves, monkeypatch):
    """Ctrl-C right after the n-th checkpoint."""
    module = import_module("repsketch.paper.distill")
    save, calls = module.save_state, []

    def save_then_stop(*args):
        save(*args)
        calls.append(1)
        if len(calls) == n_saves:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "save_state", save_then_stop)


class TestResume:
    @pytest.mark.parametrize("n_saves", [1, 3, 5, 6])
    def test_a_stopped_run_ends_in_the_same_bytes(self, X, expected, path, monkeypatch, n_saves):
        with monkeypatch.context() as patch:
            stop_after(n_saves, patch)
            with pytest.raises(KeyboardInterrupt):
                distill(values, X, **QUICK, checkpoint=path)
        assert epoch_of(path) == n_saves
        assert bytes_of(distill(values, X, **QUICK, checkpoint=path)) == expected
        assert os.listdir(path.parent) == [path.name]

    def test_stopped_twice(self, X, expected, path, monkeypatch):
        for _ in range(2):
            with monkeypatch.context() as patch:
                stop_after(2, patch)
                with pytest.raises(KeyboardInterrupt):
                    distill(values, X, **QUICK, checkpoint=str(path))
        assert epoch_of(path) == 4
        assert bytes_of(distill(values, X, **QUICK, checkpoint=path)) == expected

    @pytest.mark.parametrize(
        "options", [{"family": "minhash"}, {"family": "angular"}, {"n_concat": 2}], ids=["minhash", "angular", "K=2"]
    )
    def test_other_families(self, X, path, monkeypatch, options):
        options = {**QUICK, **options}
        with monkeypatch.context() as patch:
            stop_after(2, patch)
            with pytest.raises(KeyboardInterrupt):
                distill(values, X, **options, checkpoint=path)
        assert bytes_of(distill(values, X, **options, checkpoint=path)) == bytes_of(distill(values, X, **options))

    def test_early_stopping_waits_as_long(self, X, path, monkeypatch):
        """The epochs without improvement belong to the state."""
        options = {**QUICK, "n_epochs": 30, "learning_rate": 3.0}  # too fast to improve
        complete = distill(values, X, **options, checkpoint=path)
        last = epoch_of(path)
        assert last < 30
        path.unlink()
        with monkeypatch.context() as patch:
            stop_after(last - 2, patch)
            with pytest.raises(KeyboardInterrupt):
                distill(values, X, **options, checkpoint=path)
        assert bytes_of(distill(values, X, **options, checkpoint=path)) == bytes_of(complete)
        assert epoch_of(path) == last

    def test_a_finished_run_is_not_run_again(self, X, expected, path, monkeypatch):
        assert bytes_of(distill(values, X, **QUICK, checkpoint=path)) == expected
        stop_after(1, monkeypatch)  # would raise if another epoch were run
        assert bytes_of(distill(values, X, **QUICK, checkpoint=path)) == expected

    def test_a_failing_save_leaves_the_last_good_state(self, X, expected, path, monkeypatch):
        files = import_module("repsketch.files")
        with monkeypatch.context() as patch:
            stop_after(2, patch)
            with pytest.raises(KeyboardInterrupt):
                distill(values, X, **QUICK, checkpoint=path)

        def full(*args):
            raise OSError("disk full")

        with monkeypatch.context() as patch:
            patch.setattr(files.os, "fsync", full)
            with pytest.raises(OSError, match="disk full"):
                distill(values, X, **QUICK, checkpoint=path)
        assert (os.listdir(path.parent), epoch_of(path)) == ([path.name], 2)
        assert bytes_of(distill(values, X, **QUICK, checkpoint=path)) == expected


CHILD = """
import sys, time
from importlib import import_module
import numpy as np
from repsketch import distill

module = import_module("repsketch.paper.distill")
save = module.save_state

def slowly(*args):
    save(*args)
    time.sleep(0.2)  # so that the parent finds the run unfinished

module.save_state = slowly
X = (np.random.default_rng(0).normal(size=(200, 3)) * 8).round() / 8
distill(lambda X: np.sin(X[:, 0]) + 0.5 * X[:, 1], X, checkpoint=sys.argv[1], n_points=12, n_components=2,
        n_epochs=40, batch_size=64, progress=False, linear=True)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_process_is_resumed(X, path):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not (path.exists() and epoch_of(path) >= 2):
            assert child.poll() is None, child.stderr.read().decode()
            assert time.monotonic() < deadline, "the child wrote no checkpoint"
            time.sleep(0.01)
    finally:
        child.kill()
        child.stderr.close()
    assert child.wait() == -signal.SIGKILL
    assert 2 <= epoch_of(path) < 40
    options = {**QUICK, "n_epochs": 40}
    assert bytes_of(distill(values, X, **options, checkpoint=path)) == bytes_of(distill(values, X, **options))


OTHER_RUNS = {
    "random_state": {"random_state": 1},
    "n_points": {"n_points": 13},
    "n_components": {"n_components": 1},
    "n_concat": {"n_concat": 2},
    "n_epochs": {"n_epochs": 7},
    "n_directions": {"n_directions": 64},
    "family": {"family": "l1"},
    "kernel": {"kernel": "closed_form"},
    "linear": {"linear": False},
    "batch_size": {"batch_size": 32},
    "learning_rate": {"learning_rate": 0.02},
    "norm_penalty": {"norm_penalty": 0.1},
    "validation_fraction": {"validation_fraction": 0.2},
    "teacher": {"model": lambda X: values(X) + 1},
    "fewer rows": {"X": lambda X: X[:-1]},
    "other rows": {"X": lambda X: X + 0.125},
    "another column": {"X": lambda X: np.column_stack([X[:, :2], -X[:, 2]])},
    "one column less": {"X": lambda X: X[:, :2]},
    "one column more": {"X": lambda X: np.column_stack([X, X[:, 0]])},
}


@pytest.mark.parametrize("change", OTHER_RUNS.values(), ids=OTHER_RUNS)
def test_the_checkpoint_of_another_run_is_refused(X, path, monkeypatch, change):
    with monkeypatch.context() as patch:
        stop_after(1, patch)
        with pytest.raises(KeyboardInterrupt):
            distill(values, X, **QUICK, checkpoint=path)
    before = path.read_bytes()
    change = dict(change)
    rows = change.pop("X", lambda X: X)(X)
    model = change.pop("model", values)
    with pytest.raises(InputError, match=r"run\.npz.* other data, teacher or settings; .*another file name, or delete"):
        distill(model, rows, **{**QUICK, **change}, checkpoint=path)
    assert path.read_bytes() == before


class Bomb:
    """Unpickling this would create a file."""

    def __init__(self, target):
        self.target = target

    def __reduce__(self):
        return (open, (str(self.target), "w"))


def write_npy(path):
    with open(path, "wb") as file:
        np.save(file, np.ones(3))


def write_npz(path):
    with open(path, "wb") as file:
        np.savez(file, weights=np.ones(3))


GARBAGE = {
    "text": lambda path: path.write_bytes(b"not a checkpoint, whatever the name says" * 10),
    "empty": lambda path: path.write_bytes(b""),
    "a zip's first bytes": lambda path: path.write_bytes(b"PK\x03\x04" + bytes(100)),
    "zeros": lambda path: path.write_bytes(bytes(1_000)),
    "an npy": write_npy,
    "another npz": write_npz,
    "a pickle": lambda path: path.write_bytes(pickle.dumps(Bomb(path.parent / "exploded"))),
    "a folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("write", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_refused(X, path, write):
    write(path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(InputError, match=r"run\.npz' is not a checkpoint of repsketch.*delete it"):
        distill(values, X, **QUICK, checkpoint=path)
    assert before is None or path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_cut_checkpoint_is_refused(X, path, share):
    distill(values, X, **{**QUICK, "n_epochs": 1}, checkpoint=path)
    complete = path.read_bytes()
    path.write_bytes(complete[: int(share * len(complete))])
    with pytest.raises(InputError, match=r"run\.npz' is not a checkpoint of repsketch"):
        distill(values, X, **{**QUICK, "n_epochs": 1}, checkpoint=path)


def test_a_flipped_byte_is_refused(X, path):
    distill(values, X, **{**QUICK, "n_epochs": 1}, checkpoint=path)
    with np.load(path) as file:
        weights = file["best/weights"].tobytes()
    content = bytearray(path.read_bytes())
    content[content.find(weights)] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"run\.npz' is not a checkpoint of repsketch"):
        distill(values, X, **{**QUICK, "n_epochs": 1}, checkpoint=path)


@pytest.mark.parametrize("bad", ["no such folder/run.npz", 5], ids=["missing folder", "a number"])
def test_a_file_that_cannot_be_written_is_refused_before_training(X, tmp_path, monkeypatch, bad):
    steps = []
    monkeypatch.setattr(Adam, "step", lambda *arguments: steps.append(1))
    target = bad if isinstance(bad, int) else tmp_path / bad
    with pytest.raises(InputError, match="checkpoint="):
        distill(values, X, **QUICK, checkpoint=target)
    assert steps == []


@pytest.mark.parametrize("row", range(0, 200, 23))
def test_a_changed_row_is_noticed_wherever_it_is_used(X, path, row):
    """For training or for validation, and though the teacher says the same of it."""
    quick = {**QUICK, "n_epochs": 1}
    distill(values, X, **quick, checkpoint=path)
    other = X.copy()
    other[row, 2] += 1.0  # a column the teacher does not look at
    with pytest.raises(InputError, match="belongs to a run with other data"):
        distill(values, other, **quick, checkpoint=path)
