"""Outputs become values, labels and probabilities the same way for kernel models and sketches."""

import numpy as np
import pytest

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.data.arrays import BLOCK_ROWS
from repsketch.errors import InputError
from repsketch.predictor import Predictor, to_choice, to_probabilities

POINTS = np.array([[-2.0], [0.0], [2.0]], np.float32)


def model(weights, **options) -> KernelModel:
    weights = np.asarray(weights, np.float32)
    return KernelModel(POINTS, weights, np.zeros(weights.shape[1], np.float32), lsh.L1(bandwidth=0.1), **options)


KINDS = {"kernel": lambda f_K: f_K, "sketch": lambda f_K: build_sketch(f_K, n_rows=40, n_buckets=64)}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request):
    return request.param


def test_regression_gives_values(kind):
    predictor = kind(model([[1.0], [2.0], [3.0]], task="regression"))
    assert predictor.outputs(POINTS).shape == (3, 1)
    values = predictor.predict(POINTS)
    assert (values.dtype, values.shape) == (np.float32, (3,))
    np.testing.assert_allclose(values, [1, 2, 3], atol=0.5)
    with pytest.raises(InputError, match="task='regression'; only classifiers"):
        predictor.predict_proba(POINTS)


def test_many_values_stay_a_matrix(kind):
    assert kind(model(np.ones((3, 2)))).predict(POINTS).shape == (3, 2)


@pytest.mark.parametrize(("classes", "labels"), [(None, [0, 1, 0]), (np.array(["no", "yes"]), ["no", "yes", "no"])])
def test_one_output_decides_between_two_classes(kind, classes, labels):
    predictor = kind(model([[-4.0], [4.0], [-4.0]], task="classification", classes=classes))
    assert predictor.predict(POINTS).tolist() == labels
    assert predictor.decision_function(POINTS).shape == (3,)
    probabilities = predictor.predict_proba(POINTS)
    assert probabilities.shape == (3, 2)
    np.testing.assert_allclose(
        probabilities[:, 1], 1 / (1 + np.exp(-predictor.decision_function(POINTS).astype(float)))
    )


def test_many_outputs_decide_by_the_largest(kind):
    predictor = kind(model(5.0 * np.eye(3)[[2, 0, 1]], task="classification", classes=np.array([10, 20, 30])))
    assert predictor.predict(POINTS).tolist() == [30, 10, 20]
    probabilities = predictor.predict_proba(POINTS)
    assert (probabilities.argmax(axis=1) == [2, 0, 1]).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)


def test_a_row_does_not_depend_on_its_batch():
    rng = np.random.default_rng(0)
    sketch = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=7, n_buckets=4, n_features=2).add(rng.normal(size=(20, 2)))
    X = rng.normal(size=(50, 2))
    alone = np.concatenate([sketch.outputs(X[i : i + 1]) for i in range(50)])
    assert alone.tobytes() == sketch.outputs(X).tobytes()


def test_tables_longer_than_a_block():
    class Identity(Predictor):
        task, classes, n_features, n_outputs = None, None, 1, 1

        def _outputs(self, block):
            assert len(block) <= BLOCK_ROWS
            return block

    X = np.arange(BLOCK_ROWS + 3, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(Identity().predict(X), X[:, 0])


def test_zero_log_odds_are_the_first_class():
    assert to_choice(np.array([[0.0], [-0.0], [1e-30]])).tolist() == [0, 0, 1]
    assert to_choice(np.array([[1.0, 1.0, 0.0]])).tolist() == [0]


def test_probabilities_of_extreme_outputs():
    assert to_probabilities(np.array([[1e4], [-1e4]], np.float32)).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert to_probabilities(np.array([[1e4, 0.0, -1e4]], np.float32)).tolist() == [[1.0, 0.0, 0.0]]
    np.testing.assert_allclose(to_probabilities(np.log(np.array([[1.0, 2.0, 5.0]]))), [[0.125, 0.25, 0.625]])
