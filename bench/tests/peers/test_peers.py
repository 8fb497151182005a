"""Every peer on every kind of table: its bytes, what it learns, and that it predicts from what it stores."""

from itertools import pairwise, product

import numpy as np
import pytest

from repsketch.compare import boosted, linear, network
from repsketch.compare import peers as quick
from repsketch.compare.peer import validation_loss
from repsketch.compare.tuning import N_SCREENED
from repsketch.errors import InputError
from repsketch.train.training_data import TrainingData
from repsketch_bench.peers import PEERS, descent
from repsketch_bench.peers.networks import Networks
from support.datasets import BUDGETS, data_of, rows_of

TREES = ("boosted trees", "forest")
PLACES = ("dense", "numbers", "bits", "columns", "starts")
D = 2 + 1 + 1 + 4  # numbers, the mark of the one with gaps, a truth value, categories


def offset_nbytes(data):
    return data.n_outputs * (4 if data.task == "regression" else 2)


def gain_nbytes(data):
    """One gain for all classes, one for each value."""
    return 2 if data.task == "classification" else 4 * data.n_outputs


def missing_offset(model, data):
    """Bytes of the offsets of a small network, which it does without."""
    return 0 if "offset" in model.stored else offset_nbytes(data)


def counted(model, data):
    """Bytes by formula, from sizes alone."""
    settings, n_outputs = model.settings, data.n_outputs
    if model.name in TREES:
        leaves = model.stored["leaves"]
        splits = len(leaves) - settings["n_trees"]
        is_hard = leaves.dtype == np.uint8
        return 3 * splits + leaves.size + (0 if is_hard else 2 + offset_nbytes(data))
    inputs = sum(model.stored[name].nbytes for name in ("centers", "scales", "columns") if name in model.stored)
    if model.name == "linear":
        return inputs + (settings["widths"][0] + 2) * n_outputs + offset_nbytes(data)
    if model.name == "int8 network":
        widths = settings["widths"]
        weights = sum(a * b for a, b in pairwise(widths))
        floats = gain_nbytes(data) + offset_nbytes(data) - missing_offset(model, data)
        return inputs + weights + 2 * sum(widths[1:-1]) + floats
    if model.name == "Fourier features":
        return inputs + 4 + 2 + settings["n_features"] * n_outputs + 2 * n_outputs + offset_nbytes(data)
    if model.name == "prototypes":
        p, m = settings["n_components"], settings["n_points"]
        return inputs + (D + 2) * p + m * p + 2 + (m + 2) * n_outputs + offset_nbytes(data)
    widths = settings["widths"]
    size = sum(
        model.stored[f"{name} {layer}"].nbytes
        for name, layer in product(PLACES, range(len(widths) - 2))
        if f"{name} {layer}" in model.stored
    )
    outputs = widths[-2] * n_outputs + gain_nbytes(data) + offset_nbytes(data)
    return inputs + size + 2 * sum(widths[1:-1]) + outputs - missing_offset(model, data)


def test_bytes_are_within_the_budget_and_those_of_what_is_stored(fitted, data):
    for budget, model in fitted.items():
        assert model is not None
        assert model.nbytes == counted(model, data)
        assert 0 < model.nbytes <= budget


def test_learns_numbers_categories_and_gaps(fitted, data):
    constant = data.objective(data.train_rows, 0.0).start()
    floor = data.validation_objective.loss(np.repeat(constant[None], len(data.validation_rows), axis=0))
    small, large = (fitted[budget] for budget in BUDGETS)
    share = 0.85 if large.name in ("linear", "forest") else 0.6
    assert large.loss < share * floor
    assert small.loss < 0.9 * floor


def test_the_loss_is_that_of_the_outputs(fitted, data, peer):
    if isinstance(peer, Networks):
        return  # their loss is that of models that had not seen these rows: test_networks.py
    for model in fitted.values():
        outputs = model.outputs(data.X[data.validation_rows])
        assert outputs.shape == (len(data.validation_rows), data.n_outputs)
        assert validation_loss(data, outputs) == pytest.approx(model.loss)


def test_predicts_from_what_it_stores(fitted, data):
    """Changing any of the stored numbers changes what is predicted; of places, only which there are is."""
    model, X = fitted[BUDGETS[1]], rows_of(9)
    before = model.outputs(X)
    for name, array in model.stored.items():
        if name.startswith(("centers", "scales", "columns", "bits", "starts")):
            continue
        old = array.copy()
        array[...] = array[::-1] if not np.array_equal(array, array[::-1]) else array + 1
        is_changed = not np.array_equal(before, model.outputs(X))
        array[...] = old
        assert is_changed, name
    assert np.array_equal(model.outputs(X), before)


def test_trees_have_leaves_on_one_grid(fitted, data):
    """Values are integer multiples of the stored step above the stored offset."""
    model = fitted[BUDGETS[1]]
    if model.name != "boosted trees":
        return
    step = (model.stored["step"].astype(np.uint32) << 16).view(np.float32)[0]
    offset = model.stored["offset"]
    shift = (offset.astype(np.uint32) << 16).view(np.float32) if offset.dtype == np.uint16 else offset
    steps = (model.outputs(data.X) - shift) / step
    assert np.abs(steps - np.rint(steps)).max() < 1e-3
    assert model.stored["leaves"].dtype == np.int8


@pytest.mark.parametrize("name", PEERS)
def test_the_same_seed_gives_the_same_model(name, monkeypatch):
    monkeypatch.setattr(descent, "SCREENING_STEPS", 10)
    monkeypatch.setattr(descent, "FINAL_STEPS", 30)
    data, peer = data_of("two classes"), PEERS[name]
    first, again = (dict(peer.models(data, [200], seed=5, is_quick=True))[200] for _ in range(2))
    assert {key: array.tobytes() for key, array in first.stored.items()} == {
        key: array.tobytes() for key, array in again.stored.items()
    }
    assert first.outputs(data.X).tobytes() == again.outputs(data.X).tobytes()


@pytest.mark.parametrize("name", PEERS)
def test_nothing_is_so_small(name):
    assert dict(PEERS[name].models(data_of("three classes"), [9]))[9] is None


def test_a_teacher_is_needed_to_be_taught():
    with pytest.raises(InputError, match="have no soft labels"):
        boosted.fit(data_of("values", has_soft_labels=False), 100, is_distilled=True)


def test_without_a_teacher():
    data = data_of("three classes", has_soft_labels=False)
    models, left_out = quick.fit_peers(data, 400)
    assert [model.name for model in models] == ["boosted trees", "int8 network", "linear"]
    assert all(model.nbytes <= 400 for model in models)
    assert [model.settings["mixture"] for model in models] == [0.0, 0.0, 0.0]
    assert left_out == {}


def test_kinds_that_are_not_so_small_are_left_out():
    models, left_out = quick.fit_peers(data_of("two classes"), 12)
    assert [model.name for model in models] == ["boosted trees"]
    assert left_out == dict.fromkeys(("int8 network", "linear"), "none is as small as 12 bytes")


def test_one_method_at_a_time():
    data = data_of("two classes")
    models = [module.fit(data, 128, seed=1, is_distilled=True) for module in (network, linear)]
    assert [model.n_tried for model in models] == [N_SCREENED, N_SCREENED]
    assert all(model.nbytes <= 128 for model in models)


RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(60, 2)).astype(np.float32)
COIN = np.float64(RNG.random((60, 1)) > 0.5)
ODD = {
    "two rows": (NUMBERS[:2], np.array([[0.0], [1.0]]), "classification"),
    "constant columns": (np.ones((60, 2), np.float32), COIN, "classification"),
    "nothing but gaps": (np.full((60, 1), np.nan, np.float32), COIN, "regression"),
    "a constant to learn": (NUMBERS, np.ones((60, 1)), "regression"),
    "several values": (NUMBERS, np.hstack([COIN, 1.0 - COIN, COIN]), "regression"),
    "a class of one": (NUMBERS, np.eye(3)[[0, 1] + [2] * 58], "classification"),
    "soft labels": (NUMBERS, np.hstack([0.2 * COIN + 0.1, 0.9 - 0.2 * COIN]), "classification"),
    "huge values": (NUMBERS * np.float32(1e30), COIN, "classification"),
}


@pytest.mark.parametrize("has_lightgbm", [True, False])
@pytest.mark.parametrize("case", ODD)
def test_odd_data_have_peers_too(case, has_lightgbm, monkeypatch):
    X, labels, task = ODD[case]
    data = TrainingData.of(X, labels, None, task)
    if not has_lightgbm:
        monkeypatch.setattr(quick, "find_spec", lambda name: None)
    models, left_out = quick.fit_peers(data, 300)
    assert len(models) + len(left_out) == 3
    assert {"int8 network", "linear"} <= {model.name for model in models}
    for model in models:
        assert model.nbytes <= 300
        assert np.isfinite(model.outputs(X)).all()
        assert model.outputs(X).shape == labels.shape
