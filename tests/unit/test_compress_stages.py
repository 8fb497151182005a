"""What ``compress`` hands to its stages: shares of the time limit, and intervals of rows that were not trained on."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LinearRegression

import repsketch as rs
from repsketch.model.intervals import Intervals
from repsketch.runtime import runtime_for
from repsketch.sketch import from_bytes
from repsketch.teacher.out_of_fold import MAX_SECONDS
from repsketch.train import clock
from repsketch.train.effort import SCREENING
from repsketch.train.fitter import RecipeFitter
from repsketch.train.recipes import GreedyRecipe

X = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
Y = X[:, 0] + 0.1 * X[:, 1]
GREEDY = GreedyRecipe("thresholds", 0.0, n_concat=2, counter_type="int8")


@pytest.mark.parametrize(
    ("time_limit", "expected"),
    [
        (None, (MAX_SECONDS, None, np.inf)),
        (90.0, (30.0, 0.75 * 70.0, 20.0)),
        (600.0, (MAX_SECONDS, 0.75 * 580.0, 530.0)),
        (10.0, (10.0 / 3, 1e-3, -60.0)),
    ],
)
def test_stages_share_the_time_limit(time_limit, expected, monkeypatch):
    """Copies of the teacher take 20 seconds of this clock, the search 50."""
    now, seen = [0.0], {}

    def copies(*_, max_seconds=None, **__):
        seen["copies"] = max_seconds
        now[0] += 20.0

    def search(data, nbytes, *, time_limit=None, **_):
        seen["search"] = time_limit
        now[0] += 50.0
        return [RecipeFitter(data, nbytes, 0, SCREENING).fit(GREEDY)]

    def compare(data, best, nbytes, seed, seconds=np.inf):
        seen["comparison"] = seconds
        raise InterruptedError

    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("repsketch.teacher.out_of_fold.out_of_fold_outputs", copies)
    monkeypatch.setattr("repsketch.train.search.search", search)
    monkeypatch.setattr("repsketch.compare.compare.compare", compare)
    with pytest.raises(InterruptedError):
        rs.compress(LinearRegression().fit(X, Y), X, Y, budget=200, time_limit=time_limit, progress=False)
    found = tuple(seen[name] for name in ("copies", "search", "comparison"))
    assert found == pytest.approx(expected) if time_limit else found == expected


def compressed(n_rows: int, monkeypatch):
    """A regression of so many rows, the data of its search, and the trial that was chosen; without peers."""
    seen = {}

    def search(data, nbytes, **_):
        fitter, other = (RecipeFitter(rows, nbytes, 0, SCREENING) for rows in (data, data.on_all_rows()))
        seen["data"], seen["trial"] = data, replace(fitter.fit(GREEDY), retrained=other.fit(GREEDY).model)
        return [seen["trial"]]

    monkeypatch.setattr("repsketch.train.search.search", search)
    monkeypatch.setattr("repsketch.compare.peers.fit_peers", lambda *_, **__: ([], {}))
    sketch = rs.compress(None, X[:n_rows], Y[:n_rows], budget=200, random_state=0, progress=False)
    return sketch, seen["data"], seen["trial"]


def test_intervals_come_from_rows_that_the_model_has_not_seen(monkeypatch):
    sketch, data, trial = compressed(300, monkeypatch)
    assert sketch.model.row_groups[0].counters.tobytes() == trial.retrained.row_groups[0].counters.tobytes()
    X, y = data.X[data.validation_rows], data.labels[data.validation_rows] * data.unit + data.middle
    fitted, retrained = (Intervals.of(runtime_for(model).outputs(X), y) for model in (trial.fitted, trial.retrained))
    found = sketch.model.intervals.quantiles
    np.testing.assert_allclose(found, fitted.quantiles, rtol=1e-5)
    assert not np.allclose(found, retrained.quantiles, rtol=0.01)


def test_without_such_rows_there_are_no_intervals(monkeypatch):
    assert compressed(24, monkeypatch)[0].model.intervals is None
    assert compressed(25, monkeypatch)[0].model.intervals is not None


def test_labels_of_columns_that_are_not_used_are_not_stored(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {"hair": rng.choice(["red", "fair"], 300), "job": rng.choice(["smith", "baker", "guard"], 300)}
    )

    def search(data, nbytes, **_):
        one = replace(SCREENING, max_rows=1)
        return [RecipeFitter(data, nbytes, 0, one).fit(replace(GREEDY, n_concat=1))]

    monkeypatch.setattr("repsketch.train.search.search", search)
    monkeypatch.setattr("repsketch.compare.peers.fit_peers", lambda *_, **__: ([], {}))
    sketch = rs.compress(None, frame, frame["job"] == "smith", budget=200, random_state=0, progress=False)
    assert sketch.model.categories == (("baker", "guard", "smith"),)
    assert sketch.columns.categories == {1: ("baker", "guard", "smith")}
    assert (sketch.predict(frame) == (frame["job"] == "smith")).all()
    np.testing.assert_array_equal(from_bytes(sketch.to_bytes()).predict(frame), sketch.predict(frame))
