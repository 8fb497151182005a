"""Teachers that raise, return nonsense or are none: the error names them, and nothing is left on the disk."""

import tempfile

import numpy as np
import pytest

from repsketch import KernelModel, distill
from repsketch.errors import InputError, TeacherError
from repsketch.teacher import TeacherOutputs
from support.spoiled import QUICK, N, check, good_table


def raising(X):
    raise RuntimeError("the model server is down")


def late(X):
    return np.where(np.arange(len(X)) == 4, np.nan, 0.0)


TEACHERS = {
    "raises": (raising, "raising raised RuntimeError on rows of shape .*: the model server is down"),
    "NaN": (late, "late returned nan for row 4 of X in column 0; allowed are finite outputs"),
    "infinite": (lambda X: np.full(len(X), np.inf), "returned inf for row 0 .*; allowed are finite"),
    "beyond float32": (lambda X: X[:, 0] * 1e300, "returned .*; allowed are .*float32"),
    "too few rows": (lambda X: X[:-1, 0], r"returned shape \(5,\) on 6 rows; allowed is \(n,\) or \(n, C\)"),
    "one number": (lambda X: 1.0, r"returned shape \(\) on 6 rows; allowed is"),
    "3-D": (lambda X: X[:, :, None], r"returned shape \(6, 3, 1\) on 6 rows; allowed is"),
    "text": (lambda X: ["yes"] * len(X), "returned the label 'yes' for all 6 rows; allowed are two or more"),
    "nothing": (lambda X: None, "returned a NoneType .*; allowed is one array of real numbers"),
    "no model": (5, "model is 5 of type int; allowed is a torch module"),
    "a class": (KernelModel, "model is .*KernelModel.*; allowed is"),
    "no such file": ("no_such_model.onnx", "there is no file 'no_such_model.onnx'"),
    "another file": ("model.pkl", "'model.pkl' does not end in .onnx"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["table", "stream"])
@pytest.mark.parametrize(("model", "words"), TEACHERS.values(), ids=TEACHERS)
def test_teacher(model, words, stream, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    checkpoint = tmp_path / "run.npz"
    X = iter([good_table()]) if stream else good_table()
    check(lambda: distill(model, X, **QUICK, checkpoint=checkpoint), TeacherError, words)
    assert not checkpoint.exists()
    assert list(tmp_path.glob("*repsketch*")) == []
    assert list(tmp_path.glob(".run*")) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.full((N, 1), np.nan), "teacher outputs .*(NaN|finite)"),
        (np.full((N, 1), 1e300), "teacher outputs .*float32"),
        (np.ones((N - 1, 1)), r"teacher outputs has shape \(5, 1\); allowed is \(6,\) or \(6, C\)"),
    ],
    ids=["NaN", "beyond float32", "too few"],
)
def test_teacher_outputs(values, words):
    check(lambda: distill(TeacherOutputs(values, "regression", None), good_table(), **QUICK), InputError, words)
