"""LightGBM and XGBoost models as teachers."""

import pickle

import numpy as np
import pytest

from repsketch.errors import TeacherError
from repsketch.teacher import as_teacher
from support.outputs import by_sevens, centred_logs, log_odds, softmax

N_ROWS, N_FEATURES = 240, 4


def fit_booster(library, X, y, **parameters):
    if library == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        return lightgbm.train({"verbose": -1, "num_threads": 1, **parameters}, lightgbm.Dataset(X, y), 5)
    xgboost = pytest.importorskip("xgboost")
    return xgboost.train({"nthread": 1, "max_depth": 3, **parameters}, xgboost.DMatrix(X, y), 5)


def predict_booster(library, booster, X):
    return booster.predict(X if library == "lightgbm" else pytest.importorskip("xgboost").DMatrix(X))


OBJECTIVES = {
    "lightgbm": {"binary": "binary", "many": "multiclass", "poisson": "poisson"},
    "xgboost": {"binary": "binary:logistic", "many": "multi:softprob", "poisson": "count:poisson"},
}


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
class TestBoosting:
    def make(self, library, kind):
        module = pytest.importorskip(library)
        prefix = "LGBM" if library == "lightgbm" else "XGB"
        options = {"verbose": -1} if library == "lightgbm" else {}
        return getattr(module, prefix + kind)(n_estimators=5, n_jobs=1, **options)

    def test_classifiers(self, library, X, binary, triple):
        for n_classes, labels in ((2, binary), (3, triple)):
            y = np.unique(labels, return_inverse=True)[1]
            model = self.make(library, "Classifier").fit(X, y)
            outputs = by_sevens(model).label(X)
            p = model.predict_proba(X)
            np.testing.assert_array_equal(outputs.classes, np.arange(n_classes))
            expected = log_odds(p[:, 1:].astype(float)) if n_classes == 2 else centred_logs(p.astype(float))
            np.testing.assert_allclose(outputs.values, expected, atol=1e-5)

    def test_regressor(self, library, X):
        model = self.make(library, "Regressor").fit(X, X[:, 0])
        outputs = as_teacher(model).label(X)
        assert outputs.task == "regression"
        np.testing.assert_array_equal(outputs.values[:, 0], model.predict(X))

    def test_not_fitted(self, library):
        with pytest.raises(TeacherError, match="is not fitted"):
            as_teacher(self.make(library, "Classifier"))

    def test_booster_binary(self, library, X, binary):
        booster = fit_booster(library, X, binary == "yes", objective=OBJECTIVES[library]["binary"])
        teacher = by_sevens(booster)
        outputs = teacher.label(X)
        assert (outputs.task, teacher.n_features) == ("classification", N_FEATURES)
        np.testing.assert_array_equal(outputs.classes, [0, 1])
        np.testing.assert_allclose(outputs.values[:, 0], log_odds(predict_booster(library, booster, X)), atol=1e-4)

    def test_booster_many_classes(self, library, X, triple):
        y = np.searchsorted(["a", "b", "c"], triple)
        booster = fit_booster(library, X, y, objective=OBJECTIVES[library]["many"], num_class=3)
        outputs = as_teacher(booster, classes=["a", "b", "c"]).label(X)
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "c"])
        np.testing.assert_allclose(softmax(outputs.values), predict_booster(library, booster, X), atol=1e-5)

    def test_booster_gives_values_not_their_logarithms(self, library, X):
        counts = np.random.default_rng(1).poisson(np.exp(1 + X[:, 0]))
        booster = fit_booster(library, X, counts, objective=OBJECTIVES[library]["poisson"])
        outputs = as_teacher(booster).label(X)
        assert outputs.task == "regression"
        np.testing.assert_array_equal(outputs.values[:, 0], predict_booster(library, booster, X))

    def test_booster_task_must_fit(self, library, X, binary):
        booster = fit_booster(library, X, binary == "yes", objective=OBJECTIVES[library]["binary"])
        with pytest.raises(TeacherError, match="Booster does classification"):
            as_teacher(booster, task="regression")

    def test_booster_sparse_and_pickle(self, library, X, binary):
        sparse = pytest.importorskip("scipy.sparse")
        booster = fit_booster(library, X, binary == "yes", objective=OBJECTIVES[library]["binary"])
        teacher = as_teacher(booster)
        expected = teacher.label(X).values
        np.testing.assert_allclose(teacher.label(sparse.csr_matrix(X)).values, expected)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(teacher)).label(X).values, expected)

    def test_booster_without_trees(self, library, X, binary):
        module = pytest.importorskip(library)
        if library == "lightgbm":
            booster = module.Booster({"verbose": -1, "objective": "binary"}, module.Dataset(X, binary == "yes"))
        else:
            booster = module.Booster()
        with pytest.raises(TeacherError, match="Booster is not fitted"):
            as_teacher(booster)


def test_lightgbm_with_a_loss_of_its_own_asks_the_caller(X, binary):
    def squares(scores, data):
        return scores - data.get_label(), np.ones_like(scores)

    booster = fit_booster("lightgbm", X, binary == "yes", objective=squares)
    raw = booster.predict(X)
    assert raw.min() < 0.0  # log-odds for who says that they are: no probabilities
    for task in (None, "classification"):
        outputs = as_teacher(booster, task=task).label(X)
        assert outputs.task == (task or "regression")
        np.testing.assert_array_equal(outputs.values[:, 0], raw)
