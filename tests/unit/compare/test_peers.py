"""How the peers of a summary are tuned: distilled with a teacher, hurried without time."""

import time
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import pytest

from repsketch import parallel
from repsketch.compare import peers
from repsketch.compare.linear import Linear
from repsketch.compare.network import Network
from repsketch.errors import InputError
from repsketch.train import clock
from repsketch.train.training_data import TrainingData

X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
LABELS = (X[:, :1] > 0).astype(float)


@pytest.fixture
def tuned(monkeypatch):
    """The options of every tuning, by kind."""
    tuned = {}

    def tune(kind, data, budgets, **options):
        tuned[kind] = options
        return ((nbytes, None) for nbytes in budgets)

    monkeypatch.setattr(peers, "tuned", tune)
    return tuned


def test_fits_are_shared_between_budgets(monkeypatch):
    """One tuning for all budgets of a kind; peers that are not small enough, or fail, are named at their budgets."""
    calls = []

    def tune(kind, data, budgets, **options):
        calls.append((kind, budgets))
        if kind is Network:
            raise RuntimeError("out of petrol")
        return ((nbytes, f"{kind.name} of {nbytes}" if nbytes > 9 else None) for nbytes in budgets)

    monkeypatch.setattr(peers, "tuned", tune)
    data = TrainingData.of(X, LABELS, None, "classification")
    found = peers.fit_peers_at(data, [500, 9, 60])
    assert [budgets for _, budgets in calls] == [[9, 60, 500]] * 3
    assert list(found) == [9, 60, 500]
    assert found[60][0] == ["boosted trees of 60", "linear of 60"]
    assert found[60][1] == {"int8 network": "RuntimeError: out of petrol"}
    assert found[9] == ([], {"int8 network": "RuntimeError: out of petrol"} | dict.fromkeys(
        ("boosted trees", "linear"), "none is as small as 9 bytes"
    ))  # fmt: skip


def test_budgets_for_which_there_is_no_time(monkeypatch):
    """The tuning ends after the first budget: what is not there is left out."""
    now = [0.0]

    def tune(kind, data, budgets, **options):
        for nbytes in budgets:
            now[0] += 6.0
            yield nbytes, nbytes

    monkeypatch.setattr(peers, "tuned", tune)
    monkeypatch.setattr(peers.time, "monotonic", lambda: now[0])
    found = peers.fit_peers_at(TrainingData.of(X, LABELS, None, "classification"), [60, 500], until=5.0)
    assert found[60] == ([60, 60], {"int8 network": "no time left"})  # linear: hurried, one cheap fit a budget
    assert found[500] == ([500], {"boosted trees": "no time left", "int8 network": "no time left"})


@pytest.mark.parametrize("has_teacher", [False, True])
def test_peers_learn_from_the_teacher(tuned, has_teacher):
    peers.fit_peers(TrainingData.of(X, LABELS, 0.9 * LABELS if has_teacher else None, "classification"), 500)
    assert len(tuned) == 3
    assert {options["is_distilled"] for options in tuned.values()} == {has_teacher}
    assert tuned[Network]["step_share"] == 0.3


@pytest.mark.parametrize(("left", "is_hurried"), [(-1.0, True), (1_000.0, False)])
def test_without_time_peers_are_hurried(tuned, left, is_hurried):
    data = TrainingData.of(X, LABELS, None, "classification")
    _, left_out = peers.fit_peers(data, 500, until=time.monotonic() + left)
    assert {options["is_hurried"] for options in tuned.values()} == {is_hurried}
    assert (Network in tuned, Linear in tuned) == (not is_hurried, True)
    assert (left_out["int8 network"] == "no time left") == is_hurried


def test_peers_share_the_time_that_is_left(monkeypatch):
    """90 seconds: 30 for the first of three, of which it takes 40; then 25 for the second, and so on."""
    now, seen = [0.0], {}
    expected = {"boosted trees": 30.0, "int8 network": 25.0, "linear": 49.0}
    for module in (peers, clock):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    many = TrainingData.of(np.zeros((60_000, 1_000), np.float32), np.zeros((60_000, 1)), None, "regression")

    def tune(kind, data, budgets, is_late, **_):
        start, seconds = now[0], expected[kind.name]
        seen[kind.name] = len(data.train_rows)
        for share, is_over in ((0.99, False), (1.01, True)):
            now[0] = start + share * seconds
            assert is_late() == is_over, kind.name
        now[0] = start + (40.0 if len(seen) == 1 else 1.0)
        return [(nbytes, None) for nbytes in budgets]

    monkeypatch.setattr(peers, "tuned", tune)
    _, left_out = peers.fit_peers(many, 500, until=90.0)
    assert set(left_out.values()) == {"none is as small as 500 bytes"}  # no assertion above has failed
    assert seen == {name: seconds * peers.VALUES_PER_SECOND / 1_000 for name, seconds in expected.items()}


@pytest.mark.parametrize(("max_cells", "most"), [(X.size, 3), (X.size - 1, 1)])
def test_peers_of_large_tables_are_fitted_one_after_the_other(max_cells, most, monkeypatch):
    """Each has copies of the rows. On small tables, all three begin before one ends."""
    running, seen, begun = [], [], Barrier(most)

    def tune(kind, data, budgets, **_):
        running.append(kind)
        begun.wait(timeout=20.0)
        seen.append(len(running))
        begun.wait(timeout=20.0)
        running.remove(kind)
        return [(nbytes, None) for nbytes in budgets]

    monkeypatch.setattr(peers, "tuned", tune)
    monkeypatch.setattr(peers, "MAX_CELLS", max_cells)
    monkeypatch.setattr(parallel, "n_threads", lambda: 3)
    _, left_out = peers.fit_peers(TrainingData.of(X, LABELS, None, "classification"), 500)
    assert seen == [most] * 3
    assert set(left_out.values()) == {"none is as small as 500 bytes"}


def test_a_peer_that_has_no_time_is_named(monkeypatch):
    def tune(kind, data, budgets, is_late, **_):
        while not is_late():
            pass
        raise InputError("every fit failed.")

    monkeypatch.setattr(peers, "tuned", tune)
    data = TrainingData.of(X, LABELS, None, "classification")
    found, left_out = peers.fit_peers(data, 500, until=time.monotonic() + 0.01)
    assert found == []
    assert set(left_out.values()) == {"no time left"}
