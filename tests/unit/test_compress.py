"""compress: within the budget, the same bytes again, raw tables, odd shapes, and one clear error for each bad input."""

import os
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score

import repsketch as rs
from repsketch.compare import compare as comparing
from repsketch.compare import peers as quick
from repsketch.compare.comparison import Comparison
from repsketch.errors import InputError, RepSketchError
from repsketch.model.intervals import Intervals
from repsketch.sketch import CompiledSketch, from_bytes
from repsketch.teacher.default import default_teacher, untrained_teacher
from repsketch.teacher.out_of_fold import N_FOLDS
from repsketch.train import search as searching
from repsketch.train.budget import parse_budget

QUICK = {"random_state": 0, "progress": False}

pytestmark = pytest.mark.usefixtures("brief_search")


def people(n=600, seed=0):
    """A raw table with numbers, booleans, categories and missing values, and a label that follows from them."""
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "job": rng.choice(["clerk", "smith", "baker", "guard"], n),
            "member": rng.random(n) < 0.5,
            "constant": 1.0,
            "country": "Utopia",
        }
    )
    label = ((frame["age"] > 50) ^ (frame["job"] == "smith")).map({True: "yes", False: "no"})
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "job"] = None
    return frame, label.to_numpy()


@pytest.mark.parametrize("budget", [100, "256B", "1KB"])
def test_a_raw_table(budget):
    X, y = people()
    sketch = rs.compress(None, X, y, budget=budget, **QUICK)
    assert sketch.nbytes <= parse_budget(budget)
    assert (sketch.predict(X) == y).mean() > 0.85
    assert sketch.classes.tolist() == ["no", "yes"]
    again = from_bytes(sketch.to_bytes())
    np.testing.assert_array_equal(again.predict(X[["country", "constant", "member", "job", "age"]]), sketch.predict(X))
    unseen = X.assign(job="astronaut")
    np.testing.assert_array_equal(sketch.outputs(unseen), sketch.outputs(X.assign(job=None)))


def test_no_model_means_the_default_teacher():
    """The same for ``compress`` and the estimators, whose seed is drawn; the command line calls the same function."""
    X, y = load_iris(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, (y + 1) % 3, y)  # so that soft labels matter
    seed = int(np.random.RandomState(5).randint(2**31))
    teacher = default_teacher(X, y, None, seed=seed, progress=False)
    estimator = rs.SketchClassifier(budget=300, random_state=5).fit(X, y)
    for model in (None, teacher):
        sketch = rs.compress(model, X, y, budget=300, random_state=seed, progress=False)
        assert sketch.to_bytes() == estimator.sketch_.to_bytes(), model
    assert estimator.teacher_.score(X, y) > 0.75


def test_in_a_hurry_no_teacher_is_trained(monkeypatch):
    """With the fast effort the labels are all there is, unless a tolerance asks for a teacher's score."""
    X, y = load_iris(return_X_y=True)
    asked = []

    def untrained(*arguments, **options):
        asked.append(1)
        return untrained_teacher(*arguments, **options)

    monkeypatch.setattr("repsketch.teacher.default.untrained_teacher", untrained)
    sketch = rs.compress(None, X, y, budget=300, effort="fast", random_state=0, progress=False)
    assert (sketch.predict(X) == y).mean() > 0.85
    assert asked == []
    rs.compress(None, X, y, tolerance=0.1, effort="fast", random_state=0, progress=False)
    assert asked == [1]
    estimator = rs.SketchClassifier(budget=300, effort="fast", random_state=0).fit(X, y)
    assert estimator.teacher_ is None


def test_without_a_model_only_copies_of_the_teacher_are_trained(monkeypatch):
    """Where no copies can be trained, the teacher itself is."""
    X, y = load_iris(return_X_y=True)
    trained = []

    def train(*arguments, **options):
        trained.append(1)
        return default_teacher(*arguments, **options)

    monkeypatch.setattr("repsketch.teacher.default.default_teacher", train)
    rs.compress(None, X, y, budget=300, random_state=0, progress=False)
    assert trained == []
    few = np.arange(0, 150, 5)
    sketch = rs.compress(None, X[few], y[few], budget=300, random_state=0, progress=False)
    assert trained == [1]
    teacher = default_teacher(X[few], y[few], None, seed=0, progress=False)
    again = rs.compress(teacher, X[few], y[few], budget=300, random_state=0, progress=False)
    assert sketch.to_bytes() == again.to_bytes()


def test_values_of_several_columns_have_no_default_teacher(capsys):
    X = np.random.default_rng(0).normal(size=(80, 3))
    sketch = rs.compress(None, X, X[:, :2], task="regression", budget="1KB", random_state=0, progress=True)
    assert "y has 2 columns: no teacher is trained" in capsys.readouterr().err
    errors = np.abs(sketch.predict(X) - X[:, :2]).mean(axis=0)
    assert (errors < 0.5 * np.abs(X[:, :2]).mean(axis=0)).all()  # predicting 0 gets 1


def test_the_same_seed_gives_the_same_bytes():
    X, y = load_iris(return_X_y=True)
    teacher = LogisticRegression(max_iter=500).fit(X, y)
    files = [rs.compress(teacher, X, y, budget=300, random_state=seed, progress=False).to_bytes() for seed in (1, 1, 2)]
    assert files[0] == files[1] != files[2]


def test_a_teacher_with_and_without_labels():
    X, y = load_iris(return_X_y=True)
    teacher = LogisticRegression(max_iter=1000).fit(X, y)
    for labels in (None, y):
        sketch = rs.compress(teacher, X, labels, budget="512B", **QUICK)
        assert (sketch.predict(X) == teacher.predict(X)).mean() > 0.93
        assert sketch.nbytes <= 512


class Counting(LogisticRegression):
    """Remembers how many rows each copy was trained on."""

    sizes: ClassVar[list[int]] = []

    def fit(self, X, y):
        self.sizes.append(len(X))
        return super().fit(X, y)


@pytest.fixture
def searched(monkeypatch):
    """Arguments and result of the search."""
    seen = {}
    real = searching.search

    def search(data, *args, **kwargs):
        seen["data"], seen["trials"] = data, real(data, *args, **kwargs)
        return seen["trials"]

    monkeypatch.setattr(searching, "search", search)
    return seen


def test_soft_labels_are_out_of_fold(searched):
    """As many copies as folds, none of them trained on validation rows; the soft labels are those of the copies."""
    X, y = load_iris(return_X_y=True)
    Counting.sizes.clear()
    model = Counting(C=1e4).fit(X, y)
    rs.compress(model, X, y, budget="300B", **QUICK)
    data = searched["data"]
    assert len(Counting.sizes) == 1 + N_FOLDS
    assert sum(Counting.sizes[1:]) == (N_FOLDS - 1) * len(data.train_rows)
    assert np.abs(data.soft_labels - model.predict_proba(X)).max() > 0.01


def test_intervals_and_the_comparison_are_of_the_model_that_was_validated(searched, monkeypatch):
    """The deployed one was trained on the validation rows, too, and would look better there than it is."""
    X, y = load_diabetes(return_X_y=True)
    monkeypatch.setattr(quick, "fit_peers", lambda *_, **__: ([], {}))
    sketch = rs.compress(None, X, y, budget="300B", random_state=1, progress=False)
    data, (trial, *_) = searched["data"], searched["trials"]
    X, y, rows = data.X, (data.labels * data.unit + data.middle)[:, 0], data.validation_rows
    fitted, deployed = (CompiledSketch(model) for model in (trial.fitted, trial.retrained))
    assert np.abs(fitted.predict(X[rows]) - deployed.predict(X[rows])).max() > 0.1
    assert sketch.summary.rows[0]["score"] == pytest.approx(r2_score(y[rows], fitted.predict(X[rows])))
    expected = Intervals.of(fitted.outputs(X[rows]), y[rows, None])
    np.testing.assert_array_equal(sketch.model.intervals.quantiles, expected.quantiles)


@pytest.mark.parametrize("progress", [True, False])
def test_who_does_better_is_said_on_the_standard_error(monkeypatch, capsys, progress):
    row = {"name": "sketch", "nbytes": 5, "score": 2.0, "loss": 1.0}
    comparison = Comparison("accuracy", (row,), "Boosted trees did better.")
    monkeypatch.setattr(comparing, "compare", lambda *_: comparison)
    X, y = load_iris(return_X_y=True)
    sketch = rs.compress(None, X, y, budget="300B", random_state=0, progress=progress)
    assert sketch.summary.conclusion == "Boosted trees did better."
    out, err = capsys.readouterr()
    assert ("Boosted trees did better." in err) == progress
    assert out == ""


class TestGoals:
    """What is optimised is the user's choice."""

    X: ClassVar = np.random.default_rng(5).normal(size=(800, 2)).astype(np.float32)
    skewed: ClassVar = np.random.default_rng(6).exponential(size=800)
    coins: ClassVar = np.random.default_rng(7).random(800) < 0.5

    @pytest.mark.parametrize(
        ("options", "below"),
        [({}, 0.632), ({"loss": "absolute_error"}, 0.5), ({"loss": "quantile", "quantile": 0.9}, 0.9)],
    )
    def test_the_loss_decides_what_is_predicted(self, options, below):
        """Mean, median and quantile of exponential noise: they lie above 63, 50 and 90 % of the values."""
        sketch = rs.compress(None, self.X, self.skewed, budget=100, **QUICK, **options)
        assert (self.skewed < sketch.predict(self.X)).mean() == pytest.approx(below, abs=0.06)

    def test_weights_of_rows(self):
        weights = np.where(self.coins, 3.0, 1.0)
        sketch = rs.compress(None, self.X, self.coins, budget=100, sample_weight=weights, **QUICK)
        assert sketch.predict_proba(self.X)[:, 1].mean() == pytest.approx(0.75, abs=0.06)

    def test_weights_of_classes(self):
        y = np.where(self.skewed < 2.0, "usual", "rare")
        options = {"budget": 100, **QUICK}
        plain, balanced = (
            rs.compress(None, self.X, y, class_weight=weight, **options).predict_proba(self.X)[:, 0].mean()
            for weight in (None, "balanced")
        )
        assert plain == pytest.approx((y == "rare").mean(), abs=0.04)
        assert balanced == pytest.approx(0.5, abs=0.08)

    def test_the_metric_is_compared(self):
        sketch = rs.compress(None, self.X, self.X[:, 0] > 1.2, budget=100, metric="average_precision", **QUICK)
        assert sketch.summary.metric == "average_precision"
        assert all(0.0 < row["score"] <= 1.0 for row in sketch.summary.rows)

    def test_the_search_chooses_by_the_metric(self, searched):
        """Trials are ordered by the score, not by the loss."""
        rs.compress(None, self.X, self.X[:, 0] + self.X[:, 1] > 1.5, budget=200, metric="f1", **QUICK)
        data, trials = searched["data"], searched["trials"]
        truth = data.labels[data.validation_rows]
        scores = [
            data.metric.score(truth, CompiledSketch(trial.fitted).outputs(data.X[data.validation_rows]))
            for trial in trials
        ]
        losses = [trial.loss for trial in trials]
        np.testing.assert_allclose([-loss for loss in losses], scores, atol=0.05)
        assert losses[1:] == sorted(losses[1:])

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"loss": "squared_error"}, "is for regressions"),
            ({"metric": "accurracy"}, "did you mean 'accuracy'"),
            ({"sample_weight": [1.0]}, "one number for each of 800 rows"),
            ({"class_weight": {"maybe": 2.0}}, "class_weight names 'maybe'"),
        ],
    )
    def test_what_is_refused(self, options, said):
        with pytest.raises(InputError, match=said):
            rs.compress(LogisticRegression().fit(self.X, self.coins), self.X, self.coins, **QUICK, **options)


def test_regression():
    X, y = load_diabetes(return_X_y=True)
    sketch = rs.compress(None, X, y, budget="512B", **QUICK)
    assert sketch.task == "regression"
    assert np.abs(sketch.predict(X) - y).mean() < 0.75 * np.abs(np.median(y) - y).mean()


def linear_teacher(rng, X, n_outputs):
    """A function of n_outputs random sums of columns: a teacher that costs nothing."""
    weights = rng.normal(size=(X.shape[1], n_outputs))
    return lambda rows: np.nan_to_num(np.asarray(rows)) @ weights


SHAPES = {
    "two rows": (2, 3),
    "one column": (50, 1),
    "wide": (40, 10_000),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_odd_shapes(name, task):
    rng = np.random.default_rng(3)
    X = rng.normal(size=SHAPES[name])
    y = np.arange(len(X)) % 2 if task == "classification" else X[:, 0]
    teacher = None if name != "wide" else linear_teacher(rng, X, 1)  # trees of 10,000 columns take long
    sketch = rs.compress(teacher, X, y, budget="4KB", task=task, **QUICK)
    assert sketch.nbytes <= 4096
    assert np.isfinite(sketch.outputs(X)).all()


@pytest.mark.parametrize("budget", [90, "1KB"])
def test_a_target_that_never_changes(budget):
    X = np.random.default_rng(0).normal(size=(60, 12))
    sketch = rs.compress(None, X, np.full(60, 7.5), task="regression", budget=budget, **QUICK)
    np.testing.assert_allclose(sketch.predict(X), 7.5, atol=1e-3)


def test_duplicate_rows():
    X, y = load_iris(return_X_y=True)
    sketch = rs.compress(None, np.repeat(X[::10], 20, axis=0), np.repeat(y[::10], 20), budget="512B", **QUICK)
    assert (sketch.predict(X[::10]) == y[::10]).all()


def random_case(rng):
    """A table of any shape and kind, a target of any kind, and a budget."""
    n, d = int(rng.integers(2, 200)), int(rng.integers(1, 30))
    X = rng.normal(rng.normal(size=d), np.exp(rng.normal(size=d)), (n, d))
    kind = rng.integers(0, 3, d)
    X = np.where(kind == 1, X > 0, np.where(kind == 2, np.round(X), X))
    X[rng.random(X.shape) < rng.choice([0.0, 0.1])] = np.nan
    n_outputs = int(rng.integers(1, 6))
    if rng.random() < 0.3:
        y, task = rng.normal(size=(n, n_outputs)), "regression"
    else:
        y, task = np.concatenate([np.arange(2), rng.integers(0, n_outputs + 1, n - 2)]), "classification"
    return X, y, task, int(rng.integers(60, 5_000))


@pytest.mark.parametrize(
    ("batch", "n_cases"), [(0, 4), *(pytest.param(batch, 25, marks=pytest.mark.slow) for batch in range(8))]
)
def test_the_budget_is_never_exceeded(batch, n_cases):
    """25 random tables and budgets, eight times: 200. The fast tests take the first few."""
    rng = np.random.default_rng(batch)
    n_made = 0
    for _ in range(n_cases):
        X, y, task, budget = random_case(rng)
        n_outputs = y.shape[1] if task == "regression" else len(np.unique(y))
        try:
            sketch = rs.compress(linear_teacher(rng, X, n_outputs), X, y, task=task, budget=budget, **QUICK)
        except InputError:  # no sketch is so small
            continue
        n_made += 1
        assert sketch.nbytes <= budget
        assert from_bytes(sketch.to_bytes()).nbytes == sketch.nbytes
        assert np.isfinite(sketch.outputs(X)).all()
    assert n_made >= 0.75 * n_cases


def test_a_column_that_is_always_missing():
    X, y = load_iris(return_X_y=True)
    X[:, 1] = np.nan
    sketch = rs.compress(None, X, y, budget="512B", **QUICK)
    assert (sketch.predict(X) == y).mean() > 0.9


def test_constant_columns_and_a_class_with_one_member():
    y = np.array(["a"] * 30 + ["b"] * 29 + ["c"])
    sketch = rs.compress(None, np.ones((60, 3)), y, budget="1KB", **QUICK)
    noise = np.sqrt(0.5 * 0.5 / 48)  # of a class's share in the training rows
    assert np.abs(sketch.predict_proba(np.ones((1, 3)))[0] - np.array([30, 29, 1]) / 60).max() < 2 * noise


BAD = {
    "budget '4 kg'": (lambda X, y: rs.compress(None, X, y, budget="4 kg"), "budget='4 kg'; allowed"),
    "budget '0'": (lambda X, y: rs.compress(None, X, y, budget="0"), "budget='0'; allowed"),
    "budget '-1'": (lambda X, y: rs.compress(None, X, y, budget="-1"), "budget='-1'; allowed"),
    "budget '4GB'": (lambda X, y: rs.compress(None, X, y, budget="4GB"), "budget='4GB'; allowed"),
    "budget 7": (lambda X, y: rs.compress(None, X, y, budget=7, **QUICK), "budget of 7 bytes .* no sketch is so small"),
    "NaN target": (
        lambda X, y: rs.compress(None, X, np.full(len(X), np.nan), task="regression"),
        "y holds NaN, infinity or missing values in 150 of 150 rows, first in row 0",
    ),
    "NaN label": (lambda X, y: rs.compress(None, X, np.full(len(X), np.nan), task="classification"), "y holds NaN"),
    "no target": (lambda X, y: rs.compress(None, X), "neither a model nor y"),
    "y too short": (lambda X, y: rs.compress(None, X, y[:-1]), "y has shape"),
    "one class": (lambda X, y: rs.compress(None, X, ["a"] * len(X)), "one class only"),
    "no rows": (lambda X, y: rs.compress(None, X[:0], y[:0]), "at least one row"),
    "infinity": (lambda X, y: rs.compress(None, X * np.inf, y), "infinity"),
    "a teacher of another width": (
        lambda X, y: rs.compress(LogisticRegression(max_iter=1000).fit(X[:, :2], y), X, y),
        "features",
    ),
    "labels that the teacher does not know": (
        lambda X, y: rs.compress(LogisticRegression(max_iter=1000).fit(X, y), X, y + 5),
        "the model does not know",
    ),
    "task": (lambda X, y: rs.compress(None, X, y, task="ranking"), "task='ranking'"),
    "time_limit": (lambda X, y: rs.compress(None, X, y, time_limit=0), "time_limit"),
    "loss": (lambda X, y: rs.compress(None, X, y, loss="mse"), "loss='mse'; allowed are 'squared_error'"),
    "loss of a classification": (lambda X, y: rs.compress(None, X, y, loss="squared_error"), "is for regressions"),
    "metric": (lambda X, y: rs.compress(None, X, y, metric="accurracy"), "did you mean 'accuracy'"),
    "metric of two classes": (lambda X, y: rs.compress(None, X, y, metric="roc_auc"), "scored by 'roc_auc_ovo'"),
    "metric of classes": (
        lambda X, y: rs.compress(None, X, X[:, 0], metric="roc_auc"),
        "metric='roc_auc' scores classifications; this is a regression",
    ),
    "negative weights": (lambda X, y: rs.compress(None, X, y, sample_weight=-np.ones(150)), "holds negative numbers"),
    "too few weights": (
        lambda X, y: rs.compress(None, X, y, sample_weight=np.ones(149)),
        r"sample_weight has shape \(149,\); needed is one number for each of 150 rows",
    ),
    "weights of 0": (lambda X, y: rs.compress(None, X, y, sample_weight=np.zeros(150)), "0 for all rows"),
    "weights that are text": (lambda X, y: rs.compress(None, X, y, sample_weight=["a"] * 150), "no number"),
    "weight of no class": (
        lambda X, y: rs.compress(None, X, y, class_weight={7: 2.0}),
        r"class_weight names 7; allowed are the classes \[0, 1, 2\]",
    ),
    "weights of classes, of a regression": (
        lambda X, y: rs.compress(None, X, X[:, 0], class_weight="balanced"),
        "class_weight is for classifications; this is a regression",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    """One line says what was given and what is allowed."""
    call, message = BAD[name]
    X, y = load_iris(return_X_y=True)
    with pytest.raises(RepSketchError, match=message) as caught:
        call(X, y)
    assert "\n" not in str(caught.value)


SAME_BYTES = """
import hashlib
import numpy as np
import repsketch as rs
from repsketch.io import model_to_bytes
rng = np.random.default_rng(0)
X = rng.normal(size=(800, 6))
X[:, 3:] = X[:, 3:] > 0
wave = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 3]
for y in (wave, wave > 0.2, np.digitize(wave, [-0.5, 0.5])):
    sketch = rs.compress(None, X, y, budget="400B", effort="fast", random_state=0, progress=False)
    print(hashlib.sha256(model_to_bytes(sketch.model)).hexdigest())
"""


@pytest.mark.slow
def test_the_same_model_with_every_kernel_of_a_matrix_product():
    """Kernels of OpenBLAS sum in other orders; none of them may change what is trained or chosen."""
    printed = []
    for kernel in ("Haswell", "SkylakeX", "Sandybridge"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "2"}
        done = subprocess.run([sys.executable, "-c", SAME_BYTES], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout.split())
    assert len(printed[0]) == 3
    assert printed[0] == printed[1] == printed[2]
