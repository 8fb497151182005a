"""The step between stages 1 and 2 that counters to be refitted want: a hash width chosen by the data."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch import KernelModel, build_sketch, lsh
from repsketch.paper.build import with_covering_bandwidth


@pytest.fixture
def kernel():
    rng = np.random.default_rng(0)
    return KernelModel(
        points=rng.normal(size=(8, 2)).astype(np.float32),
        weights=np.ones((8, 1), np.float32),
        bias=np.zeros(1, np.float32),
        family=lsh.L2(1e6, "gaussian"),  # of ternary directions in two dimensions nearly half are zero
        projection=rng.normal(size=(3, 2)).astype(np.float32),
    )


def test_the_covering_bandwidth_by_hand(kernel):
    """Coordinates of +-3 and +-4 have variances 9 and 16, so 8 levels cover twice 2 * 5; the mean does not matter."""
    X = np.array([[3.0, 4.0, 0.0], [3.0, -4.0, 0.0], [-3.0, 4.0, 0.0], [-3.0, -4.0, 0.0]])
    projected = replace(kernel, projection=np.eye(3, 2, dtype=np.float32))
    for mean in (0.0, 100.0):
        wider = with_covering_bandwidth(projected, X + mean, n_buckets=8)
        assert wider.family == lsh.L2(2.5, "gaussian")
    assert with_covering_bandwidth(projected, X, n_buckets=40).family.bandwidth == 0.5


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_levels_cover_two_deviations_either_side(kernel, scale):
    X = scale * np.random.default_rng(1).normal(size=(2_000, 3))
    wider = with_covering_bandwidth(kernel, X, n_buckets=8)
    z = kernel.transform(X)
    # The points of the wider kernel lie on the data here, so that its middle is the levels' middle.
    sketch = build_sketch(replace(wider, points=z[:8].astype(np.float32)), 200, 8, fold="direct")
    shares = np.bincount(sketch.buckets(X).ravel(), minlength=8) / (2_000 * 200)
    assert (shares > 0.005).all()  # every level is used, none by most; the kernel's own width would use two
    assert shares.max() < 0.5


def test_constant_data_leave_the_kernels_width(kernel):
    assert with_covering_bandwidth(kernel, np.ones((5, 3)), 8) is kernel


def test_levels_of_a_direct_fold_are_counted_from_the_points():
    """Far from the origin: the point itself is found in every row, and its distance is what counts."""
    far = 1_000.0
    kernels = [
        KernelModel(np.array([[place]], np.float32), np.ones((1, 1), np.float32), np.zeros(1, np.float32), lsh.L2(1.0))
        for place in (0.0, far)
    ]
    near, moved = (build_sketch(kernel, n_rows=60, n_buckets=4, fold="direct", progress=False) for kernel in kernels)
    X = np.array([[0.0], [0.25], [0.5], [5.0]], np.float32)
    assert moved.predict([[far]]).tolist() == [1.0]
    np.testing.assert_allclose(moved.predict(X + far), near.predict(X), atol=0.02)
    assert near.predict(X)[2] < 0.9
