"""Out-of-fold soft labels: no row influences its own, and teachers that cannot be trained again stay as they are."""

import sys
import warnings
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas
import polars
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

from repsketch.errors import TeacherError
from repsketch.teacher import as_teacher
from repsketch.teacher import out_of_fold as folds
from repsketch.teacher.out_of_fold import N_FOLDS, N_FOLDS_OF_MANY, out_of_fold_outputs
from repsketch.teacher.targets import read_targets

N = 120
TRAIN_ROWS = np.arange(90)


class Counting(LinearRegression):
    """Notes its training rows, and the threads that OpenMP would take."""

    sizes: ClassVar[list[int]] = []
    threads: ClassVar[list[int]] = []

    def fit(self, X, y):
        self.sizes.append(len(X))
        self.threads.append(_openmp_effective_n_threads())
        return super().fit(X, y)


def table(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    return X, rng.integers(0, n_classes, N) if n_classes else X[:, 0] + rng.normal(size=N)


def targets_of(model, X):
    return read_targets(model, X, None, None, len(X))


def out_of_fold(model, X, y, **options):
    return out_of_fold_outputs(model, X, y, TRAIN_ROWS, targets_of(model, X), seed=1, progress=False, **options)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_no_row_influences_its_own_soft_label(n_classes):
    X, y = table(n_classes)
    kind = DecisionTreeClassifier if n_classes else DecisionTreeRegressor
    model = kind(random_state=0).fit(X, y)
    outputs = out_of_fold(model, X, y)
    changed = y.copy()
    changed[7] = (changed[7] + 1) % n_classes if n_classes else changed[7] + 10.0
    again = out_of_fold(model, X, changed)
    assert np.array_equal(again[7], outputs[7])
    assert not np.array_equal(again, outputs)
    own = as_teacher(model).label(X).soft_labels
    assert outputs.shape == own.shape
    assert np.abs(own - outputs)[TRAIN_ROWS].mean() > 0.1  # the tree knows its own rows by heart


def test_rows_that_are_no_training_rows_influence_nothing():
    X, y = table(0)
    model = LinearRegression().fit(X, y)
    outputs = out_of_fold(model, X, y)
    changed = y.copy()
    changed[90:] += 100.0
    np.testing.assert_array_equal(out_of_fold(model, X, changed), outputs)


def test_soft_labels_of_means_by_hand():
    """A teacher that predicts the mean of y, of 88 training rows in four folds, with one value of 66 among zeros.

    Three of the four copies are trained on that row, among 66 rows, and predict 1; the other copy predicts 0.
    """
    X, y = np.zeros((N, 1)), np.zeros(N)
    y[7] = 66.0
    model = DummyRegressor().fit(X, y)
    labelled = targets_of(model, X)
    outputs = out_of_fold_outputs(model, X, y, np.arange(88), labelled, seed=1, progress=False)[:, 0]
    assert outputs[7] == 0.0
    assert sorted(outputs[:88]) == [0.0] * 22 + [1.0] * 66
    np.testing.assert_allclose(outputs[88:], 0.75)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_frames(frame):
    X, y = table(2)
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    model = LogisticRegression().fit(pandas.DataFrame(columns), y)
    expected = out_of_fold(LogisticRegression().fit(X, y), X, y)
    np.testing.assert_allclose(out_of_fold(model, frame(columns), y), expected, atol=1e-6)


def test_a_class_that_a_fold_does_not_know():
    X, y = table(3)
    y[:] = np.where(np.arange(N) == 5, 2, y % 2)  # one row alone has class 2
    assert out_of_fold(LogisticRegression().fit(X, y), X, y) is None


def test_few_rows():
    X, y = table(2)
    model = LogisticRegression().fit(X, y)
    labelled = targets_of(model, X)
    assert out_of_fold_outputs(model, X, y, TRAIN_ROWS[:20], labelled, seed=1, progress=False) is None


def test_copies_that_take_too_long():
    X, y = table(2)
    assert out_of_fold(LogisticRegression().fit(X, y), X, y, max_seconds=0.0) is None


class Stubborn(LogisticRegression):
    """A classifier that is fitted once and never again."""

    error = RuntimeError("the licence server is down")

    def fit(self, X, y):
        print("epoch 1")
        print("epoch 1", file=sys.stderr)
        warnings.warn("no convergence", UserWarning, stacklevel=1)
        raise self.error


def stubborn(X, y, error):
    model = LogisticRegression().fit(X, y)
    model.__class__ = type("Stubborn", (Stubborn,), {"error": error})
    return model


@pytest.mark.parametrize("error", [RuntimeError("no licence"), KeyError("x"), MemoryError("16 GB"), TeacherError("no")])
def test_whatever_a_copy_raises_is_logged_and_nothing_leaks(error, caplog, capfd):
    X, y = table(2)
    assert out_of_fold(stubborn(X, y, error), X, y) is None
    assert [(record.levelname, record.name) for record in caplog.records] == [
        ("WARNING", "repsketch.teacher.out_of_fold")
    ]
    message = caplog.messages[0]
    assert message.startswith("out-of-fold outputs of Stubborn: not used, because a copy cannot be trained")
    assert f"{type(error).__name__}: {error}" in message
    assert "\n" not in message
    assert capfd.readouterr() == ("", "")


def test_a_user_who_sees_progress_sees_it(capfd):
    X, y = table(2)
    model = stubborn(X, y, RuntimeError("no licence"))
    assert out_of_fold_outputs(model, X, y, TRAIN_ROWS, targets_of(model, X), seed=1, progress=True) is None
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("repsketch: out-of-fold outputs of Stubborn: not used")
    assert err.count("\n") == 1


class _Slow(LogisticRegression):
    """Takes a millisecond for every row, as a clock that the test turns says."""

    sizes: ClassVar[list[int]] = []

    def fit(self, X, y):
        self.sizes.append(len(X))
        folds.time.passed += 1e-3 * len(X)
        return super().fit(X, y)


@pytest.mark.parametrize(("max_seconds", "n_copies"), [(5.0, 0), (20.0, 0), (100.0, N_FOLDS)])
def test_a_copy_on_few_rows_tells_whether_there_is_time(max_seconds, n_copies, monkeypatch):
    clock = SimpleNamespace(passed=0.0)
    clock.monotonic = lambda: clock.passed
    monkeypatch.setattr(folds, "time", clock)
    monkeypatch.setattr(folds, "MAX_SECONDS", 1_000.0)
    X = np.random.default_rng(0).normal(size=(9_000, 2))
    y = X[:, 0] > 0
    model = _Slow().fit(X, y)
    _Slow.sizes.clear()
    outputs = out_of_fold_outputs(
        model, X, y, np.arange(8_000), targets_of(model, X), seed=0, max_seconds=max_seconds, progress=False
    )
    assert _Slow.sizes == [folds.PILOT_ROWS] + [6_000] * n_copies
    assert (outputs is None) == (n_copies == 0)


def test_an_interrupt_is_no_reason_to_go_on():
    X, y = table(2)
    with pytest.raises(KeyboardInterrupt):
        out_of_fold(stubborn(X, y, KeyboardInterrupt()), X, y)


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("only 20 rows", {"train_rows": TRAIN_ROWS[:20]}),
        ("0 seconds", {"max_seconds": 1e-9}),
        ("no time is left", {"max_seconds": 0.0}),
    ],
)
def test_the_reason_is_logged(reason, options, caplog):
    X, y = table(2)
    model = LogisticRegression().fit(X, y)
    given = {"train_rows": TRAIN_ROWS, **options}
    with caplog.at_level("INFO", "repsketch"):
        assert out_of_fold_outputs(model, X, y, given.pop("train_rows"), targets_of(model, X), seed=1, **given) is None
    said = [record for record in caplog.records if record.name == "repsketch.teacher.out_of_fold"]
    assert [record.levelname for record in said] == ["INFO"]
    assert reason in said[0].getMessage()


def test_constructors_that_copy_their_parameters():
    """scikit-learn's ``clone`` refuses them."""

    class Copying(LogisticRegression):
        def __init__(self, C=1.0, names=None):
            super().__init__(C=C)
            self.names = list(names)

    X, y = table(2)
    np.testing.assert_array_equal(
        out_of_fold(Copying(names=["a"]).fit(X, y), X, y), out_of_fold(LogisticRegression().fit(X, y), X, y)
    )


def test_copies_of_other_classes_are_not_used(caplog):
    """As many classes as the teacher has, but others: their probabilities are of something else."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    rows = np.arange(80)
    for names, is_used in ((("ash", "oak"), True), (("ash", "elm"), False)):
        y = np.where(X[:, 0] > 0, *names)
        model = LogisticRegression().fit(X, np.where(X[:, 0] > 0, "ash", "oak"))
        found = out_of_fold_outputs(model, X, y, rows, targets_of(model, X), seed=0, progress=False)
        assert (found is not None) == is_used


def test_many_rows_have_fewer_copies(monkeypatch):
    monkeypatch.setattr(folds, "MANY_ROWS", 60)
    X, y = table(None)
    Counting.sizes.clear()
    found = out_of_fold(Counting().fit(X, y), X, y)
    n = len(TRAIN_ROWS)
    assert Counting.sizes[1:] == [n // N_FOLDS_OF_MANY] * N_FOLDS_OF_MANY
    assert np.abs(found[:, 0] - y).mean() < 2.0


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_copies_side_by_side_have_one_thread_each(n_threads):
    """OpenMP sums in another order with more threads: the bytes of a sketch must not depend on the machine."""
    X, y = table(None)
    Counting.threads.clear()
    found = out_of_fold(Counting().fit(X, y), X, y, n_threads=n_threads)
    assert Counting.threads[1:] == [1] * N_FOLDS
    np.testing.assert_array_equal(found, out_of_fold(Counting().fit(X, y), X, y))
