"""The rule by which peers are tuned: which rows they are fitted to, and which loss is reported."""

import numpy as np
import pytest

from repsketch.compare import tuning
from repsketch.compare.peer import PeerModel
from repsketch.compare.tuning import PeerMethod, tune_each
from repsketch.train.training_data import TrainingData

DATA = TrainingData.of(np.zeros((100, 1), np.float32), np.zeros((100, 1)), None, "regression")


def method(losses):
    """A kind of peer whose validation loss is that of the rows it is fitted to; its one array says which these were."""

    class Told(PeerMethod):
        name = "told"

        def settings(self, nbytes):
            return [{"rate": rate} for rate in (1, 2, 3)]

        def shape(self, setting, nbytes):
            return 1

        def fit(self, shape, settings):
            rows = "all" if self.data.trains_on_all else "screening" if self.is_screening else "training"
            stored = {"rows": np.array([len(self.data.train_rows)], np.uint8)}
            return [PeerModel(rows, lambda X: X, stored, losses[rows] / s["rate"], s) for s in settings]

    return Told


@pytest.mark.parametrize(
    ("losses", "rows", "n_rows"),
    [
        ({"screening": 9.0, "training": 6.0, "all": 3.0}, "all", 100),
        ({"screening": 9.0, "training": 6.0, "all": 7.0}, "training", 80),  # a last training that failed
        ({"screening": 5.0, "training": 6.0, "all": 7.0}, "screening", 20),
    ],
)
def test_the_loss_is_that_on_rows_not_seen(losses, rows, n_rows, monkeypatch):
    monkeypatch.setattr(tuning, "SCREENING_ROWS", 20)
    model = tune_each(method(losses), DATA, [64])[64]
    assert (model.name, int(model.stored["rows"][0]), model.settings) == (rows, n_rows, {"rate": 3})
    assert model.loss == min(losses["screening"], losses["training"]) / 3
    assert model.n_tried == 3


def test_the_best_of_few_rows_is_kept_when_the_time_is_over(monkeypatch):
    monkeypatch.setattr(tuning, "SCREENING_ROWS", 20)
    losses = {"screening": 9.0, "training": 6.0}
    names = [
        tune_each(method(losses), DATA, [64], is_quick=True, is_late=lambda late=late: late)[64].name
        for late in (True, False)
    ]
    assert names == ["screening", "training"]


@pytest.mark.parametrize(("max_rows", "rows"), [(100, "all"), (99, "training")])
def test_large_tables_are_not_fitted_again(max_rows, rows, monkeypatch):
    monkeypatch.setattr(tuning, "MAX_RETRAINED_ROWS", max_rows)
    assert tune_each(method({"screening": 9.0, "training": 6.0, "all": 3.0}), DATA, [64])[64].name == rows
