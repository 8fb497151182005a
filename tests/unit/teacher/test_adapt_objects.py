"""Anything with predict_proba, decision_function or predict is a teacher."""

import logging

import numpy as np
import pandas
import polars
import pytest

import repsketch as rs
from repsketch.errors import TeacherError
from repsketch.teacher import as_teacher
from support.outputs import LIMIT, by_sevens, log_odds, softmax


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


class Predicts:
    def predict(self, X):
        return X[:, 0]


class Decides(Predicts):
    def decision_function(self, X):
        return 2 * X[:, 0]


class Estimates(Decides):
    def predict_proba(self, X):
        return np.stack([1 - sigmoid(X[:, 0]), sigmoid(X[:, 0])], axis=1)


class TestOrder:
    def test_predict_gives_values(self, X):
        outputs = as_teacher(Predicts()).label(X)
        assert outputs.task == "regression"
        np.testing.assert_array_equal(outputs.values, X[:, :1])

    def test_decision_function_before_predict(self, X):
        outputs = as_teacher(Decides(), task="classification").label(X)
        np.testing.assert_array_equal(outputs.values, 2 * X[:, :1])

    def test_probabilities_before_anything(self, X):
        outputs = by_sevens(Estimates()).label(X)
        assert (outputs.task, outputs.classes.tolist()) == ("classification", [0, 1])
        np.testing.assert_allclose(outputs.values, X[:, :1], atol=1e-12)

    def test_probabilities_alone(self, X):
        class Alone:
            predict_proba = Estimates.predict_proba

        outputs = as_teacher(Alone()).label(X)
        assert outputs.task == "classification"
        np.testing.assert_allclose(outputs.values, X[:, :1], atol=1e-12)

    def test_classes_of_the_model(self, X):
        model = Estimates()
        model.classes_ = ["no", "yes"]
        np.testing.assert_array_equal(as_teacher(model).label(X).classes, ["no", "yes"])

    def test_one_column_of_probabilities(self, X):
        class One:
            def predict_proba(self, X):
                return sigmoid(X[:, :1])

        outputs = as_teacher(One()).label(X)
        np.testing.assert_allclose(outputs.values, X[:, :1], atol=1e-12)

    def test_the_class_is_no_object(self):
        with pytest.raises(TeacherError, match="Pass the trained object itself"):
            as_teacher(Predicts)

    def test_what_is_no_method(self):
        model = Predicts()
        model.predict = 3
        with pytest.raises(TeacherError, match="allowed is a torch module"):
            as_teacher(model)

    def test_it_is_named_when_it_raises(self):
        class Broken:
            def predict(self, X):
                raise OSError("no connection")

        with pytest.raises(TeacherError, match="Broken raised OSError on rows of shape"):
            as_teacher(Broken()).label([[1.0]])


class Keras:
    """As much of a Keras model as matters: it predicts (n, 1) or (n, C) and draws a bar meanwhile."""

    def __init__(self, outputs):
        self.outputs = outputs

    def predict(self, x, batch_size=None, verbose="auto", steps=None):
        if verbose:
            print("1/1 ━━━━━━━━━━━━━━━━━━━━ 0s 17ms/step")
        return self.outputs(x).astype(np.float32)

    def __call__(self, inputs, training=None):
        raise AssertionError("a call returns tensors, without batches")


class TestKeras:
    def test_one_probability(self, X, capfd):
        outputs = by_sevens(Keras(lambda X: sigmoid(X[:, :1])), task="classification").label(X)
        np.testing.assert_allclose(outputs.values, X[:, :1], atol=1e-5)
        assert outputs.classes.tolist() == [0, 1]
        assert capfd.readouterr() == ("", "")

    def test_many_probabilities(self, X):
        outputs = as_teacher(Keras(softmax)).label(X)
        np.testing.assert_allclose(outputs.values, X - X.mean(axis=1, keepdims=True), atol=1e-5)

    def test_values(self, X):
        outputs = as_teacher(Keras(lambda X: X[:, :1])).label(X)
        assert outputs.task == "regression"
        np.testing.assert_array_equal(outputs.values, X[:, :1].astype(np.float32))

    def test_a_callable_alone(self, X):
        class Callable:
            def __call__(self, X):
                return sigmoid(X[:, :1])

        outputs = as_teacher(Callable(), task="classification").label(X)
        np.testing.assert_allclose(outputs.values, X[:, :1], atol=1e-12)


@pytest.mark.parametrize("library", [pandas, polars])
def test_frames_are_passed_on_as_given(X, library):
    frame = library.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})

    class Model:
        def predict_proba(self, rows):
            assert isinstance(rows, library.DataFrame)
            assert list(rows.columns) == ["size", "colour"]
            p = sigmoid(rows["size"].to_numpy())
            return np.stack([1 - p, p], axis=1)

    np.testing.assert_allclose(by_sevens(Model()).label(frame).values, X[:, :1], atol=1e-12)


class TestSketches:
    def test_a_sketch_is_a_teacher(self, X):
        density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=8, n_features=4).add(X)
        outputs = as_teacher(density).label(X)
        assert outputs.task == "regression"
        np.testing.assert_array_equal(outputs.values, density.outputs(X))

    def test_so_is_a_classifier(self, X):
        draw = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
        model = rs.KernelModel(
            draw, draw[:, :3], draw[0, :3], rs.lsh.L2(1.0), task="classification", classes=np.array(["a", "b", "c"])
        )
        outputs = as_teacher(model).label(X)
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "c"])
        np.testing.assert_array_equal(outputs.values, model.outputs(X))


class TestLog:
    def test_what_was_found_is_logged_once(self, X, binary, caplog):
        caplog.set_level(logging.INFO, "repsketch")
        teacher = by_sevens(Estimates())
        teacher.label(X)
        teacher.label(X)
        assert caplog.messages == ["teacher Estimates: classification of 2 classes, outputs read as probabilities"]
        caplog.clear()
        as_teacher(lambda X: binary, classes=["yes", "no"]).label(X)
        assert caplog.messages[0].endswith("classification of 2 classes, outputs read as labels")
        caplog.clear()
        as_teacher(Predicts()).label(X)
        assert caplog.messages == ["teacher Predicts: regression of 1 output, outputs read as values"]


def test_certainty_of_probabilities_is_bounded():
    class Certain:
        def predict_proba(self, X):
            return np.stack([X[:, 0], 1 - X[:, 0]], axis=1)

    values = as_teacher(Certain()).label(np.array([[0.0], [1.0]])).values
    np.testing.assert_allclose(values[:, 0], [LIMIT, -LIMIT])
    np.testing.assert_allclose(values[:, 0], log_odds(np.array([1.0, 0.0])))


def test_several_labels_per_row_are_refused(X):
    class Model:
        classes_ = (0, 1)

        def predict(self, X):
            return (X[:, :2] > 0).astype("U5")

    with pytest.raises(TeacherError, match=r"labels of shape \(240, 2\); allowed is one label per row"):
        as_teacher(Model()).label(X)
