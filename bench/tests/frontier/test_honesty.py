"""What keeps the comparison honest: nothing is chosen by test rows, and teachers have not seen validation rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from repsketch_bench.frontier import run, teachers
from repsketch_bench.frontier.case import Case, Job


@pytest.fixture(scope="module")
def case():
    return Case("wine", 0)


def test_ours_is_chosen_by_validation_loss(case, monkeypatch):
    """The better one by test score has the larger validation loss."""
    trials = {
        100: SimpleNamespace(name="small", loss=0.2, model="good on validation rows"),
        200: SimpleNamespace(name="large", loss=0.3, model="good on test rows"),
    }
    for trial in trials.values():
        trial.model = SimpleNamespace(nbytes=50, is_better_on_test=trial.name == "large")
    monkeypatch.setattr(run, "search", lambda data, budget, **_: [trials[budget]])
    monkeypatch.setattr(run, "CompiledSketch", lambda model: SimpleNamespace(outputs=lambda X: model))
    monkeypatch.setattr(Case, "score", lambda self, outputs: 0.9 if outputs.is_better_on_test else 0.5)
    job = Job("wine", 0, "ours", (100, 200))
    found = dict(run._ours(case, case.plain, job))
    assert [found[budget]["settings"]["name"] for budget in (100, 200)] == ["small", "small"]
    assert [found[budget]["score"] for budget in (100, 200)] == [0.5, 0.5]


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
