"""Brier score and calibration error: scikit-learn's, a plain loop's, and what calibrated probabilities must give."""

from math import log, sqrt

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from repsketch.errors import InputError
from repsketch_bench.metrics import brier_score, calibration_error


def drawn(n=3_000, n_classes=2, seed=0):
    """Labels drawn from the very probabilities given."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(n_classes), n)
    return (probabilities.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), probabilities


def plain_error(y, probabilities, n_bins):
    """The definition, bin by bin."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == y
    total = 0.0
    for i in range(n_bins):
        low, high = i / n_bins, (i + 1) / n_bins
        inside = (sure >= low) & ((sure < high) | (i == n_bins - 1))
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - sure[inside].mean())
    return total


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_brier_is_that_of_scikit_learn(n_classes):
    y, probabilities = drawn(n_classes=n_classes)
    expected = brier_score_loss(
        y, probabilities[:, 1] if n_classes == 2 else probabilities, labels=np.arange(n_classes)
    )
    assert brier_score(y, probabilities) == pytest.approx(expected, rel=1e-12)
    names = np.array([f"class {c}" for c in range(n_classes)])
    assert brier_score(names[y], probabilities, names) == brier_score(y, probabilities)
    assert brier_score(y, probabilities[:, ::-1], np.arange(n_classes)[::-1]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("n_bins", [1, 10, 15])
def test_the_error_is_its_definition(n_classes, n_bins):
    y, probabilities = drawn(n_classes=n_classes)
    probabilities[:4] = np.eye(n_classes)[[0, 1, 0, 1]]  # as sure as can be
    found = calibration_error(y, probabilities, n_bins=n_bins)
    assert found == pytest.approx(plain_error(y, probabilities, n_bins), rel=1e-12)


def test_true_probabilities_have_hardly_any_error():
    """Hoeffding at 1e-6 a bin: sum_b n_b/n sqrt(ln(2e6) / (2 n_b)) <= sqrt(bins ln(2e6) / (2 n)) by Cauchy-Schwarz."""
    y, probabilities = drawn(n=100_000)
    tolerance = sqrt(15 * log(2e6) / (2 * len(y)))
    assert calibration_error(y, probabilities) < tolerance
    surer = probabilities**2 / (probabilities**2).sum(axis=1, keepdims=True)
    assert calibration_error(y, surer) > tolerance  # twin
    assert brier_score(y, probabilities) < brier_score(y, surer)


@pytest.mark.parametrize(
    ("y", "probabilities", "classes", "message"),
    [
        ([0, 1], [0.2, 0.8], None, r"allowed are \(n,\), \(n, C\)"),
        ([0], [[0.2, 0.8]] * 2, None, r"y of shape \(1,\)"),
        ([], np.empty((0, 2)), None, "allowed are"),
        ([0, 1], [[1.0], [1.0]], None, "allowed are"),
        ([0, 2], [[0.2, 0.8]] * 2, None, r"y holds \[2\], which are none"),
        ([0, 1], [[0.2, 0.8]] * 2, [1, 2, 3], "3 classes for 2 columns"),
        ([0, 1], [[0.2, 0.9]] * 2, None, "sum up to 1"),
        ([0, 1], [[-0.2, 1.2]] * 2, None, "0 or more"),
        ([0, 1], [[np.nan, 1.0]] * 2, None, "0 or more"),
    ],
)
def test_bad_input(y, probabilities, classes, message):
    for score in (brier_score, calibration_error):
        with pytest.raises(InputError, match=message):
            score(y, probabilities, classes)


def test_bins_are_counted():
    with pytest.raises(InputError, match="n_bins=0"):
        calibration_error([0, 1], [[0.2, 0.8]] * 2, n_bins=0)
