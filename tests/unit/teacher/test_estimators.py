"""scikit-learn estimators and Pipelines as teachers."""

import numpy as np
import pytest

from repsketch.errors import TeacherError
from repsketch.teacher import as_teacher
from support.outputs import LIMIT, by_sevens, centred_logs, log_odds

N_ROWS, N_FEATURES = 240, 4


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

    def test_without_outputs(self, X):
        preprocessing = pytest.importorskip("sklearn.preprocessing")
        with pytest.raises(TeacherError, match="without outputs to learn from"):
            as_teacher(preprocessing.StandardScaler().fit(X))

    @pytest.mark.parametrize("labels", ["binary", "triple"])
    def test_labels_alone(self, X, labels, request):
        pytest.importorskip("sklearn")
        from sklearn.ensemble import VotingClassifier
        from sklearn.tree import DecisionTreeClassifier

        y = request.getfixturevalue(labels)
        vote = VotingClassifier([("tree", DecisionTreeClassifier(max_depth=2))]).fit(X, y)
        outputs = by_sevens(vote).label(X)
        chosen = outputs.values[:, 0] > 0 if labels == "binary" else outputs.values.argmax(axis=1)
        np.testing.assert_array_equal(outputs.classes[chosen.astype(int)], vote.predict(X))
        np.testing.assert_allclose(np.ptp(outputs.values), 2 * LIMIT if labels == "binary" else LIMIT)

    def test_several_labels_alone(self, X):
        """A multi-output classifier whose own classes are those of one output."""
        base = pytest.importorskip("sklearn.base")

        class Model(base.ClassifierMixin, base.BaseEstimator):
            def fit(self, X, y):
                self.classes_ = np.array([0, 1])
                return self

            def predict(self, X):
                return (X[:, :2] > 0).astype(int)

        with pytest.raises(TeacherError, match=r"labels of shape \(240, 2\); allowed is one label per row"):
            as_teacher(Model().fit(X, None)).label(X)

    def test_numbers_of_clusters_are_labels(self, X):
        cluster = pytest.importorskip("sklearn.cluster")
        outputs = as_teacher(cluster.KMeans(3, n_init=1, random_state=0).fit(X)).label(X)
        assert (outputs.task, outputs.classes.tolist()) == ("classification", [0, 1, 2])

    def test_scores_of_outliers(self, X):
        ensemble = pytest.importorskip("sklearn.ensemble")
        model = ensemble.IsolationForest(n_estimators=5, random_state=0).fit(X)
        outputs = as_teacher(model).label(X)
        assert outputs.task == "regression"
        np.testing.assert_array_equal(outputs.values[:, 0], model.decision_function(X))

    @pytest.mark.parametrize("labels", ["binary", "triple"])
    def test_many_kinds_predict_what_they_did(self, X, labels, request):
        """The class with the largest output is the model's own prediction, whatever it is made of."""
        pytest.importorskip("sklearn")
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.ensemble import StackingClassifier, VotingClassifier
        from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
        from sklearn.model_selection import GridSearchCV
        from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from sklearn.svm import SVC, LinearSVC

        y = request.getfixturevalue(labels)
        for model in (
            make_pipeline(StandardScaler(), LinearSVC()),
            RidgeClassifier(),
            SGDClassifier(random_state=0),
            OneVsOneClassifier(LinearSVC()),
            OneVsRestClassifier(LogisticRegression()),
            GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.1, 1.0]}, cv=2),
            CalibratedClassifierCV(LinearSVC(), cv=2),
            VotingClassifier([("a", LogisticRegression()), ("b", LogisticRegression(C=0.1))], voting="soft"),
            StackingClassifier([("a", LinearSVC())], cv=2),
            *([SVC(decision_function_shape="ovo")] if labels == "binary" else [SVC()]),
        ):
            outputs = by_sevens(model.fit(X, y)).label(X)
            assert outputs.values.shape == (N_ROWS, 1 if labels == "binary" else 3)
            chosen = outputs.values[:, 0] > 0 if labels == "binary" else outputs.values.argmax(axis=1)
            predicted = model.predict(X)
            assert np.mean(outputs.classes[chosen.astype(int)] == predicted) > 0.99, model

    def test_several_labels_per_row(self, X):
        pytest.importorskip("sklearn")
        from sklearn.linear_model import RidgeClassifier
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.naive_bayes import GaussianNB
        from sklearn.svm import LinearSVC
        from sklearn.tree import DecisionTreeClassifier

        y = (X[:, :2] > 0).astype(int)
        with pytest.raises(TeacherError, match="allowed is one label per row"):
            as_teacher(DecisionTreeClassifier().fit(X, y))
        y = (X[:, :3] > 0).astype(int)
        with pytest.raises(TeacherError, match="do not sum to 1 in every row"):
            as_teacher(OneVsRestClassifier(GaussianNB()).fit(X, y)).label(X)
        for model in (OneVsRestClassifier(LinearSVC()), RidgeClassifier()):
            with pytest.raises(TeacherError, match="3 labels per row; allowed is one"):
                as_teacher(model.fit(X, y)).label(X)

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
