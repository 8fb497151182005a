"""Answers out of fold: no row has a say in its own answer, and what cannot be trained again is left alone."""

import numpy as np
import pandas
import polars
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from repsketch.teacher import as_teacher
from repsketch.tune.folds import N_FOLDS, answers_out_of_fold, as_chances

N = 120
KEPT = np.arange(90)


def table(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    return X, rng.integers(0, n_classes, N) if n_classes else X[:, 0] + rng.normal(size=N)


def out_of_fold(model, X, y, **options):
    return answers_out_of_fold(model, X, y, KEPT, as_teacher(model).label(X), seed=1, progress=False, **options)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_no_row_has_a_say_in_its_own_answer(n_classes):
    X, y = table(n_classes)
    kind = DecisionTreeClassifier if n_classes else DecisionTreeRegressor
    model = kind(random_state=0).fit(X, y)
    answers = out_of_fold(model, X, y)
    changed = y.copy()
    changed[7] = (changed[7] + 1) % n_classes if n_classes else changed[7] + 10.0
    again = out_of_fold(model, X, changed)
    assert np.array_equal(again[7], answers[7])
    assert not np.array_equal(again, answers)
    own = as_chances(as_teacher(model).label(X))
    assert answers.shape == own.shape
    assert np.abs(own - answers)[KEPT].mean() > 0.1  # the tree knows its own rows by heart


def test_rows_that_are_not_kept_teach_nobody_and_are_answered_by_all():
    X, y = table(0)
    model = LinearRegression().fit(X, y)
    answers = out_of_fold(model, X, y)
    changed = y.copy()
    changed[90:] += 100.0
    np.testing.assert_array_equal(out_of_fold(model, X, changed), answers)
    whole = LinearRegression().fit(X[KEPT], y[KEPT]).predict(X[90:])
    np.testing.assert_allclose(answers[90:, 0], whole, atol=0.2)  # a mean of N_FOLDS models of nearly as many rows
    assert N_FOLDS > 1


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
    labelled = as_teacher(model).label(X)
    assert answers_out_of_fold(model, X, y, KEPT[:20], labelled, seed=1, progress=False) is None


def test_copies_that_take_too_long():
    X, y = table(2)
    assert out_of_fold(LogisticRegression().fit(X, y), X, y, longest=0.0) is None
