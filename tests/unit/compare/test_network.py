"""Network peers: sizes, settings, steps, soft labels and weights; what is trained is what is stored."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.compare.network import MAX_UNITS, Network, shape_of
from repsketch.compare.tuning import N_SCREENED, tune_each
from repsketch.errors import InputError
from repsketch.train.stage_trials import StageRows, StageTrials
from repsketch.train.stage_work import MAX_EPOCHS, MIN_STEP_SHARE
from repsketch.train.stages import Schedule
from repsketch.train.training_data import TrainingData

PLAIN = {
    "n_hidden": 1, "learning_rate": 0.02, "weight_decay": 0.0, "noise": 0.0, "scaling": "standard",
    "mixture": 0.0,
}  # fmt: skip


def curved(n: int = 1_500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(seed).normal(size=(n, 3)).astype(np.float32)
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] > 0).astype(float)[:, None]


def data_of(n: int = 1_500, **options) -> TrainingData:
    return TrainingData.of(*curved(n), None, "classification", **options)


def method_of(data, is_distilled=False, **options):
    return Network(data, **{"seed": 0, "is_distilled": is_distilled, "largest": 4_096, "is_screening": True} | options)


def fitted(data, change=None, nbytes=500, **options):
    ((_, model),) = method_of(data, **options).fit_all([PLAIN | (change or {})], nbytes)
    return model


def accuracy_of(model, X, labels) -> float:
    return float(((model.outputs(X) > 0) == (labels > 0.5)).mean())


def test_settings_are_those_that_were_promised():
    data = data_of()
    settings = list(method_of(data).settings(1_024))
    assert len(settings) == N_SCREENED
    assert all(settings.count(setting) == 1 for setting in settings)
    tried = {name: {setting[name] for setting in settings} for name in settings[0]}
    assert tried["n_hidden"] == {1, 2, 3}
    assert tried["learning_rate"] == {0.005, 0.01, 0.02, 0.04}
    assert tried["weight_decay"] == {0.0, 0.03, 0.1, 0.3, 1.0}
    assert tried["scaling"] == {"standard", "scaled", "common"}
    assert len(tried["noise"]) == 5
    assert tried["mixture"] == {0.0}
    soft = data.with_soft_labels(data.labels)
    assert {setting["mixture"] for setting in method_of(soft, True).settings(1_024)} == {0.5, 0.9, 0.0}


def test_quick_tunings_try_the_first_settings():
    method = method_of(data_of())
    few = method.few_settings(1_024, 4)
    assert few == list(method.settings(1_024))[:4]
    assert {setting["n_hidden"] for setting in few} == {1, 2}
    assert {setting["scaling"] for setting in few} == {"standard", "common"}


@pytest.mark.parametrize("n_hidden", [1, 2, 3])
def test_networks_are_as_wide_as_the_bytes_allow(n_hidden):
    data = data_of(100)
    setting = PLAIN | {"n_hidden": n_hidden}
    assert MAX_UNITS == 1_024
    assert method_of(data).shape(setting, 1 << 23).widths[0] == MAX_UNITS
    for nbytes in (60, 200, 1_500):
        shape = method_of(data).shape(setting, nbytes)
        model = fitted(data, setting, nbytes, step_share=0.01)
        wider = shape_of(setting, shape.widths[0] + 1)
        assert (
            model.nbytes <= nbytes < model.nbytes + method_of(data).nbytes_of(wider) - method_of(data).nbytes_of(shape)
        )
    assert method_of(data).shape(setting, 12) is None


def test_bytes_are_fewer_than_those_of_our_own_model():
    """Of the same network: no headers, and two bytes a gain and an offset instead of four."""
    data = data_of(300)
    model, shape = fitted(data, step_share=0.01), method_of(data).shape(PLAIN, 500)
    ours = StageTrials(StageRows(data), method_of(data)._trials(PLAIN).recipe).sizes.nbytes(shape)
    assert model.nbytes == ours - 32 - 8 - 4


def test_constant_columns_take_one_bit():
    X, labels = curved(300)
    wide = np.hstack([X[:, :1], np.full((300, 12), 7.0, np.float32), X[:, 1:]])
    one, two = (fitted(TrainingData.of(table, labels, None, "classification"), nbytes=200) for table in (X, wide))
    assert one.settings["widths"][0] == two.settings["widths"][0] == 3
    assert two.stored["columns"].nbytes == 2
    np.testing.assert_array_equal(one.stored["matrix 0"].shape, two.stored["matrix 0"].shape)


@pytest.mark.parametrize(("is_screening", "n_steps"), [(True, 1_500), (False, 12_000)])
def test_steps_are_those_of_our_own_models(is_screening, n_steps):
    """All steps for a small network, fewer for a large one and for few rows."""
    data = data_of(4_000)
    method = method_of(data, is_screening=is_screening)
    assert method._steps == n_steps
    trials = method._trials(PLAIN)
    few = MAX_EPOCHS * (len(data.train_rows) // 256)
    assert trials.n_steps(shape_of(PLAIN, 10), n_steps) == min(few, n_steps)
    assert trials.n_steps(shape_of(PLAIN | {"n_hidden": 2}, 1_024), n_steps) == n_steps * MIN_STEP_SHARE
    if is_screening:
        model = fitted(data, {"n_hidden": 1}, nbytes=100, step_share=0.5)
        assert model.settings["n_steps"] == 750


def test_hyper_parameters_reach_the_training(monkeypatch):
    seen = []

    def record(train, validation, shape, schedule, **options):
        seen.append((schedule, options["loss"], options["level"]))
        raise InputError("seen enough")

    monkeypatch.setattr("repsketch.train.stage_trials.train", record)
    labels = curved()[1]
    data = TrainingData.of(curved()[0], labels, labels, "regression", loss="quantile", level=0.8)
    change = {"learning_rate": 0.04, "weight_decay": 0.3, "noise": 0.6, "mixture": 0.7}
    with pytest.raises(InputError, match="every fit of int8 network failed"):
        fitted(data, change, is_distilled=True)
    assert seen == [(Schedule(1_500, 0.04, 0.3, 0.6, 0.7), "quantile", 0.8)]


def test_weight_decay_shrinks_weights():
    """Matrices are stored with steps of their own, so that the outputs say how large weights are."""
    X, _ = curved()
    sizes = [np.abs(fitted(data_of(), {"weight_decay": decay}).outputs(X)).mean() for decay in (0.0, 100.0)]
    assert sizes[1] < 0.7 * sizes[0]


def test_the_best_parameters_are_taken_not_the_last():
    """With wrong validation labels, the loss there rises while the network is trained: an earlier one is taken."""
    data = data_of()
    wrong = replace(data, labels=data.labels.copy())
    wrong.labels[data.validation_rows] = 1.0 - wrong.labels[data.validation_rows]
    last, first = fitted(data), fitted(wrong)
    X_test, y_test = curved(seed=1)
    losses = [float(np.logaddexp(0.0, (1.0 - 2.0 * y_test) * -m.outputs(X_test)).mean()) for m in (last, first)]
    assert losses[1] < 0.95 * losses[0]  # of the wrong labels


def test_soft_labels_are_learned_from():
    """Labels of training rows are mostly noise; the teacher knows better."""
    X, truth = curved()
    data = TrainingData.of(X, truth, 0.98 * truth + 0.01, "classification")
    rows = data.train_rows[np.random.default_rng(2).random(len(data.train_rows)) < 0.4]
    data.labels[rows] = 1.0 - data.labels[rows]
    X_test, y_test = curved(seed=1)
    accuracies = [
        accuracy_of(fitted(data, {"mixture": mixture}, is_distilled=True), X_test, y_test) for mixture in (0.0, 0.9)
    ]
    assert accuracies[1] > accuracies[0] + 0.03


def test_rows_of_no_weight_are_not_learned_from():
    X, truth = curved()
    weights = np.where(np.arange(len(X)) % 3 > 0, 1.5, 0.0)
    labels = np.where(weights[:, None] > 0, truth, 1.0 - truth)
    X_test, y_test = curved(seed=1)
    with_weights, without = (
        fitted(TrainingData.of(X, labels, None, "classification", weights=each)) for each in (weights, None)
    )
    assert accuracy_of(with_weights, X_test, y_test) > accuracy_of(without, X_test, y_test) + 0.03


def test_validation_rows_change_no_input():
    data = data_of(300)
    other = replace(data, X=data.X.copy())
    other.X[data.validation_rows] = other.X[data.validation_rows] * 50 + 7
    one, two = (fitted(each, step_share=0.1).stored for each in (data, other))
    assert all(one[name].tobytes() == two[name].tobytes() for name in ("centers", "scales"))


@pytest.mark.parametrize("task", ["three classes", "values"])
def test_other_tasks(task):
    X = curved()[0]
    values = np.sin(2 * X[:, :1]) + X[:, 1:2]
    if task == "values":
        data = TrainingData.of(X, 1_000.0 + 50.0 * values, None, "regression")
    else:
        data = TrainingData.of(X, np.eye(3)[np.digitize(values[:, 0], [-0.5, 0.5])], None, "classification")
    model = fitted(data, {"n_hidden": 2})
    start = np.repeat(data.validation_objective.start()[None], len(data.validation_rows), axis=0)
    assert model.loss < 0.35 * data.validation_objective.loss(start)


def test_a_training_that_diverged_is_left_out(monkeypatch):
    fit = StageTrials.trained

    def diverge(self, shape, n_steps, is_late):
        if self.recipe.learning_rate > 0.03:
            raise InputError("offset must be 1 to 65536 finite numbers.")
        return fit(self, shape, n_steps, is_late)

    monkeypatch.setattr(StageTrials, "trained", diverge)
    found = method_of(data_of(200), step_share=0.01).fit_all([PLAIN, PLAIN | {"learning_rate": 0.04}], 300)
    assert [setting["learning_rate"] for setting, _ in found] == [0.02]


def test_fits_side_by_side_give_the_same_models():
    data, settings = data_of(300), [PLAIN | {"noise": noise} for noise in (0.0, 0.1, 0.3)]
    together = [model.stored for _, model in method_of(data, step_share=0.1).fit_all(settings, 300)]
    alone = [fitted(data, setting, 300, step_share=0.1).stored for setting in settings]
    for one, two in zip(together, alone, strict=True):
        assert {name: array.tobytes() for name, array in one.items()} == {n: a.tobytes() for n, a in two.items()}


@pytest.mark.slow
def test_a_full_tuning_fits_a_curve():
    X_test, y_test = curved(seed=1)
    model = tune_each(Network, data_of(), [512])[512]
    assert model.n_tried == N_SCREENED
    assert accuracy_of(model, X_test, y_test) > 0.93


def test_networks_are_given_up_when_the_time_is_over():
    assert method_of(data_of(200), is_late=lambda: True).fit_each([(shape_of(PLAIN, 2), PLAIN)]) == [None]
