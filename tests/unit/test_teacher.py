"""Every adapter gives the outputs its model stands for, and every bad teacher a message that helps."""

import pickle
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from repsketch.errors import InputError, MissingExtraError, TeacherError
from repsketch.teacher import PROBABILITY_FLOOR, as_teacher

N_ROWS, N_FEATURES = 240, 4
LIMIT = np.log((1 - PROBABILITY_FLOOR) / PROBABILITY_FLOOR)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES))


@pytest.fixture(scope="module")
def binary(X):
    return np.where(X[:, 0] + 0.5 * X[:, 1] > 0, "yes", "no")


@pytest.fixture(scope="module")
def triple(X):
    return np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]


def by_sevens(model, **options):
    """A teacher that works on 7 rows at a time: several blocks, and the last one not full."""
    return replace(as_teacher(model, **options), _block_rows=7)


def log_odds(p):
    p = np.clip(p, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
    return np.log(p / (1 - p))


def centred_logs(p):
    logs = np.log(np.clip(p, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR))
    return logs - logs.mean(axis=1, keepdims=True)


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


class TestFunctions:
    def test_one_column_is_regression(self, X):
        outputs = as_teacher(lambda X: X[:, 0]).label(X)
        assert (outputs.task, outputs.classes) == ("regression", None)
        assert outputs.values.dtype == np.float64
        np.testing.assert_array_equal(outputs.values, X[:, :1])

    def test_many_columns_are_logits(self, X):
        outputs = as_teacher(lambda X: X).label(X)
        assert outputs.task == "classification"
        np.testing.assert_array_equal(outputs.classes, np.arange(N_FEATURES))
        np.testing.assert_array_equal(outputs.values, X)

    def test_many_columns_stay_values_when_regression_is_asked(self, X):
        outputs = as_teacher(softmax, task="regression").label(X)
        assert (outputs.task, outputs.classes) == ("regression", None)
        np.testing.assert_array_equal(outputs.values, softmax(X))

    def test_two_columns_become_one_logit_difference(self, X):
        outputs = as_teacher(lambda X: X[:, :2]).label(X)
        np.testing.assert_array_equal(outputs.classes, [0, 1])
        np.testing.assert_array_equal(outputs.values, X[:, 1:2] - X[:, :1])

    def test_two_columns_of_probabilities_become_log_odds(self, X):
        outputs = as_teacher(lambda X: softmax(X[:, :2])).label(X)
        np.testing.assert_allclose(outputs.values, log_odds(softmax(X[:, :2]))[:, 1:], rtol=1e-9, atol=1e-12)

    def test_many_columns_of_probabilities_become_centred_logs(self, X):
        outputs = as_teacher(softmax).label(X)
        np.testing.assert_allclose(outputs.values, X - X.mean(axis=1, keepdims=True), atol=1e-12)

    def test_one_column_of_probabilities_only_when_classification_is_asked(self, X):
        def p(X):
            return 1 / (1 + np.exp(-X[:, 0]))

        np.testing.assert_allclose(as_teacher(p, task="classification").label(X).values, X[:, :1], atol=1e-12)
        np.testing.assert_array_equal(as_teacher(p).label(X).values[:, 0], p(X))

    def test_one_column_outside_the_unit_interval_is_log_odds(self, X):
        outputs = as_teacher(lambda X: 3 * X[:, 0], task="classification").label(X)
        np.testing.assert_array_equal(outputs.values, 3 * X[:, :1])
        np.testing.assert_array_equal(outputs.classes, [0, 1])

    def test_certainty_is_bounded(self):
        outputs = as_teacher(lambda X: X[:, 0], task="classification").label(np.array([[0.0], [1.0]]))
        np.testing.assert_allclose(outputs.values, [[-LIMIT], [LIMIT]])

    def test_the_floor_stays_below_the_answer_of_ignorance(self):
        p = np.full((1, 1000), 0.0005)
        p[0, 0] = 1 - p[0, 1:].sum()
        values = as_teacher(lambda X: p).label(np.zeros((1, 1))).values
        np.testing.assert_allclose(values[0, 0] - values[0, 1], np.log(p[0, 0] / p[0, 1]))

    def test_the_decision_is_made_on_the_whole_answer(self, X):
        """The first blocks alone would pass for probabilities."""
        scores = np.full((N_ROWS, 2), 0.5)
        scores[-1] = [3.0, -3.0]
        outputs = by_sevens(lambda rows: scores[rows[:, 0].astype(int)]).label(np.arange(N_ROWS)[:, None])
        np.testing.assert_array_equal(outputs.values[[0, -1], 0], [0.0, -6.0])

    def test_the_decision_is_remembered(self, X):
        teacher = as_teacher(lambda X: X)
        teacher.label([[3.0, 1.0, 2.0]])
        np.testing.assert_array_equal(teacher.label([[0.2, 0.3, 0.5]]).values, [[0.2, 0.3, 0.5]])

    def test_logits_after_probabilities_are_refused(self):
        teacher = as_teacher(lambda X: X)
        teacher.label([[0.2, 0.8]])
        with pytest.raises(TeacherError, match="label a larger table in the first call"):
            teacher.label([[2.0, -1.0]])

    def test_blocks_cover_every_row_once(self, X):
        sizes = []

        def model(rows):
            sizes.append(len(rows))
            return rows[:, 0]

        np.testing.assert_array_equal(by_sevens(model).label(X).values, X[:, :1])
        assert sizes == [7] * (N_ROWS // 7) + [N_ROWS % 7]

    def test_sparse_rows_stay_sparse(self, X):
        sparse = pytest.importorskip("scipy.sparse")
        seen = set()

        def model(rows):
            seen.add(rows.format)
            return rows.toarray()[:, 0]

        for table in (sparse.csr_matrix(X), sparse.coo_array(X)):
            np.testing.assert_array_equal(by_sevens(model).label(table).values, X[:, :1])
        assert seen == {"csr"}

    def test_frames_are_sliced_by_position(self, X):
        class Frame:
            """As much of a data frame as slicing needs; it has no plain brackets, which might mean columns."""

            def __init__(self, values):
                self.values, self.shape = values, values.shape

            @property
            def iloc(self):
                return Positions(self.values)

        class Positions:
            def __init__(self, values):
                self.values = values

            def __getitem__(self, rows):
                return Frame(self.values[rows])

        outputs = by_sevens(lambda frame: frame.values[:, 0]).label(Frame(X))
        np.testing.assert_array_equal(outputs.values, X[:, :1])

    def test_lists_and_a_tensor_with_gradient(self):
        torch = pytest.importorskip("torch")
        layer = torch.nn.Linear(2, 1)
        outputs = as_teacher(lambda X: layer(torch.tensor(X, dtype=torch.float32))).label([[0.0, 0.0]])
        assert outputs.values[0, 0] == np.float32(layer.bias.item())

    def test_maps_give_columns_and_classes(self):
        outputs = as_teacher(lambda X: [{"b": 0.75, "a": 0.25} for _ in X]).label(np.zeros((3, 1)))
        np.testing.assert_array_equal(outputs.classes, ["a", "b"])
        np.testing.assert_allclose(outputs.values, np.full((3, 1), np.log(3)))


class TestClasses:
    def test_given_labels_imply_classification(self, X):
        outputs = as_teacher(lambda X: X[:, 0], classes=["no", "yes"]).label(X)
        assert outputs.task == "classification"
        np.testing.assert_array_equal(outputs.classes, ["no", "yes"])

    @pytest.mark.parametrize("columns", [1, 2, 4])
    def test_their_number_must_match(self, X, columns):
        with pytest.raises(TeacherError, match="3 classes; allowed is a column per class"):
            as_teacher(lambda X: X[:, :columns], classes=["a", "b", "c"]).label(X)

    @pytest.mark.parametrize("classes", [["a"], ["a", "a"], "ab", [["a", "b"]]])
    def test_they_must_be_different_labels(self, classes):
        with pytest.raises(TeacherError, match="two or more labels"):
            as_teacher(np.sum, classes=classes)

    def test_regression_has_none(self):
        with pytest.raises(TeacherError, match="task='regression'; allowed are"):
            as_teacher(np.sum, task="regression", classes=[0, 1])


class TestTeachersAgain:
    def test_returned_as_it_is(self):
        teacher = as_teacher(np.sum)
        assert as_teacher(teacher) is teacher

    def test_a_task_is_added_to_a_copy(self, X):
        open_teacher = as_teacher(lambda X: X[:, 0])
        assert as_teacher(open_teacher, task="classification").label(X).task == "classification"
        assert open_teacher.label(X).task == "regression"

    def test_another_task_is_refused(self):
        with pytest.raises(TeacherError, match="does regression; pass task='regression'"):
            as_teacher(as_teacher(np.sum, task="regression"), task="classification")


class TestTorch:
    torch = property(lambda self: pytest.importorskip("torch"))

    def test_logits(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 3)
        outputs = by_sevens(layer).label(X)
        assert outputs.task == "classification"
        expected = X.astype(np.float32) @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
        np.testing.assert_allclose(outputs.values, expected, atol=1e-5)

    def test_softmax_gives_the_same_as_logits(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 2)
        net = self.torch.nn.Sequential(layer, self.torch.nn.Softmax(dim=1))
        np.testing.assert_allclose(as_teacher(net).label(X).values, as_teacher(layer).label(X).values, atol=1e-4)

    def test_one_column(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 1)
        assert as_teacher(layer).label(X).task == "regression"
        assert as_teacher(layer, task="classification").label(X).task == "classification"

    def test_a_module_defined_elsewhere_without_parameters(self, X):
        class First(self.torch.nn.Module):
            def forward(self, x):
                return x[:, 0]

        np.testing.assert_array_equal(as_teacher(First()).label(X).values, X[:, :1].astype(np.float32))

    def test_evaluates_without_dropout_and_restores_every_flag(self, X):
        nn = self.torch.nn
        net = nn.Sequential(nn.Linear(N_FEATURES, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1)).train()
        net[1].eval()
        first, second = (as_teacher(net).label(X).values for _ in range(2))
        np.testing.assert_array_equal(first, second)
        assert [part.training for part in net] == [True, False, True, True]
        assert net.training

    def test_restores_the_flag_after_an_error(self, X):
        layer = self.torch.nn.Linear(N_FEATURES + 1, 1).train()
        with pytest.raises(TeacherError, match=r"Linear raised RuntimeError on rows of shape \(240, 4\)"):
            as_teacher(layer).label(X)
        assert layer.training

    def test_leaves_the_table_alone(self, X):
        table = X.astype(np.float32)
        table.flags.writeable = False
        as_teacher(self.torch.nn.ReLU(inplace=True)).label(table)
        np.testing.assert_array_equal(table, X.astype(np.float32))

    @pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
    def test_other_precisions(self, X, dtype):
        layer = self.torch.nn.Linear(N_FEATURES, 1).to(getattr(self.torch, dtype))
        assert as_teacher(layer).label(X).values.shape == (N_ROWS, 1)

    def test_exported_program(self, X):
        layer = self.torch.nn.Linear(N_FEATURES, 3)
        rows = {0: self.torch.export.Dim("rows")}
        program = self.torch.export.export(layer, (self.torch.zeros(5, N_FEATURES),), dynamic_shapes=(rows,))
        np.testing.assert_allclose(
            as_teacher(program.module()).label(X).values, as_teacher(layer).label(X).values, atol=1e-6
        )

    def test_sparse_rows_become_dense(self, X):
        sparse = pytest.importorskip("scipy.sparse")
        layer = self.torch.nn.Linear(N_FEATURES, 1)
        teacher = as_teacher(layer)
        np.testing.assert_array_equal(teacher.label(sparse.csr_array(X)).values, teacher.label(X).values)

    def test_a_tuple_is_refused(self, X):
        with pytest.raises(TeacherError, match="answered with a tuple"):
            as_teacher(self.torch.nn.LSTM(N_FEATURES, 2)).label(X)

    def test_survives_pickle(self, X):
        teacher = as_teacher(self.torch.nn.Linear(N_FEATURES, 1))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(teacher)).label(X).values, teacher.label(X).values)


class TestScikitLearn:
    def test_binary_probabilities(self, X, binary):
        linear_model = pytest.importorskip("sklearn.linear_model")
        model = linear_model.LogisticRegression().fit(X, binary)
        teacher = by_sevens(model)
        outputs = teacher.label(X)
        assert (teacher.n_features, teacher.name, outputs.task) == (N_FEATURES, "LogisticRegression", "classification")
        np.testing.assert_array_equal(outputs.classes, ["no", "yes"])
        np.testing.assert_allclose(outputs.values, log_odds(model.predict_proba(X))[:, 1:], atol=1e-12)

    def test_a_tree_is_bounded(self, X, binary):
        tree = pytest.importorskip("sklearn.tree")
        values = as_teacher(tree.DecisionTreeClassifier(random_state=0).fit(X, binary)).label(X).values
        np.testing.assert_allclose(values[:, 0], np.where(binary == "yes", LIMIT, -LIMIT))

    def test_many_classes(self, X, triple):
        naive_bayes = pytest.importorskip("sklearn.naive_bayes")
        model = naive_bayes.GaussianNB().fit(X, triple)
        outputs = as_teacher(model).label(X)
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "c"])
        np.testing.assert_allclose(outputs.values, centred_logs(model.predict_proba(X)), atol=1e-12)

    @pytest.mark.parametrize("labels", ["binary", "triple"])
    def test_decision_function_as_it_is(self, X, labels, request):
        svm = pytest.importorskip("sklearn.svm")
        y = request.getfixturevalue(labels)
        model = svm.LinearSVC().fit(X, y)
        expected = model.decision_function(X).reshape(N_ROWS, -1)
        np.testing.assert_array_equal(as_teacher(model, task="classification").label(X).values, expected)

    @pytest.mark.parametrize("n_outputs", [1, 3])
    def test_regression(self, X, n_outputs):
        linear_model = pytest.importorskip("sklearn.linear_model")
        model = linear_model.Ridge().fit(X, X[:, :n_outputs])
        outputs = as_teacher(model).label(X)
        assert (outputs.task, outputs.classes) == ("regression", None)
        np.testing.assert_array_equal(outputs.values, model.predict(X).reshape(N_ROWS, n_outputs))

    def test_search_and_pipeline(self, X, binary):
        pytest.importorskip("sklearn")
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        pipeline = make_pipeline(StandardScaler(), LogisticRegression())
        search = GridSearchCV(pipeline, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(X, binary)
        outputs = as_teacher(search).label(X)
        np.testing.assert_array_equal(outputs.classes, ["no", "yes"])
        np.testing.assert_allclose(outputs.values, log_odds(search.predict_proba(X))[:, 1:], atol=1e-12)

    def test_pipeline_on_a_frame_by_column_names(self, X, binary):
        pandas = pytest.importorskip("pandas")
        from sklearn.compose import make_column_transformer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        frame = pandas.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
        frame.index = frame.index[::-1]
        columns = make_column_transformer((OneHotEncoder(), ["colour"]), ("passthrough", ["size"]))
        model = make_pipeline(columns, LogisticRegression()).fit(frame, binary)
        np.testing.assert_allclose(by_sevens(model).label(frame).values, log_odds(model.predict_proba(frame))[:, 1:])

    def test_rows_of_text(self):
        pytest.importorskip("sklearn")
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder
        from sklearn.tree import DecisionTreeRegressor

        words = np.array([["red"], ["blue"]] * 10, dtype=object)
        model = make_pipeline(OneHotEncoder(), DecisionTreeRegressor()).fit(words, np.tile([1.0, 2.0], 10))
        np.testing.assert_array_equal(by_sevens(model).label(words).values[:, 0], np.tile([1.0, 2.0], 10))

    def test_sparse(self, X, binary):
        sparse = pytest.importorskip("scipy.sparse")
        linear_model = pytest.importorskip("sklearn.linear_model")
        model = linear_model.LogisticRegression().fit(sparse.csr_matrix(X), binary)
        teacher = by_sevens(model)
        np.testing.assert_allclose(teacher.label(sparse.csr_matrix(X)).values, teacher.label(X).values, atol=1e-12)

    def test_estimators_of_another_house(self, X):
        pytest.importorskip("sklearn")

        class Plain:
            def get_params(self, deep=True):
                return {}

            def fit(self, X, y):
                return self

            def predict(self, X):
                return X[:, 0]

        class Certain(Plain):
            def predict_proba(self, X):
                return np.full((len(X), 2), 0.5)

        assert as_teacher(Plain()).label(X).task == "regression"
        outputs = as_teacher(Certain()).label(X)
        np.testing.assert_array_equal(outputs.classes, [0, 1])
        assert not outputs.values.any()

    def test_labels_given_by_the_caller_win(self, X, binary):
        linear_model = pytest.importorskip("sklearn.linear_model")
        model = linear_model.LogisticRegression().fit(X, binary)
        np.testing.assert_array_equal(as_teacher(model, classes=[10, 20]).label(X).classes, [10, 20])

    def test_not_fitted(self):
        pytest.importorskip("sklearn")
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        for model in (LogisticRegression(), make_pipeline(LogisticRegression())):
            with pytest.raises(TeacherError, match="is not fitted; call its fit"):
                as_teacher(model)

    def test_the_task_must_fit(self, X, binary):
        linear_model = pytest.importorskip("sklearn.linear_model")
        with pytest.raises(TeacherError, match="LogisticRegression does classification"):
            as_teacher(linear_model.LogisticRegression().fit(X, binary), task="regression")
        with pytest.raises(TeacherError, match="Ridge does regression"):
            as_teacher(linear_model.Ridge().fit(X, X[:, 0]), task="classification")
        with pytest.raises(TeacherError, match="Ridge does regression"):
            as_teacher(linear_model.Ridge().fit(X, X[:, 0]), classes=["a", "b"])

    def test_without_scores(self, X, binary):
        pytest.importorskip("sklearn")
        from sklearn.cluster import KMeans
        from sklearn.ensemble import VotingClassifier
        from sklearn.preprocessing import StandardScaler
        from sklearn.tree import DecisionTreeClassifier

        vote = VotingClassifier([("tree", DecisionTreeClassifier())]).fit(X, binary)
        for model in (vote, StandardScaler().fit(X), KMeans(2, n_init=1).fit(X)):
            with pytest.raises(TeacherError, match="without outputs to learn from"):
                as_teacher(model)

    def test_several_labels_per_row(self, X):
        pytest.importorskip("sklearn")
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.tree import DecisionTreeClassifier

        y = (X[:, :2] > 0).astype(int)
        with pytest.raises(TeacherError, match="allowed is one label per row"):
            as_teacher(DecisionTreeClassifier().fit(X, y))
        y = (X[:, :3] > 0).astype(int)
        with pytest.raises(TeacherError, match="do not sum to 1 in every row"):
            as_teacher(OneVsRestClassifier(GaussianNB()).fit(X, y)).label(X)

    def test_one_class(self, X):
        dummy = pytest.importorskip("sklearn.dummy")
        with pytest.raises(TeacherError, match="out of two or more"):
            as_teacher(dummy.DummyClassifier().fit(X, np.zeros(N_ROWS)))

    def test_pairs_of_classes(self, X, triple):
        svm = pytest.importorskip("sklearn.svm")
        model = svm.SVC(decision_function_shape="ovo").fit(X, triple)
        with pytest.raises(TeacherError, match="set decision_function_shape='ovr'"):
            as_teacher(model)
        model.set_params(decision_function_shape="ovr")
        best = as_teacher(model).label(X).values.argmax(axis=1)
        np.testing.assert_array_equal(model.classes_[best], model.predict(X))


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
    assert as_teacher(booster).label(X).task == "regression"
    assert as_teacher(booster, task="classification").label(X).task == "classification"


class TestOnnx:
    WEIGHTS = np.random.default_rng(2).normal(size=(N_FEATURES, 3)).astype(np.float32)

    def save(self, path, nodes, outputs, n_rows="rows", kind="FLOAT", inputs=None):
        """Write a model that starts with scores = x @ WEIGHTS."""
        onnx = pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
        number = getattr(onnx.TensorProto, kind)
        weights = onnx.numpy_helper.from_array(
            self.WEIGHTS.astype(onnx.helper.tensor_dtype_to_np_dtype(number)), "weights"
        )
        x = onnx.helper.make_tensor_value_info("x", number, [n_rows, N_FEATURES])
        product = onnx.helper.make_node("MatMul", ["x", "weights"], ["scores"])
        graph = onnx.helper.make_graph([product, *nodes], "graph", inputs or [x], outputs, [weights])
        opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        return path

    def tensor(self, name, kind="FLOAT", shape=("rows", 3)):
        onnx = pytest.importorskip("onnx")
        return onnx.helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), shape)

    def node(self, *args, **options):
        return pytest.importorskip("onnx").helper.make_node(*args, **options)

    def argmax(self):
        return self.node("ArgMax", ["scores"], ["label"], axis=1, keepdims=0)

    def test_linear_layer(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")])
        for given in (path, str(path)):
            teacher = as_teacher(given)
            outputs = teacher.label(X)
            assert (teacher.name, teacher.n_features, outputs.task) == ("model.onnx", N_FEATURES, "classification")
            np.testing.assert_allclose(outputs.values, X @ self.WEIGHTS, atol=1e-5)

    def test_regression_when_asked(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")])
        assert as_teacher(path, task="regression").label(X).task == "regression"

    def test_softmax_beside_a_label(self, X, tmp_path):
        nodes = [self.node("Softmax", ["scores"], ["p"], axis=1), self.argmax()]
        outputs = [self.tensor("p"), self.tensor("label", "INT64", ("rows",))]
        values = as_teacher(self.save(tmp_path / "model.onnx", nodes, outputs)).label(X).values
        np.testing.assert_allclose(values, centred_logs(softmax(X @ self.WEIGHTS)), atol=1e-4)

    def test_the_last_floating_output_is_taken(self, X, tmp_path):
        nodes = [self.node("Neg", ["scores"], ["opposite"])]
        path = self.save(tmp_path / "model.onnx", nodes, [self.tensor("scores"), self.tensor("opposite")])
        np.testing.assert_allclose(as_teacher(path).label(X).values, -X @ self.WEIGHTS, atol=1e-5)

    def test_double(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores", "DOUBLE")], kind="DOUBLE")
        np.testing.assert_allclose(as_teacher(path).label(X).values, X @ self.WEIGHTS, atol=1e-5)

    @pytest.mark.parametrize("n_rows", [1, 7, 1000])
    def test_fixed_batch(self, X, tmp_path, n_rows):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores", shape=(n_rows, 3))], n_rows)
        np.testing.assert_allclose(as_teacher(path).label(X).values, X @ self.WEIGHTS, atol=1e-5)

    @pytest.mark.parametrize("n_rows", ["rows", 7])
    def test_zip_map(self, X, tmp_path, n_rows):
        onnx = pytest.importorskip("onnx")
        nodes = [
            self.node("Softmax", ["scores"], ["p"], axis=1),
            self.node("ZipMap", ["p"], ["maps"], domain="ai.onnx.ml", classlabels_strings=["c", "a", "b"]),
        ]
        text, number = onnx.TensorProto.STRING, onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
        kind = onnx.helper.make_sequence_type_proto(onnx.helper.make_map_type_proto(text, number))
        path = self.save(tmp_path / "model.onnx", nodes, [onnx.helper.make_value_info("maps", kind)], n_rows)
        outputs = as_teacher(path).label(X)
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "c"])
        np.testing.assert_allclose(outputs.values, centred_logs(softmax(X @ self.WEIGHTS))[:, [1, 2, 0]], atol=1e-4)
        np.testing.assert_array_equal(as_teacher(path, classes=[1, 2, 3]).label(X).classes, [1, 2, 3])
        with pytest.raises(TeacherError, match="does classification"):
            as_teacher(path, task="regression").label(X)

    def test_wrong_width(self, X, tmp_path):
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")])
        with pytest.raises(InputError, match="X has 3 features, but this model takes 4"):
            as_teacher(path).label(X[:, :3])

    def test_labels_alone(self, tmp_path):
        path = self.save(tmp_path / "model.onnx", [self.argmax()], [self.tensor("label", "INT64", ("rows",))])
        with pytest.raises(TeacherError, match="and a floating output"):
            as_teacher(path)

    def test_other_inputs(self, tmp_path):
        both = [self.tensor("x", shape=("rows", N_FEATURES)), self.tensor("z")]
        path = self.save(tmp_path / "model.onnx", [], [self.tensor("scores")], inputs=both)
        with pytest.raises(TeacherError, match="allowed is one input"):
            as_teacher(path)

    def test_no_file(self, tmp_path):
        with pytest.raises(TeacherError, match="there is no file"):
            as_teacher(tmp_path / "model.onnx")

    @pytest.mark.parametrize("name", ["model.pkl", "model", "LogisticRegression"])
    def test_other_suffix(self, name):
        with pytest.raises(TeacherError, match=r"does not end in \.onnx"):
            as_teacher(name)

    def test_no_model_in_the_file(self, tmp_path):
        pytest.importorskip("onnxruntime")
        path = tmp_path / "model.onnx"
        path.write_bytes(b"not a model")
        with pytest.raises(TeacherError, match="ONNX Runtime cannot load"):
            as_teacher(path)


class TestBadAnswers:
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_the_first_row_that_is_not_finite_is_named(self, X, value):
        def model(rows):
            return np.where(rows[:, 0] >= 100, value, rows[:, 0])

        with pytest.raises(TeacherError, match=rf"answered {value} for row 100 of X in column 0"):
            by_sevens(model).label(np.arange(N_ROWS)[:, None])

    @pytest.mark.parametrize(
        ("answer", "message"),
        [
            (np.zeros(3), r"shape \(3,\) on 240 rows"),
            (np.zeros((3, N_ROWS)), r"shape \(3, 240\) on 240 rows"),
            (np.zeros((N_ROWS, 2, 2)), r"shape \(240, 2, 2\)"),
            (np.zeros((N_ROWS, 0)), r"shape \(240, 0\)"),
            (0.0, r"shape \(\) on 240 rows"),
            (np.zeros(N_ROWS, complex), "dtype complex128; allowed is one array of real numbers"),
            (np.full(N_ROWS, "yes"), "a ndarray of dtype <U3"),
            (None, "a NoneType of dtype object"),
            ((np.zeros(N_ROWS), np.zeros(N_ROWS)), "a tuple of dtype object"),
            ({"logits": 1}, "a dict of dtype object"),
            ([[1.0], [1.0, 2.0]], "raised ValueError"),
        ],
    )
    def test_no_table_of_numbers(self, X, answer, message):
        with pytest.raises(TeacherError, match=message):
            as_teacher(lambda X: answer).label(X)

    def test_labels_instead_of_scores(self, X):
        with pytest.raises(TeacherError, match="up to 2, which look like class labels"):
            as_teacher(lambda X: np.arange(len(X)) % 3, task="classification").label(X)
        hard = as_teacher(lambda X: np.arange(len(X)) % 2, task="classification").label(X)
        np.testing.assert_allclose(hard.values[:2, 0], [-LIMIT, LIMIT])

    def test_other_columns_in_other_blocks(self, X):
        with pytest.raises(TeacherError, match="another number of columns"):
            by_sevens(lambda rows: np.zeros((len(rows), len(rows)))).label(X)

    def test_an_exception_is_wrapped_once(self, X):
        def broken(X):
            raise KeyError("colour")

        with pytest.raises(TeacherError, match=r"broken raised KeyError on rows of shape \(240, 4\)") as caught:
            as_teacher(broken).label(X)
        assert isinstance(caught.value.__cause__, KeyError)

        inner = as_teacher(broken)
        with pytest.raises(TeacherError) as caught:
            as_teacher(lambda X: inner.label(X).values).label(X)
        assert str(caught.value).count("raised") == 1

    def test_an_interrupt_is_not_wrapped(self, X):
        def interrupted(X):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            as_teacher(interrupted).label(X)


class TestBadInput:
    @pytest.mark.parametrize("model", [3, [1, 2], None, np.zeros(3), {}, int, threading.Thread])
    def test_no_model(self, model):
        with pytest.raises(TeacherError, match="allowed is a torch module"):
            as_teacher(model)

    def test_the_class_of_an_estimator(self):
        linear_model = pytest.importorskip("sklearn.linear_model")
        with pytest.raises(TeacherError, match="Pass the trained object itself"):
            as_teacher(linear_model.LogisticRegression)

    @pytest.mark.parametrize("task", ["classify", "", 1])
    def test_unknown_task(self, task):
        with pytest.raises(TeacherError, match="allowed is 'classification', 'regression', or None"):
            as_teacher(np.sum, task=task)

    @pytest.mark.parametrize("X", [np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(3), [1.0], None])
    def test_no_table(self, X):
        with pytest.raises(InputError):
            as_teacher(lambda X: X).label(X)


class TestLibraries:
    def test_none_is_imported_before_it_is_needed(self):
        script = (
            "import sys, repsketch.teacher as t; t.as_teacher(lambda X: X).label([[1.0]]);"
            "print([m for m in ('torch', 'sklearn', 'lightgbm', 'xgboost', 'onnxruntime', 'scipy', 'pandas')"
            " if m in sys.modules])"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"

    def test_a_missing_one_is_named(self, tmp_path, monkeypatch):
        path = tmp_path / "model.onnx"
        path.touch()
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        with pytest.raises(MissingExtraError, match=r"repsketch\[onnx\]"):
            as_teacher(path)
