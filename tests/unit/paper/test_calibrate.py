"""Calibration: two numbers an output, by least squares."""

import numpy as np
import pytest

from repsketch import KernelModel, Sketch, build_sketch, lsh


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(80, 3))


@pytest.fixture(scope="module")
def targets(X):
    return np.stack([np.sin(X[:, 0]) * 40 + 1_000, X[:, 1] ** 2], axis=1)


def sketch_of(*, linear=False, fold="universal", aggregate="mean") -> Sketch:
    rng = np.random.default_rng(1)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    kernel = KernelModel(
        draw(10, 2), draw(10, 2), draw(2), lsh.L2(2.0), projection=draw(3, 2), linear=draw(2, 2) if linear else None
    )
    return build_sketch(kernel, n_rows=20, n_buckets=4, fold=fold, aggregate=aggregate)


KINDS = {
    "universal": {},
    "direct": {"fold": "direct"},
    "linear": {"linear": True},
    "median": {"aggregate": "median_of_means"},
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_least_squares(X, targets, kind):
    sketch = sketch_of(**kind)
    before = sketch.outputs(X).astype(float)
    calibrated = sketch.calibrate(X, targets)
    for c in range(2):
        design = np.column_stack([before[:, c], np.ones(len(X))])
        (slope, start), *_ = np.linalg.lstsq(design, targets[:, c], rcond=None)
        np.testing.assert_allclose(calibrated.outputs(X)[:, c], slope * before[:, c] + start, rtol=2e-5, atol=2e-4)
    assert calibrated.counters.tobytes() == sketch.counters.tobytes()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_calibrating_again_changes_nothing(X, targets, kind):
    once = sketch_of(**kind).calibrate(X, targets)
    np.testing.assert_allclose(once.calibrate(X, targets).outputs(X), once.outputs(X), rtol=1e-4, atol=1e-3)


def test_a_constant_sketch_gets_the_mean(X, targets):
    blank = Sketch.empty(lsh.L2(1.0), n_rows=5, n_buckets=4, n_features=3, n_outputs=2)
    calibrated = blank.calibrate(X, targets)
    np.testing.assert_allclose(calibrated.outputs(X), np.tile(targets.mean(axis=0), (80, 1)), rtol=1e-6)


def test_points_may_be_added_afterwards(X, targets):
    """The scale and bias act on the debiased estimate, so an added point counts with the scale."""
    sketch = sketch_of().calibrate(X, targets)
    point, weight = np.zeros((1, 2)), np.array([[3.0, 5.0]])
    gained = sketch.add(point, weight).outputs(X).astype(float) - sketch.outputs(X)
    plain = sketch_of()
    expected = plain.add(point, weight).outputs(X).astype(float) - plain.outputs(X)
    np.testing.assert_allclose(gained, expected * sketch.output_scale, rtol=1e-3, atol=1e-3 * np.abs(gained).max())


def test_a_refitted_sketch_may_be_calibrated(X, targets):
    sketch = sketch_of().refit(X, targets).calibrate(X, targets * 2)
    error = (sketch.outputs(X) - targets * 2).mean(axis=0)
    np.testing.assert_allclose(error, 0.0, atol=1e-2)
