"""What estimators hand to the default teacher and to ``compress``."""

from types import SimpleNamespace

import numpy as np
import pytest

import repsketch as rs
from repsketch.train import clock


@pytest.mark.parametrize(("time_limit", "left"), [(None, None), (50.0, 30.0), (21.0, 2.1)])
@pytest.mark.parametrize("estimator", [rs.SketchClassifier, rs.SketchRegressor])
def test_options_are_passed_on(estimator, time_limit, left, monkeypatch):
    """The teacher takes 20 seconds of this clock; ``compress`` gets the rest, at least a tenth of the limit."""
    now, seen = [0.0], {}

    def train(X, y, task, *, seed, time_limit, progress, **loss):
        seen["teacher"] = (task, time_limit, progress)
        now[0] += 20.0
        return "a teacher"

    def compress(teacher, X, y, **options):
        seen["compress"] = (teacher, options["budget"], options["task"], options["time_limit"], options["progress"])
        raise InterruptedError

    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("repsketch.estimators.default_teacher", train)
    monkeypatch.setattr("repsketch.estimators.compress", compress)
    with pytest.raises(InterruptedError):
        estimator(budget="2KB", time_limit=time_limit).fit(np.eye(4), [0, 1, 0, 1])
    task = "classification" if estimator is rs.SketchClassifier else "regression"
    assert seen["teacher"] == (task, time_limit, False)
    assert seen["compress"] == ("a teacher", "2KB", task, left, False)
