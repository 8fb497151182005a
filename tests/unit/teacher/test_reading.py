"""Functions as teachers: how raw outputs are read, and what the caller may say about them."""

import numpy as np
import pytest

from repsketch.errors import TeacherError
from repsketch.teacher import as_teacher
from repsketch.teacher.reading import Reading
from support.outputs import LIMIT, by_sevens, log_odds, softmax

N_ROWS, N_FEATURES = 240, 4


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

    def test_many_columns_stay_values_for_task_regression(self, X):
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

    def test_probabilities_by_hand(self):
        """Of 1/4, 1/4 and 1/2 the geometric mean is 2**(-5/3); of 1/5 and 4/5 the odds are 4."""
        triples = as_teacher(lambda X: np.array([[0.25, 0.25, 0.5]])).label(np.zeros((1, 1)))
        np.testing.assert_allclose(triples.values, np.log(2) * np.array([[-1 / 3, -1 / 3, 2 / 3]]))
        pairs = as_teacher(lambda X: np.array([[0.2, 0.8]])).label(np.zeros((1, 1)))
        np.testing.assert_allclose(pairs.values, np.log([[4.0]]))

    def test_one_column_of_probabilities_only_for_task_classification(self, X):
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

    def test_soft_labels_are_the_probabilities_that_the_teacher_returned(self):
        """Log-odds are clipped, soft labels are not: 1e-5 stays 1e-5."""
        p = np.array([1e-5, 0.3, 1.0])
        outputs = as_teacher(lambda X: p, task="classification").label(np.zeros((3, 1)))
        np.testing.assert_array_equal(outputs.soft_labels[:, 0], p)
        pairs = as_teacher(lambda X: np.stack([1 - p, p], axis=1)).label(np.zeros((3, 1)))
        np.testing.assert_allclose(pairs.soft_labels[:, 0], p, rtol=1e-11)
        triples = np.array([[1e-6, 1e-6, 1 - 2e-6], [0.0, 1.0, 0.0]])
        outputs = as_teacher(lambda X: triples).label(np.zeros((2, 1)))
        np.testing.assert_allclose(outputs.soft_labels, triples, rtol=1e-11)

    def test_soft_labels_of_rounded_probabilities_are_within_bounds_and_sum_to_one(self):
        rounded = np.array([[1 + 5e-7, -5e-7, 0.0], [0.3334, 0.3334, 0.3334]])
        soft_labels = as_teacher(lambda X: rounded).label(np.zeros((2, 1))).soft_labels
        assert soft_labels.min() >= 0.0
        np.testing.assert_allclose(soft_labels.sum(axis=1), 1.0, atol=1e-15)

    def test_soft_labels_of_logits_are_their_softmax(self, X):
        np.testing.assert_allclose(as_teacher(lambda X: 9 * X).label(X).soft_labels, softmax(9 * X), atol=1e-12)

    def test_soft_labels_of_labels_are_certain(self):
        outputs = as_teacher(lambda X: np.array(["b", "a"])).label(np.zeros((2, 1)))
        assert outputs.soft_labels.tolist() == [[1.0], [0.0]]

    def test_the_floor_stays_below_the_mean_probability(self):
        p = np.full((1, 1000), 0.0005)
        p[0, 0] = 1 - p[0, 1:].sum()
        values = as_teacher(lambda X: p).label(np.zeros((1, 1))).values
        np.testing.assert_allclose(values[0, 0] - values[0, 1], np.log(p[0, 0] / p[0, 1]))

    def test_the_decision_is_made_on_all_of_the_output(self, X):
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


@pytest.mark.parametrize(
    ("row", "scale"),
    [
        ([1.0 + 5e-7, 0.0], "probabilities"),  # a softmax in float32
        ([1.0, -5e-7], "probabilities"),
        ([0.5, 0.5009], "probabilities"),  # float16
        ([1.0 + 5e-6, 0.0], "logits"),
        ([1.0, -5e-6], "logits"),
        ([0.5, 0.502], "logits"),
    ],
)
def test_rounded_probabilities(row, scale):
    raw = np.array([[0.25, 0.75], row])
    assert Reading("classification").resolve(raw, "a model").scale == scale
