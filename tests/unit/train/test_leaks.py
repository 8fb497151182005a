"""Validation rows change nothing that is trained, by perturbation; soft labels stay with their rows."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.train.greedy import grow_rows
from repsketch.train.selection import informative_labels
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.stage_trials import StageRows, StageTrials
from repsketch.train.stages import Schedule, train
from repsketch.train.training_data import MAX_VALIDATION_ROWS, TrainingData

N, N_LABELS = 400, 90


def made(task: str = "classification") -> TrainingData:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6)).astype(np.float32) * np.float32([1, 5, 0.1, 1, 1, 1])
    X[:, 5] = rng.integers(0, N_LABELS, N)
    y = X[:, 0] + X[:, 1] / 5 if task == "regression" else (X[:, 0] + X[:, 1] / 5 > 0).astype(float)
    return TrainingData.of(X, y[:, None], 0.9 * y[:, None] + 0.05, task, n_categories={5: N_LABELS}, seed=1)


def perturbed(data: TrainingData) -> TrainingData:
    """The same data with other inputs, labels and soft labels in its validation rows."""
    X, labels, soft_labels = data.X.copy(), data.labels.copy(), data.soft_labels.copy()
    rows = data.validation_rows
    X[rows, :5] = X[rows, :5] * 1_000 + 77
    X[rows, 5] = 3
    labels[rows], soft_labels[rows] = 1.0 - labels[rows], 1.0 - soft_labels[rows]
    return replace(data, X=X, labels=labels, soft_labels=soft_labels)


@pytest.fixture(params=["classification", "regression"])
def pair(request):
    data = made(request.param)
    return data, perturbed(data)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_values_are_scaled_by_the_training_rows(loss):
    rng = np.random.default_rng(0)
    X, y = np.zeros((N, 1), np.float32), rng.normal(size=(N, 1))
    data = TrainingData.of(X, y, None, "regression", loss=loss, level=0.9)
    changed = y.copy()
    changed[data.validation_rows] = 1_000.0
    again = TrainingData.of(X, changed, None, "regression", loss=loss, level=0.9)
    assert (data.unit.tolist(), data.middle.tolist()) == (again.unit.tolist(), again.middle.tolist())
    center = {"squared_error": np.mean, "absolute_error": np.median}.get(loss, lambda values: np.quantile(values, 0.9))
    assert data.middle[0] == pytest.approx(center(y[data.train_rows]))


def test_weights_stay_with_their_rows():
    data = made()
    marks = np.abs(data.X[:, 0].astype(float))
    marked = replace(data, weights=marks)
    rows = data.train_rows[::7]
    assert marked.objective(rows, 0.5).weights.tolist() == marks[rows].tolist()
    some = marked.subset(100, seed=0)
    assert some.weights.tolist() == np.abs(some.X[:, 0].astype(float)).tolist()
    assert StageRows(marked).scaled(StageRecipe(0.0))[1].weights.tolist() == marks[data.validation_rows].tolist()


def test_column_ranges(pair):
    for name in ("ranged", "finely_ranged", "standard"):
        one, other = (getattr(data, name) for data in pair)
        assert one.centers.tobytes() == other.centers.tobytes()
        assert one.scales.tobytes() == other.scales.tobytes()
    for scaling in ("standard", "scaled", "common"):
        one, other = (data.projected(scaling) for data in pair)
        assert one.scales.tobytes() == other.scales.tobytes()


def test_borders_columns_and_labels(pair):
    one, other = (data.thresholds(data.ranged)[0] for data in pair)
    assert [border.tolist() for border in one.borders] == [border.tolist() for border in other.borders]
    assert pair[0].narrowed(2).columns.tolist() == pair[1].narrowed(2).columns.tolist() == [0, 1]
    labels = {5: tuple(map(str, range(N_LABELS)))}
    one, other = (informative_labels(data, labels) for data in pair)
    assert one[5].tolist() == other[5].tolist()


def test_greedy_rows(pair):
    grown = []
    for data in pair:
        codes, _ = data.thresholds(data.ranged)
        grown.append(grow_rows(codes, data.objective(data.train_rows, 0.5), 5, 2))
    assert grown[0].codes.tolist() == grown[1].codes.tolist()
    assert grown[0].values.tobytes() == grown[1].values.tobytes()


@pytest.mark.parametrize("recipe", [StageRecipe(0.5, 1), StageRecipe(0.5, 2, "relu", sparsity=0.5)], ids=str)
def test_stages(pair, recipe):
    """Validation rows decide which step of the same training is taken, and nothing else: here there is one check."""
    trained = []
    for data in pair:
        trials = StageTrials(StageRows(data), recipe)
        assert trials.inputs.scales.tobytes() == StageTrials(StageRows(pair[0]), recipe).inputs.scales.tobytes()
        rows = trials.rows.scaled(trials.recipe)
        loss = "logistic" if data.task == "classification" else "squared"
        one_check = replace(rows[1], values=rows[1].values[:1], labels=rows[1].labels[:1], soft_labels=None)
        found = train(
            rows[0],
            one_check,
            trials.sizes.shape(4, trials.recipe.sparsity),
            Schedule(n_steps=1),
            loss=loss,
            largest=400,
        )
        trained.append(found.parameters)
    assert all(trained[0][name].tobytes() == trained[1][name].tobytes() for name in trained[0])


def test_stages_are_stopped_by_the_validation_loss():
    """Labels that are wrong in the validation rows: their loss rises from the first check on."""
    data = made()
    trials = StageTrials(StageRows(data), StageRecipe(0.5, 1))
    train_rows, validation = trials.rows.scaled(trials.recipe)
    wrong = replace(validation, labels=1.0 - validation.labels)
    late, early = (
        train(train_rows, rows, trials.sizes.shape(4, trials.recipe.sparsity), Schedule(n_steps=400), loss="logistic")
        for rows in (validation, wrong)
    )
    steps = [min(found.checks, key=lambda check: check[1])[0] for found in (late, early)]
    assert steps[1] < steps[0]
    assert late.parameters["counters"].tobytes() != early.parameters["counters"].tobytes()


def test_soft_labels_stay_with_their_rows():
    data = made()
    marked = replace(data, soft_labels=data.X[:, :1].astype(np.float64))
    few = marked.subset(50, seed=3)
    assert len(few.train_rows) == 50
    assert few.soft_labels[:, 0].tolist() == few.X[:, 0].tolist()
    rows = marked.train_rows[[5, 2, 9]]
    train_rows, _ = StageRows(marked).scaled(StageRecipe(0.0))
    assert train_rows.soft_labels[:, 0].tolist() == marked.X[marked.train_rows, 0].tolist()
    assert marked.objective(rows, 1.0).targets[:, 0].tolist() == marked.X[rows, 0].tolist()


def test_soft_labels_of_a_regression_are_in_the_units_of_its_labels():
    rng = np.random.default_rng(0)
    y = 1_000.0 + 50.0 * rng.normal(size=(N, 1))
    data = TrainingData.of(rng.normal(size=(N, 2)).astype(np.float32), y, None, "regression")
    given = data.with_soft_labels(y)
    np.testing.assert_allclose(given.soft_labels, data.labels)
    np.testing.assert_allclose(given.soft_labels * data.unit + data.middle, y)
    at_once = TrainingData.of(data.X, y, y, "regression")
    np.testing.assert_allclose(at_once.soft_labels, at_once.labels)


@pytest.mark.parametrize(
    ("n_rows", "n_validation"), [(39_999, 7_999), (40_000, 8_000), (40_005, 8_000), (60_000, 8_000)]
)
def test_at_most_so_many_validation_rows(n_rows, n_validation):
    assert MAX_VALIDATION_ROWS == 8_000
    data = TrainingData.of(np.zeros((n_rows, 1), np.float32), np.zeros((n_rows, 1)), None, "classification")
    assert len(data.validation_rows) == n_validation
    assert len(data.train_rows) == n_rows - n_validation


@pytest.mark.parametrize(("n_rows", "trains_on_all"), [(24, True), (25, False)])
def test_few_rows_are_all_trained_on(n_rows, trains_on_all):
    data = TrainingData.of(np.zeros((n_rows, 1), np.float32), np.zeros((n_rows, 1)), None, "classification")
    assert data.trains_on_all == trains_on_all
    assert len(data.train_rows) == (n_rows if trains_on_all else n_rows - n_rows // 5)
