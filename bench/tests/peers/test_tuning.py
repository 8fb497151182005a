"""The rule of tuning: cheap fits of all settings, few again, the best by validation loss; nothing fitted twice."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.compare.peer import PeerModel
from repsketch.compare.tuning import N_FINAL, N_SCREENED, PeerMethod, tune_each
from repsketch_bench.peers import PEERS, TunedPeer
from support.datasets import data_of


class Recorded(PeerMethod):
    """A kind whose loss is its setting, but for the third best, which is the best on all rows."""

    name, calls = "recorded", []

    def settings(self, nbytes):
        return [{"place": place} for place in range(N_SCREENED)]

    def shape(self, setting, nbytes):
        return min(nbytes, 50) if nbytes > 10 else None

    def fit(self, shape, settings):
        self.calls.append((len(self.data.train_rows), shape, [setting["place"] for setting in settings]))
        losses = [-1.0 if not self.is_screening and s["place"] == 2 else float(s["place"]) for s in settings]
        stored = {"all": np.zeros(shape, np.uint8)}
        return [PeerModel("recorded", lambda X: X, stored, loss, s) for s, loss in zip(settings, losses, strict=True)]


@pytest.fixture
def calls(monkeypatch):
    monkeypatch.setattr(Recorded, "calls", [])
    return Recorded.calls


def test_the_best_few_are_fitted_again(calls):
    best = tune_each(Recorded, data_of("values"), [20])[20]
    assert calls == [(560, 20, list(range(N_SCREENED))), (560, 20, list(range(N_FINAL))), (700, 20, [2])]
    assert (best.settings, best.loss, best.n_tried) == ({"place": 2}, -1.0, N_SCREENED)


def test_budgets_of_one_shape_share_their_fits(calls):
    found = tune_each(Recorded, data_of("values"), [5, 60, 70])
    assert found[5] is None
    assert found[60].nbytes == found[70].nbytes == 50
    assert len(calls) == 3


def test_in_a_hurry_nothing_is_trained_again(calls):
    tune_each(Recorded, data_of("values"), [20], is_quick=True)
    assert calls == [(560, 20, [0, 12, 23, 35]), (560, 20, [0])]


TUNED = [name for name, peer in PEERS.items() if isinstance(peer, TunedPeer)]


@pytest.mark.parametrize("name", TUNED)
@pytest.mark.parametrize("nbytes", [1_000, 4_000, 60_000])
def test_every_peer_tries_as_many_settings(name, nbytes):
    peer = PEERS[name]
    kind = peer.kind(data_of("two classes"), is_distilled=peer.is_distilled, seed=0, largest=nbytes, is_screening=True)
    settings = list(kind.settings(nbytes))
    assert len({repr(setting) for setting in settings}) == len(settings) == N_SCREENED


@pytest.mark.parametrize("name", TUNED)
def test_the_final_model_has_seen_all_rows(name):
    """It is another model, as large, and what was chosen on the validation rows stays."""
    data, peer = data_of("two classes"), PEERS[name]
    options = {"is_distilled": peer.is_distilled, "seed": 2, "largest": 300, "is_screening": True}
    kind = peer.kind(data, **options)
    setting, chosen = kind.fit_all(list(kind.settings(300))[3:4], 300)[0]
    again = peer.kind(data.on_all_rows(), **options).fit_again(chosen, setting, 300)
    assert again.nbytes <= 300
    assert not np.array_equal(again.outputs(data.X), chosen.outputs(data.X))
    for key in ("stopped", "n_trees"):
        assert again.settings.get(key) == pytest.approx(chosen.settings.get(key), abs=0.1)


def perturbed(data):
    """The same data with other inputs, labels and soft labels in its validation rows."""
    X, labels, soft_labels = data.X.copy(), data.labels.copy(), data.soft_labels.copy()
    rows = data.validation_rows
    X[rows] = np.where(data.kinds > 0, 1.0, 1_000.0 - 3.0 * X[rows])
    labels[rows], soft_labels[rows] = 1.0 - labels[rows], 1.0 - soft_labels[rows]
    return replace(data, X=X, labels=labels, soft_labels=soft_labels)


@pytest.mark.parametrize("task", ["two classes", "values"])
@pytest.mark.parametrize("name", TUNED)
def test_validation_rows_change_nothing_that_is_fitted(name, task):
    """They choose the setting and the point of early stopping; with both given, the model is the same."""
    peer, data = PEERS[name], data_of(task)
    options = {"is_distilled": peer.is_distilled, "seed": 2, "largest": 300, "is_screening": True}
    kind = peer.kind(data, **options)
    setting, chosen = kind.fit_all(list(kind.settings(300))[3:4], 300)[0]
    one, other = (peer.kind(each, **options).fit_again(chosen, setting, 300) for each in (data, perturbed(data)))
    assert one.loss != other.loss
    assert {key: array.tobytes() for key, array in one.stored.items()} == {
        key: array.tobytes() for key, array in other.stored.items()
    }
