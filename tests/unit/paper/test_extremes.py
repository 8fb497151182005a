"""Values at the edges of what numbers hold: saturate, stay exact, or say so; never NaN, never wrap."""

import pickle

import numpy as np
import pytest

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.errors import InputError, MergeError

FAMILIES = [lsh.L2(1.0), lsh.L2(1e-30), lsh.L2(1.0, "gaussian"), lsh.Angular(), lsh.L1(1.0), lsh.L1(1e-30)]
HUGE = np.array([[3e38, 3e38], [3e38, -3e38], [-3e38, -3e38], [1e-45, 0.0], [0.0, -0.0]], np.float32)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_huge_and_tiny_coordinates_are_hashed_without_overflow(family):
    sketch = Sketch.empty(family, n_rows=64, n_buckets=4, n_features=2).add(HUGE, np.arange(1.0, 6.0))
    outputs = sketch.outputs(HUGE)
    assert np.isfinite(outputs).all()
    # A point collides with itself in every row: at least its own weight is found there.
    np.testing.assert_array_equal(sketch.buckets(HUGE), sketch.buckets(HUGE.copy()))
    assert (sketch.sums.values.sum(axis=1)[:, 0] == 15.0).all()


def test_huge_inputs_saturate_behind_a_projection():
    kernel = KernelModel(
        points=np.zeros((1, 2), np.float32),
        weights=np.ones((1, 1), np.float32),
        bias=np.zeros(1, np.float32),
        family=lsh.L2(1.0),
        projection=np.array([[1e9, -1e9], [1e9, 1e9]], np.float32),
    )
    sketch = build_sketch(kernel, n_rows=32, n_buckets=2)
    assert np.isfinite(sketch.outputs(HUGE)).all()
    beyond = sketch.buckets(np.array([[2.0**70, 0.0]]))
    np.testing.assert_array_equal(beyond, sketch.buckets(np.array([[2.0**90, 0.0]])))


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e13])
def test_a_projection_that_could_overflow_is_refused(entry):
    kernel = KernelModel(
        points=np.zeros((1, 1), np.float32),
        weights=np.ones((1, 1), np.float32),
        bias=np.zeros(1, np.float32),
        family=lsh.L2(1.0),
        projection=np.array([[entry]], np.float32),
    )
    with pytest.raises(InputError, match="projection holds values beyond 1e"):
        build_sketch(kernel, n_rows=2)


@pytest.fixture
def heavy():
    """Counters above 2**53 steps, where float64 would round."""
    blank = Sketch.empty(lsh.L2(1.0), n_rows=4, n_buckets=2, n_features=2)
    return blank.add(np.zeros((12, 2)), np.full(12, 2.0**20 + 2.0**-32))


def test_scaling_is_exact_above_the_integers_of_float64(heavy):
    np.testing.assert_array_equal(heavy.scale(1.0).sums.sums, heavy.sums.sums)
    np.testing.assert_array_equal(heavy.scale(2.0).sums.sums, heavy.merge(heavy).sums.sums)
    np.testing.assert_array_equal(heavy.scale(-1.0).sums.sums, -heavy.sums.sums)


def test_scaling_rounds_half_steps_to_even():
    blank = Sketch.empty(lsh.L2(1.0), n_rows=1, n_buckets=2, n_features=1)
    for steps, half in ((1, 0), (3, 2), (5, 2), (7, 4)):
        sketch = blank.add([[0.0]], [steps * 2.0**-32]).scale(0.5)
        assert sketch.sums.total.tolist() == [half]


def test_sums_beyond_64_bits_are_refused_however_they_arise(heavy):
    with pytest.raises(MergeError, match="what 64 bits hold"):
        heavy.scale(1e9)
    while heavy.sums.total[0] < 2**61:
        heavy = heavy.merge(heavy)
    with pytest.raises(MergeError, match="what 64 bits hold"):
        heavy.merge(heavy)


def test_a_sliding_window_never_fills_up():
    sketch = Sketch.empty(lsh.L2(1.0), n_rows=1, n_buckets=2, n_features=1)
    point = np.zeros((1000, 1))
    weights = np.full(1000, 2.0**20)
    for _ in range(10):  # together far more than 64 bits would hold
        sketch = sketch.add(point, weights).subtract(point, weights)
    assert not sketch.sums.sums.any()


def test_a_weight_too_large_for_its_step_is_refused_without_a_warning():
    blank = Sketch.empty(lsh.L2(1.0), n_rows=1, n_buckets=2, n_features=1)
    with pytest.raises(InputError, match=r"a weight of 1e\+300 with weight_step"):
        blank.add([[0.0]], [1e300])


def test_merge_wants_the_same_reading_of_the_counters():
    options = {"n_rows": 8, "n_buckets": 2, "n_features": 1}
    plain = Sketch.empty(lsh.L2(1.0), **options)
    with pytest.raises(MergeError, match="another debias"):
        plain.merge(Sketch.empty(lsh.L2(1.0), debias=False, **options))
    with pytest.raises(MergeError, match="another n_groups"):
        plain.merge(Sketch.empty(lsh.L2(1.0), aggregate="median_of_means", n_groups=3, **options))


def test_a_pickle_does_not_grow_with_use():
    sketch = Sketch.empty(lsh.L2(1.0), n_rows=50, n_buckets=4, n_features=3).add(np.ones((5, 3)))
    before = len(pickle.dumps(sketch))
    sketch.outputs(np.ones((5, 3)))
    assert len(pickle.dumps(sketch)) == before
