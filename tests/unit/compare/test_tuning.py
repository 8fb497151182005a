"""The rule by which peers are tuned: which rows they are fitted to, and which loss is reported."""

import numpy as np
import pytest

from repsketch.compare import tuning
from repsketch.compare.peer import PeerModel
from repsketch.compare.tuning import PeerMethod, tune_each
from repsketch.train.training_data import TrainingData

ZEROS = np.zeros((100, 1))
DATA = TrainingData.of(ZEROS.astype(np.float32), ZEROS, None, "regression", loss="absolute_error")


def method(losses, on_all_rows=None):
    """A kind of peer whose validation loss is that of the rows it is fitted to; its one array says which these were.

    Its outputs have that loss for all rows, too, or ``on_all_rows``.
    """

    class Told(PeerMethod):
        name = "told"

        def settings(self, nbytes):
            return [{"rate": rate} for rate in (1, 2, 3)]

        def shape(self, setting, nbytes):
            return 1

        def fit(self, shape, settings):
            rows = "all" if self.data.trains_on_all else "screening" if self.is_screening else "training"
            stored = {"rows": np.array([len(self.data.train_rows)], np.uint8)}
            return [
                PeerModel(rows, constant(losses[rows] / s["rate"]), stored, losses[rows] / s["rate"], s)
                for s in settings
            ]

    def constant(loss):
        return lambda X: np.full((len(X), 1), loss if on_all_rows is None else on_all_rows)

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


@pytest.mark.parametrize(("on_all_rows", "rows"), [(1.1, "all"), (0.9, "training")])
def test_the_last_training_is_compared_on_the_same_rows(on_all_rows, rows):
    """The chosen model may be better on all rows than on those that it has not seen."""
    losses = {"screening": 9.0, "training": 6.0, "all": 3.0}
    assert tune_each(method(losses, on_all_rows), DATA, [64])[64].name == rows


@pytest.mark.parametrize(("max_rows", "rows"), [(100, "all"), (99, "training")])
def test_large_tables_are_not_fitted_again(max_rows, rows, monkeypatch):
    monkeypatch.setattr(tuning, "MAX_RETRAINED_ROWS", max_rows)
    assert tune_each(method({"screening": 9.0, "training": 6.0, "all": 3.0}), DATA, [64])[64].name == rows
