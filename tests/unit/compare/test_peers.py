"""How the peers of a summary are tuned: distilled with a teacher, hurried without time."""

import time

import numpy as np
import pytest

from repsketch.compare import peers
from repsketch.compare.linear import Linear
from repsketch.compare.network import Network
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
