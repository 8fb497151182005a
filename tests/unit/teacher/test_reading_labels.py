"""Teachers that return labels: text, booleans, integers."""

import logging

import numpy as np
import pandas
import polars
import pytest

import repsketch as rs
from repsketch.errors import TeacherError
from repsketch.teacher import as_teacher
from support.outputs import LIMIT, by_sevens, centred_logs

N_ROWS = 240


def one_hot(returned, classes):
    return (np.asarray(returned)[:, None] == np.asarray(classes)).astype(float)


class TestTwoLabels:
    @pytest.mark.parametrize(
        "make",
        [
            lambda y: y,
            lambda y: y.astype(object),
            lambda y: y.tolist(),
            lambda y: y[:, None],
            lambda y: pandas.Series(y),
            lambda y: pandas.Series(y, dtype="category"),
            lambda y: pandas.Series(y, dtype="string"),
            lambda y: polars.Series(y),
            lambda y: np.array(y, dtype=np.dtypes.StringDType()),
        ],
        ids=["str", "object", "list", "column", "pandas", "category", "string", "polars", "StringDType"],
    )
    def test_text(self, X, binary, make):
        outputs = as_teacher(lambda X: make(binary)).label(X)
        assert outputs.task == "classification"
        np.testing.assert_array_equal(outputs.classes, ["no", "yes"])
        assert outputs.classes.dtype.kind == "U"
        np.testing.assert_allclose(outputs.values[:, 0], np.where(binary == "yes", LIMIT, -LIMIT))

    @pytest.mark.parametrize("kind", [bool, object])
    def test_truth_values(self, X, kind):
        outputs = as_teacher(lambda X: (X[:, 0] > 0).astype(kind)).label(X)
        assert (outputs.task, outputs.classes.tolist()) == ("classification", [False, True])
        np.testing.assert_allclose(outputs.values[:, 0], np.where(X[:, 0] > 0, LIMIT, -LIMIT))

    def test_booleans_are_numbers_where_the_task_is_regression(self, X):
        outputs = as_teacher(lambda X: X[:, 0] > 0, task="regression").label(X)
        np.testing.assert_array_equal(outputs.values[:, 0], X[:, 0] > 0)

    @pytest.mark.parametrize("labels", [(1, 2), (-1, 1), (0, 1), (-1.0, 1.0)])
    def test_integers(self, X, labels):
        outputs = as_teacher(lambda X: np.where(X[:, 0] > 0, *labels[::-1]), task="classification").label(X)
        assert outputs.classes.tolist() == list(labels)
        np.testing.assert_allclose(outputs.values[:, 0], np.where(X[:, 0] > 0, LIMIT, -LIMIT))


class TestManyLabels:
    def test_text(self, X, triple):
        outputs = as_teacher(lambda X: triple).label(X)
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "c"])
        np.testing.assert_allclose(outputs.values, centred_logs(one_hot(triple, ["a", "b", "c"])))

    @pytest.mark.parametrize("kind", [int, float, object])
    def test_integers(self, X, triple, kind):
        returned = np.searchsorted(["a", "b", "c"], triple) * 10
        outputs = as_teacher(lambda X: returned.astype(kind), task="classification").label(X)
        assert outputs.classes.tolist() == [0, 10, 20]
        np.testing.assert_allclose(outputs.values, centred_logs(one_hot(returned, [0, 10, 20])))

    def test_labels_are_those_of_all_blocks(self):
        """Each block of seven rows has one label, and the last one is longer than those before."""
        names = np.array(["b", "a", "longer"])
        table = np.arange(21)[:, None]
        outputs = by_sevens(lambda rows: names[rows[:, 0] // 7]).label(table)
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "longer"])
        np.testing.assert_allclose(outputs.values, centred_logs(one_hot(np.repeat(names, 7), outputs.classes)))

    def test_classes_of_a_model_are_read(self, X):
        class Model:
            classes_ = np.array(["c", "a", "b"])

            def predict(self, X):
                return np.where(X[:, 0] > 0, "a", "b")

        outputs = as_teacher(Model()).label(X)
        np.testing.assert_array_equal(outputs.classes, ["c", "a", "b"])
        expected = one_hot(np.where(X[:, 0] > 0, "a", "b"), Model.classes_)
        np.testing.assert_allclose(outputs.values, centred_logs(expected))

    def test_classes_given_by_the_caller(self, X):
        outputs = as_teacher(lambda X: np.where(X[:, 0] > 0, "a", "b"), classes=["b", "a", "c"]).label(X)
        np.testing.assert_array_equal(outputs.classes, ["b", "a", "c"])

    def test_a_second_table_keeps_the_classes_of_the_first(self, X, triple):
        teacher = as_teacher(lambda X: triple[: len(X)])
        expected = teacher.label(X).values
        np.testing.assert_array_equal(teacher.label(X[:5]).values, expected[:5])


class TestLabelsThatMayOccur:
    """Those of y, say: a teacher that returns labels may never choose one of them."""

    def test_they_are_classes(self, X):
        outputs = as_teacher(lambda X: np.where(X[:, 0] > 0, "b", "a")).label(X, labels=["c", "b"])
        np.testing.assert_array_equal(outputs.classes, ["a", "b", "c"])
        expected = one_hot(np.where(X[:, 0] > 0, "b", "a"), ["a", "b", "c"])
        np.testing.assert_allclose(outputs.values, centred_logs(expected))

    def test_one_output_is_then_enough(self, X):
        outputs = as_teacher(lambda X: np.zeros(len(X), int), task="classification").label(X, labels=[0, 1])
        np.testing.assert_allclose(outputs.values, np.full((N_ROWS, 1), -LIMIT))

    def test_a_teacher_that_tells_its_classes_keeps_them(self, X, binary):
        outputs = as_teacher(lambda X: binary, classes=["no", "yes"]).label(X, labels=["maybe"])
        np.testing.assert_array_equal(outputs.classes, ["no", "yes"])

    def test_scores_are_not_concerned(self, X):
        outputs = as_teacher(lambda X: X).label(X, labels=["a", "b"])
        np.testing.assert_array_equal(outputs.classes, np.arange(4))

    @pytest.mark.parametrize("labels", [[0, 1], np.array(["no", None], object)])
    def test_nor_are_labels_of_another_type(self, X, binary, labels):
        outputs = as_teacher(lambda X: binary).label(X, labels=labels)
        np.testing.assert_array_equal(outputs.classes, ["no", "yes"])

    def test_text_in_an_array_of_objects(self, X, binary):
        outputs = as_teacher(lambda X: binary).label(X, labels=np.array(["no", "maybe"], object))
        np.testing.assert_array_equal(outputs.classes, ["maybe", "no", "yes"])


class TestAmbiguous:
    def test_integers_without_a_task_are_values(self, X, caplog):
        outputs = as_teacher(lambda X: np.arange(len(X)) % 3).label(X)
        assert outputs.task == "regression"
        warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        assert len(warned) == 1
        assert "pass task='classification'" in warned[0]

    def test_many_integers_are_values_without_a_warning(self, X, caplog):
        assert as_teacher(lambda X: np.arange(len(X))).label(X).task == "regression"
        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []

    def test_too_many_to_be_labels(self):
        with pytest.raises(TeacherError, match=r"1,500 different integers.* pass task='regression'"):
            as_teacher(lambda X: np.arange(len(X)), task="classification").label(np.zeros((1500, 1)))

    def test_text_is_no_regression(self, X, binary):
        with pytest.raises(TeacherError, match=r"labels such as 'no', but task='regression'.* task='classification'"):
            as_teacher(lambda X: np.sort(binary), task="regression").label(X)

    def test_text_in_place_of_probabilities(self, X, binary):
        class Model:
            def predict_proba(self, X):
                return binary

        with pytest.raises(TeacherError, match=r"labels such as '\w+', but its outputs should be probabilities"):
            as_teacher(Model()).label(X)

    @pytest.mark.parametrize(
        ("returned", "message"),
        [
            (["yes"] * N_ROWS, "label 'yes' for all 240 rows; .* two or more"),
            ([3] * N_ROWS, "label 3 for all 240 rows; .* two or more"),
            (np.array(["a", "b", None, "a"] * 60, object), "returned None for row 2, after 'a' for row 0"),
            (np.array(["a", "b", 3, "a"] * 60, object), "returned 3 for row 2, after 'a' for row 0"),
            (np.array([None, "a"] * 120, object), "dtype object"),
            ([["a", "b"]] * N_ROWS, r"labels of shape \(240, 2\); allowed is one label"),
            ([b"a", b"b"] * 120, r"dtype \|S1"),
            (np.full(N_ROWS, "2026-01-01", "datetime64[D]"), "dtype datetime64"),
        ],
    )
    def test_no_labels(self, X, returned, message):
        with pytest.raises(TeacherError, match=message):
            as_teacher(lambda X: returned, task="classification").label(X)

    def test_unknown_labels(self, X, binary):
        with pytest.raises(TeacherError, match=r"label 'no', which is not among its classes \['maybe', 'yes'\]"):
            as_teacher(lambda X: binary, classes=["maybe", "yes"]).label(X)

    def test_new_labels_in_a_later_table(self, X, binary):
        returned = iter([binary, np.full(N_ROWS, "maybe")])
        teacher = as_teacher(lambda X: next(returned))
        teacher.label(X)
        with pytest.raises(TeacherError, match="Label a larger table in the first call, or pass classes="):
            teacher.label(X)

    def test_numbers_in_one_block_and_text_in_another(self):
        with pytest.raises(TeacherError, match="numbers for some rows and text for others"):
            by_sevens(lambda rows: rows[:, 0] if rows[0, 0] else np.full(len(rows), "a")).label(np.arange(14)[:, None])


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (1, 2)])
def test_compress(X, labels):
    def model(X):
        return np.where(X[:, 0] > 0, *labels[::-1])

    sketch = rs.compress(model, X, budget="256B", task="classification", time_limit=0.2, random_state=0, progress=False)
    assert sketch.classes.tolist() == list(labels)
    assert np.mean(sketch.predict(X) == model(X)) > 0.9
