"""Targets from outputs that are known already: an array in place of a model."""

import numpy as np
import pytest

import repsketch as rs
from repsketch.errors import RepSketchError
from repsketch.teacher.targets import read_targets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(10_000, 2)).astype(np.float32)
SHARES = RNG.dirichlet([1.0, 1.0, 1.0], len(X))


def test_probabilities_are_those_of_the_rows():
    """Also beyond the rows that a model is given together."""
    y = np.array(["ash", "elm", "oak"])[SHARES.argmax(axis=1)]
    found = read_targets(SHARES, X, y, None, len(X))
    np.testing.assert_allclose(found.soft_labels, SHARES)
    assert found.classes.tolist() == ["ash", "elm", "oak"]
    two = read_targets(SHARES[:, :2] / SHARES[:, :2].sum(axis=1, keepdims=True), X, None, None, len(X))
    np.testing.assert_allclose(two.labels[:, 0], SHARES[:, 1] / SHARES[:, :2].sum(axis=1))


def test_values_of_a_regression():
    found = read_targets(X[:, 0] * 3.0, X, X[:, 0], "regression", len(X))
    np.testing.assert_allclose(found.soft_labels[:, 0], X[:, 0] * 3.0)


def test_other_numbers_of_rows_are_refused():
    with pytest.raises(RepSketchError, match="the array of outputs"):
        read_targets(SHARES[:50], X, None, None, len(X))


def test_compress_takes_them(brief_search):
    """The outputs, not the labels, are what is learnt where no labels are given."""
    outputs = 0.2 + 0.6 * (X[:500, 0] > 0)
    sketch = rs.compress(outputs, X[:500], task="regression", budget="256B", random_state=0, progress=False)
    assert np.abs(sketch.predict(X[:500]) - outputs).mean() < 0.1
