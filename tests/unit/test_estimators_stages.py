"""What estimators hand to the default teacher and to ``compress``."""

import numpy as np
import pytest

import repsketch as rs


@pytest.mark.parametrize(("time_limit", "seconds"), [(None, None), (50.0, 5.0)])
@pytest.mark.parametrize("estimator", [rs.SketchClassifier, rs.SketchRegressor])
def test_options_are_passed_on(estimator, time_limit, seconds, monkeypatch):
    seen = {}

    def train(X, y, task, seed, seconds, loss):
        seen["teacher"] = (seconds, loss)
        return "a teacher"

    def compress(teacher, X, y, **options):
        seen["compress"] = (teacher, options["budget"], options["time_limit"], options["progress"])
        raise InterruptedError

    monkeypatch.setattr("repsketch.estimators.train_teacher", train)
    monkeypatch.setattr("repsketch.estimators.compress", compress)
    with pytest.raises(InterruptedError):
        estimator(budget="2KB", time_limit=time_limit).fit(np.eye(4), [0, 1, 0, 1])
    assert seen["teacher"] == (seconds, "squared_error")
    assert seen["compress"] == ("a teacher", "2KB", time_limit, False)
