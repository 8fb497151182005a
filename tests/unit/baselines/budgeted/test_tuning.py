"""The rule of tuning: cheap fits of all settings, few again, the best by held loss; nothing fitted twice."""

import numpy as np
import pytest

from problems import problem_of
from repsketch.baselines.budgeted.model import Budgeted
from repsketch.baselines.budgeted.tuning import N_ROUGH, N_THOROUGH, Kind, tune_each


class Recorded(Kind):
    """A kind whose loss is its setting, but for the third best, which is the best on all rows."""

    name, calls = "recorded", []

    def settings(self, nbytes):
        return [{"place": place} for place in range(N_ROUGH)]

    def shape(self, setting, nbytes):
        return min(nbytes, 50) if nbytes > 10 else None

    def fit(self, shape, settings):
        self.calls.append((self.is_rough, shape, [setting["place"] for setting in settings]))
        losses = [-1.0 if not self.is_rough and s["place"] == 2 else float(s["place"]) for s in settings]
        stored = {"all": np.zeros(shape, np.uint8)}
        return [Budgeted("recorded", lambda X: X, stored, loss, s) for s, loss in zip(settings, losses, strict=True)]


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr(Recorded, "calls", [])
    return Recorded.calls


def test_the_best_few_are_fitted_again(calls):
    best = tune_each(Recorded, problem_of("values"), [20])[20]
    assert calls == [(True, 20, list(range(N_ROUGH))), (False, 20, list(range(N_THOROUGH)))]
    assert (best.settings, best.loss, best.n_tried) == ({"place": 2}, -1.0, N_ROUGH)


def test_budgets_of_one_shape_share_their_fits(calls):
    found = tune_each(Recorded, problem_of("values"), [5, 60, 70])
    assert found[5] is None
    assert found[60].nbytes == found[70].nbytes == 50
    assert len(calls) == 2
