"""Fixed-point sums: exact, guarded against overflow, and undone by subtraction."""

import numpy as np
import pytest

from repsketch import Sketch, lsh
from repsketch.errors import InputError, MergeError
from repsketch.model.counters import DEFAULT_STEP, Counters, step_for

FAMILY = lsh.L2(bandwidth=1.0)


def empty(**options) -> Sketch:
    return Sketch.empty(FAMILY, **{"n_rows": 5, "n_buckets": 4, "n_features": 2, **options})


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).normal(size=(60, 2))


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(1).normal(size=60)


def test_weights_default_to_one(points):
    sketch = empty().add(points)
    assert sketch.sums.sums.sum(axis=1).tolist() == [[60 * 2**32]] * 5
    assert sketch.counters.tobytes() == empty().add(points, np.ones(60)).counters.tobytes()


def test_weights_are_rounded_to_integer_steps_once():
    sketch = empty(weight_step=0.25).add([[0.0, 0.0]] * 3, [0.1, 0.2, 0.4])
    assert sketch.sums.total.tolist() == [0 + 1 + 2]
    assert sketch.counters.max() == np.float32(0.75)


def test_halves_go_to_the_even_step():
    assert Counters.zeros(1, 2, 1, 1.0).round(np.array([0.5, 1.5, 2.5, -0.5])).tolist() == [0, 2, 2, 0]


def test_adding_is_exact_where_floats_are_not(points):
    """1e6, then many times 2**-32, then -1e6: a float32 or float64 sum would lose the small ones."""
    tiny = np.full(60, 2.0**-32)
    together = empty().add(points[:1], [1e6]).add(points, tiny).subtract(points[:1], [1e6])
    assert together.counters.tobytes() == empty().add(points, tiny).counters.tobytes()


def test_a_sketch_never_changes(points, weights):
    sketch = empty().add(points, weights)
    before = sketch.sums.sums.copy()
    for change in (
        lambda: sketch.add(points),
        lambda: sketch.subtract(points),
        lambda: sketch.merge(sketch),
        lambda: sketch.scale(0.5),
        lambda: sketch.calibrate(points, weights),
        lambda: sketch.refit(points, weights),
    ):
        assert change() is not sketch
        assert sketch.sums.sums.tobytes() == before.tobytes()


def test_merge_and_subtract(points, weights):
    one, two = empty().add(points[:25], weights[:25]), empty().add(points[25:], weights[25:])
    both = empty().add(points, weights)
    merged = one.merge(two)
    assert merged.sums.sums.tobytes() == two.merge(one).sums.sums.tobytes() == both.sums.sums.tobytes()
    assert merged.sums.total.tolist() == both.sums.total.tolist()
    assert merged.outputs(points).tobytes() == both.outputs(points).tobytes()
    back = merged.subtract(points[25:], weights[25:])
    assert back.sums.sums.tobytes() == one.sums.sums.tobytes()


def test_an_empty_batch_adds_nothing(points):
    """A partition without rows is no error: streams and data frames have them."""
    sketch = empty().add(points)
    same = sketch.add(points[:0]).add(points[:0], np.empty(0)).subtract(points[:0])
    assert same.sums.sums.tobytes() == sketch.sums.sums.tobytes()
    assert same.sums.total.tolist() == sketch.sums.total.tolist()


def test_scale(points, weights):
    sketch = empty().add(points, weights)
    half = sketch.scale(0.5)
    np.testing.assert_allclose(half.counters, sketch.counters * 0.5, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(half.outputs(points), sketch.outputs(points) * 0.5, rtol=1e-5, atol=1e-6)
    assert sketch.scale(-1).scale(-1).counters.tobytes() == sketch.counters.tobytes()
    assert not sketch.scale(0).counters.any()


def test_large_batches_are_split_so_that_float64_stays_exact(points):
    """With a step of 1 and weights near 2**52 only one point fits a float64 sum."""
    sketch = empty(weight_step=1.0, n_buckets=2)
    counters = sketch.sums
    assert counters.rows_at_once(np.array([[2.0**52]])) == 1
    assert counters.rows_at_once(np.array([[1.0]])) == 2**53 - 1
    heavy = 2.0**52 + np.arange(60)
    added = sketch.add(points, heavy)
    assert added.sums.sums.sum(axis=1).tolist() == [[sum(2**52 + i for i in range(60))]] * 5


def test_too_large_a_weight():
    limit = 2.0**53 * DEFAULT_STEP
    empty().add([[0.0, 0.0]], [limit * 0.99])
    with pytest.raises(InputError, match=r"a weight of 2\.1e\+06 .* less than 2\.1e\+06.* larger weight_step"):
        empty().add([[0.0, 0.0]], [limit])


def test_too_large_a_sum():
    limit = 2.0**62 * DEFAULT_STEP  # 2**30
    full = empty().add([[0.0, 0.0]] * 600, np.full(600, limit / 601))
    for change in (
        lambda: full.add([[0.0, 0.0]], [limit / 600]),
        lambda: full.merge(full),
        lambda: full.scale(1.1),
        lambda: full.scale(-1.1),
        lambda: full.scale(-1).subtract([[0.0, 0.0]], [limit / 600]),
    ):
        with pytest.raises(MergeError, match=r"64 bits hold.* larger weight_step"):
            change()
    assert full.subtract([[0.0, 0.0]], [limit / 600]).add([[0.0, 0.0]], [limit / 600]).counters.max() > 0.9 * limit


@pytest.mark.parametrize("step", [0.0, -1.0, 0.3, float("nan"), float("inf")])
def test_steps_are_powers_of_two(step):
    with pytest.raises(InputError, match=r"weight_step=.*; allowed is a (power of two|number)"):
        Counters.zeros(1, 2, 1, step)


@pytest.mark.parametrize("size", [1e-30, 0.7, 1.0, 1000.0, 1e30])
def test_the_step_fits_the_weights(size):
    step = step_for(np.array([[size / 2], [-size / 2]]))
    assert 2.0**39 <= size / step <= 2.0**40
    assert np.log2(step) % 1 == 0


def test_the_step_of_no_weight():
    assert step_for(np.zeros((3, 1))) == DEFAULT_STEP


def test_many_outputs(points):
    weights = np.random.default_rng(2).normal(size=(60, 3))
    together = empty(n_outputs=3).add(points, weights)
    for c in range(3):
        assert together.sums.sums[..., c].tobytes() == empty().add(points, weights[:, c]).sums.sums[..., 0].tobytes()
    assert together.n_outputs == 3
    assert together.predict(points).shape == (60, 3)
