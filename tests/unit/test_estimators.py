"""What scikit-learn's checks do not ask of the estimators: teachers, budgets, and errors of our own."""

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from repsketch import SketchClassifier, SketchRegressor, compress
from repsketch.errors import InputError, TeacherError
from repsketch.teacher import as_teacher

QUICK = {"time_limit": 1e-3, "random_state": 0}  # the first fit that is found is taken


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, X[:, 0] - 0.5 * X[:, 1]


def labels_of(values, n_classes):
    return np.digitize(values, np.quantile(values, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_learns_from_a_given_teacher_and_keeps_its_classes(data, n_classes):
    X, values = data
    names = np.array(["ant", "bee", "cat", "dog", "eel"])[labels_of(values, n_classes)]
    teacher = LogisticRegression().fit(X, names)
    model = SketchClassifier(teacher, budget="4KB", **QUICK).fit(X, names)
    assert model.teacher_ is teacher
    assert (model.predict(X) == teacher.predict(X)).mean() > 0.85
    assert model.sketch_.classes.tolist() == model.classes_.tolist() == np.unique(names).tolist()
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (400, n_classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(model.sketch_.predict(X), model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_teacher_with_classes_in_another_order_is_put_in_order(data, n_classes):
    X, values = data
    y = labels_of(values, n_classes)
    straight = LogisticRegression().fit(X, y)
    reverse = as_teacher(lambda X: straight.predict_proba(X)[:, ::-1], classes=straight.classes_[::-1])
    plain = SketchClassifier(straight, **QUICK).fit(X, y)
    other = SketchClassifier(reverse, **QUICK).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), other.predict(X))


def test_columns_that_a_teacher_only_counts_are_the_sorted_labels(data):
    X, values = data
    names = np.where(values > 0, "up", "down")
    model = SketchClassifier(lambda X: 1.0 / (1.0 + np.exp(-8.0 * (X[:, 0] - 0.5 * X[:, 1]))), **QUICK).fit(X, names)
    assert (model.predict(X) == names).mean() > 0.85


def test_without_a_teacher_one_is_trained_that_knows_the_labels(data):
    X, values = data
    names = np.where(values > 0, "up", "down")
    model = SketchClassifier(**QUICK).fit(X, names)
    assert (model.teacher_.predict(X) == names).mean() > 0.95
    assert (model.predict(X) == names).mean() > 0.9


def test_a_teacher_of_other_classes_is_refused(data):
    X, values = data
    teacher = LogisticRegression().fit(X, np.where(values > 0, "yes", "no"))
    with pytest.raises(InputError, match=r"teacher has the classes \['no', 'yes'\], y holds \[0, 1\]"):
        SketchClassifier(teacher, **QUICK).fit(X, labels_of(values, 2))


@pytest.mark.parametrize(("budget", "limit"), [("200B", 200), ("1KB", 1024), (3000, 3000)])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_never_exceeds_the_budget(data, budget, limit, n_classes):
    X, values = data
    model = SketchClassifier(budget=budget, **QUICK).fit(X, labels_of(values, n_classes))
    assert 0.3 * limit < model.sketch_.nbytes <= limit


def test_same_random_state_same_bytes(data, tmp_path):
    X, values = data
    for name, state in (("first", 0), ("second", 0), ("other", 1)):
        SketchRegressor(**{**QUICK, "random_state": state}).fit(X, values).sketch_.save(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert (tmp_path / "first").read_bytes() != (tmp_path / "other").read_bytes()


def test_it_is_what_compress_finds(data, brief_search):
    X, values = data
    seed = int(np.random.RandomState(3).randint(2**31))
    teacher = LinearRegression().fit(X, values)
    model = SketchRegressor(teacher, "1KB", random_state=3).fit(X, values)
    other = compress(teacher, X, values, budget="1KB", random_state=seed, progress=False)
    assert model.predict(X).tobytes() == other.predict(X).astype(np.float64).tobytes()
    assert model.score(X, values) > 0.95
    assert str(model.sketch_.summary) == str(other.summary)


def test_frames_with_gaps(data):
    X, values = data
    frame = pandas.DataFrame(X, columns=list("abcd"))
    frame.loc[frame.index % 7 == 0, "c"] = np.nan
    model = SketchRegressor(**QUICK).fit(frame, values)
    assert model.feature_names_in_.tolist() == list("abcd") == list(model.sketch_.compiled.feature_names)
    assert model.score(frame, values) > 0.5


def test_sparse_and_dense_inputs_agree_bit_for_bit(data):
    X, values = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = SketchRegressor(**QUICK).fit(X, values)
    thin = SketchRegressor(**QUICK).fit(sparse.csr_matrix(X), values)
    assert dense.predict(X).tobytes() == thin.predict(sparse.csr_matrix(X)).tobytes()


@pytest.mark.parametrize("budget", [0, "0", "0KB", -1, "-1", "4 kg", "4GB", "", None, 1.5, True, "1e3"])
def test_a_budget_that_means_nothing_is_refused(data, budget):
    X, values = data
    with pytest.raises(InputError, match=r"budget=.*allowed is a number of bytes above 0"):
        SketchRegressor(budget=budget, **QUICK).fit(X, values)


def test_a_budget_too_small_is_refused(data):
    X, values = data
    with pytest.raises(InputError, match=r"a budget of 20 bytes for 4 columns and 1 outputs: no sketch is so small"):
        SketchRegressor(budget=20, **QUICK).fit(X, values)


def test_one_class_only_is_refused(data):
    X, _ = data
    with pytest.raises(InputError, match="one class only"):
        SketchClassifier(**QUICK).fit(X, np.zeros(len(X)))


def test_infinity_is_refused(data):
    X, values = data
    broken = X.copy()
    broken[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        SketchRegressor(**QUICK).fit(broken, values)
    model = SketchRegressor(**QUICK).fit(X, values)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(broken)


def test_a_teacher_that_raises_leaves_no_half_fitted_model(data):
    X, values = data

    def broken(X):
        raise RuntimeError("out of petrol")

    model = SketchRegressor(broken, **QUICK)
    with pytest.raises(TeacherError, match="out of petrol"):
        model.fit(X, values)
    assert not hasattr(model, "sketch_")


def test_a_teacher_of_the_other_task_is_refused(data):
    X, values = data
    with pytest.raises(TeacherError, match="regression"):
        SketchClassifier(LinearRegression().fit(X, values), **QUICK).fit(X, labels_of(values, 2))


def test_a_teacher_with_several_outputs_is_refused_for_regression(data):
    X, values = data
    teacher = LinearRegression().fit(X, np.column_stack([values, values]))
    with pytest.raises(InputError, match="2 outputs"):
        SketchRegressor(teacher, **QUICK).fit(X, values)


class TestWeights:
    """Weights of rows: those of scikit-learn's checks, on more than the 15 rows that these have."""

    @pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
    def test_a_weight_is_a_number_of_rows(self, data, kind):
        X, values = data[0][:150], data[1][:150]
        rng = np.random.default_rng(0)
        weights, shuffled = rng.integers(0, 4, 150), rng.permutation(150)
        rows = np.repeat(np.arange(150), weights)
        for estimator, y in ((SketchRegressor(**QUICK), values), (SketchClassifier(**QUICK), labels_of(values, 3))):
            weighted = clone(estimator).fit(kind(X[shuffled]), y[shuffled], weights[shuffled])
            repeated = clone(estimator).fit(kind(X[rows]), y[rows])
            plain = clone(estimator).fit(kind(X), y)
            outputs = [model.sketch_.outputs(X).tobytes() for model in (weighted, repeated, plain)]
            assert outputs[0] == outputs[1] != outputs[2]

    def test_of_large_tables_weights_count_as_rows(self):
        """Beyond 1,000 rows not to the bit."""
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(2_000, 1)), rng.random(2_000) < 0.5
        weights = np.where(y, 3.0, 1.0)
        model = SketchClassifier(**QUICK).fit(X, y, weights)
        for fitted in (model, model.teacher_):
            assert fitted.predict_proba(X)[:, 1].mean() == pytest.approx(0.75, abs=0.05)

    def test_a_class_without_weight_is_no_class(self, data):
        X, values = data
        y = labels_of(values, 3)
        model = SketchClassifier(**QUICK).fit(X, y, (y < 2).astype(float))
        assert model.classes_.tolist() == [0, 1]
        with pytest.raises(InputError, match="one class only"):
            SketchClassifier(**QUICK).fit(X, y, y == 2)

    @pytest.mark.parametrize(
        ("weights", "said"), [(np.ones(3), r"shape \(3,\)"), (-np.ones(400), "negative"), (["a"] * 400, "no number")]
    )
    def test_wrong_weights_are_refused(self, data, weights, said):
        X, values = data
        with pytest.raises(InputError, match=said):
            SketchRegressor(**QUICK).fit(X, values, weights)

    def test_outputs_of_a_teacher_follow_their_rows(self, data):
        X, values = data
        weights = np.where(X[:, 3] > 0, 2.0, 0.0)
        model = SketchRegressor(values.copy(), **QUICK).fit(X, values, weights)
        assert model.score(X, values) > 0.9

    def test_weights_are_routed(self, data):
        """A Pipeline in a search passes them on where they are asked for, and nowhere else."""
        X, values = data
        weights = np.random.default_rng(0).random(400)
        with config_context(enable_metadata_routing=True):
            seen = []

            class Watched(SketchRegressor):
                def fit(self, X, y, sample_weight=None):
                    seen.append(None if sample_weight is None else len(sample_weight))
                    return super().fit(X, y, sample_weight)

            for is_asked in (True, False):
                model = Watched(**QUICK).set_fit_request(sample_weight=is_asked).set_score_request(sample_weight=True)
                found = cross_validate(
                    make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model),
                    X, values, params={"sample_weight": weights}, cv=2,
                )  # fmt: skip
                assert found["test_score"].min() > 0.5
            assert seen == [200, 200, None, None]


def test_a_grid_of_metrics_and_weights_of_classes(data):
    X, values = data
    y = np.where(values > 1.5, "rare", "usual")
    grid = {"metric": [None, "average_precision", "balanced_accuracy"], "class_weight": [None, "balanced"]}
    found = GridSearchCV(SketchClassifier(**QUICK), grid, cv=2, scoring="balanced_accuracy").fit(X, y)
    assert len(found.cv_results_["params"]) == 6
    scores = dict(zip(map(str, found.cv_results_["params"]), found.cv_results_["mean_test_score"], strict=True))
    assert min(scores.values()) > 0.6
    assert found.best_params_["class_weight"] == "balanced"
    best = found.best_estimator_
    assert best.sketch_.summary.metric == (found.best_params_["metric"] or "accuracy")
