"""Every bad teacher gets a message that helps, and no library is imported before its model arrives."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from repsketch.errors import InputError, MissingExtraError, TeacherError
from repsketch.teacher import as_teacher
from support.outputs import by_sevens

N_ROWS, N_FEATURES = 240, 4


class TestBadOutputs:
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_the_first_row_that_is_not_finite_is_named(self, X, value):
        def model(rows):
            return np.where(rows[:, 0] >= 100, value, rows[:, 0])

        with pytest.raises(TeacherError, match=rf"returned {value} for row 100 of X in column 0"):
            by_sevens(model).label(np.arange(N_ROWS)[:, None])

    @pytest.mark.parametrize(
        ("returned", "message"),
        [
            (np.zeros(3), r"shape \(3,\) on 240 rows"),
            (np.zeros((3, N_ROWS)), r"shape \(3, 240\) on 240 rows"),
            (np.zeros((N_ROWS, 2, 2)), r"shape \(240, 2, 2\)"),
            (np.zeros((N_ROWS, 0)), r"shape \(240, 0\)"),
            (0.0, r"shape \(\) on 240 rows"),
            (np.zeros(N_ROWS, complex), "dtype complex128; allowed is one array of real numbers"),
            (None, "a NoneType of dtype object"),
            ((np.zeros(N_ROWS), np.zeros(N_ROWS)), "a tuple of dtype object"),
            ({"logits": 1}, "a dict of dtype object"),
            ([[1.0], [1.0, 2.0]], "raised ValueError"),
        ],
    )
    def test_no_table_of_numbers(self, X, returned, message):
        with pytest.raises(TeacherError, match=message):
            as_teacher(lambda X: returned).label(X)

    def test_other_columns_in_other_blocks(self, X):
        with pytest.raises(TeacherError, match="another number of columns"):
            by_sevens(lambda rows: np.zeros((len(rows), len(rows)))).label(X)

    def test_an_exception_is_wrapped_once(self, X):
        def broken(X):
            raise KeyError("colour")

        with pytest.raises(TeacherError, match=r"broken raised KeyError on rows of shape \(240, 4\)") as caught:
            as_teacher(broken).label(X)
        assert isinstance(caught.value.__cause__, KeyError)

        inner = as_teacher(broken)
        with pytest.raises(TeacherError) as caught:
            as_teacher(lambda X: inner.label(X).values).label(X)
        assert str(caught.value).count("raised") == 1

    def test_an_interrupt_is_not_wrapped(self, X):
        def interrupted(X):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            as_teacher(interrupted).label(X)


class TestBadInput:
    @pytest.mark.parametrize("model", [3, [1, 2], None, np.zeros(3), {}, int, threading.Thread])
    def test_no_model(self, model):
        with pytest.raises(TeacherError, match="allowed is a torch module"):
            as_teacher(model)

    def test_the_class_of_an_estimator(self):
        linear_model = pytest.importorskip("sklearn.linear_model")
        with pytest.raises(TeacherError, match="Pass the trained object itself"):
            as_teacher(linear_model.LogisticRegression)

    @pytest.mark.parametrize("task", ["classify", "", 1])
    def test_unknown_task(self, task):
        with pytest.raises(TeacherError, match="allowed is 'classification', 'regression', or None"):
            as_teacher(np.sum, task=task)

    @pytest.mark.parametrize("X", [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(3), [1.0], None])
    def test_no_table(self, X):
        with pytest.raises(InputError):
            as_teacher(lambda X: X).label(X)


class TestLibraries:
    def test_none_is_imported_before_it_is_needed(self):
        script = (
            "import sys, repsketch.teacher as t; t.as_teacher(lambda X: X).label([[1.0]]);"
            "print([m for m in ('torch', 'sklearn', 'lightgbm', 'xgboost', 'onnxruntime', 'scipy', 'pandas')"
            " if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_a_missing_one_is_named(self, tmp_path, monkeypatch):
        path = tmp_path / "model.onnx"
        path.touch()
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(MissingExtraError, match=r"repsketch\[onnx\]"):
            as_teacher(path)
