"""What keeps the comparison honest: nothing is chosen by test rows, and teachers have not seen validation rows."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch import compress
from repsketch.train import search
from repsketch_bench.frontier import run, teachers
from repsketch_bench.frontier.case import Case, Job
from repsketch_bench.frontier.settings import METHODS


@pytest.fixture(scope="module")
def case():
    return Case("wine", 0)


def test_ours_is_what_one_call_of_compress_returns(case, brief_training, monkeypatch):
    """The default call, with the teacher's soft labels and the labels, on the training rows as a user has them."""
    monkeypatch.setattr(search, "NESTED_FROM", 300)  # the last budget begins with a search at the first
    soft_labels = 0.9 * case.plain.labels + 0.05
    found = dict(run._ours(case, soft_labels, Job("wine", 0, "ours", (100, 150, 400))))
    table = case.table
    for budget, entry in found.items():
        sketch = compress(soft_labels, table.X_train, table.y_train, budget=budget, random_state=0, progress=False)
        assert entry["nbytes"] == sketch.nbytes <= budget
        assert entry["score"] == (sketch.predict(table.X_test) == table.y_test).mean()


@pytest.mark.parametrize("method", METHODS)
def test_test_rows_change_nothing(case, method, brief_training):
    """Other test rows and labels, the same models: their validation losses and bytes."""
    table = case.table
    other = Case("wine", 0)
    changed = replace(table, X_test=table.X_test[::-1] * 3.0, y_test=(table.y_test + 1) % 3)
    vars(other)["table"] = changed  # in place of the cached one
    soft_labels, losses = 0.9 * case.plain.labels + 0.05, []
    for one in (case, other):
        job = Job("wine", 0, method, (300,), is_quick=True)
        entries = run._ours(one, soft_labels, job) if method == "ours" else run._peer(one, one.taught(soft_labels), job)
        losses.append([(entry["loss"], entry["nbytes"]) for _, entry in entries])
    assert losses[0] == losses[1]


def test_teachers_are_not_trained_on_validation_rows(case):
    X, seen = case.table.X_train, []

    def fit(inside, y):
        seen.append(inside)
        return lambda rows: np.zeros((len(rows), case.plain.n_outputs))

    teachers.soft_labels_of(case, fit)
    validation = {row.tobytes() for row in X[case.plain.validation_rows]}
    assert len(seen) == 4
    assert not validation & {row.tobytes() for inside in seen for row in inside}
    trained_on = [{row.tobytes() for row in inside} for inside in seen]
    for row in X[case.plain.train_rows]:
        assert sum(row.tobytes() in rows for rows in trained_on) == 3, "each copy leaves out a quarter"


def test_the_soft_labels_of_the_best_teacher_are_taken(case, monkeypatch):
    labels = case.plain.labels
    soft_labels = {"boosted": 0.9 * labels + 0.05, "network": 0.6 * labels + 0.1}
    monkeypatch.setattr(teachers, "boosted_fit", lambda case: "boosted")
    monkeypatch.setattr(teachers, "network_fit", lambda case: "network")
    monkeypatch.setattr(teachers, "soft_labels_of", lambda case, fit: soft_labels[fit])
    found, about = teachers.best_soft_labels(case)
    assert about["best"] == "boosted"
    np.testing.assert_array_equal(found, soft_labels["boosted"])
    assert about["losses"]["boosted"] < about["losses"]["mean"] < about["losses"]["network"]


def test_test_rows_are_no_training_rows(case):
    table = case.table
    assert not {row.tobytes() for row in table.X_test} & {row.tobytes() for row in table.X_train}
    assert case.plain.X is table.X_train


@pytest.mark.parametrize("changed", ["teacher", "ours"])
def test_a_new_revision_of_method_or_teacher_has_a_new_key(changed, monkeypatch):
    from repsketch_bench.frontier import case as cases

    job = cases.Job("wine", 0, "ours", (256,))
    before = job.key
    monkeypatch.setitem(cases.REVISIONS, changed, "another one")
    assert job.key != before
