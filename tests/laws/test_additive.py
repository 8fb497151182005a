"""A sketch is a sum over its points: it merges, splits, scales and un-adds to the byte."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st


@given(data=st.data())
def test_merge_is_the_build_of_the_union(blank, weighted_points, state, data):
    empty = data.draw(blank)
    (points, weights), (others, other_weights) = data.draw(weighted_points), data.draw(weighted_points)
    merged = empty.add(points, weights).merge(empty.add(others, other_weights))
    union = empty.add(np.vstack([points, others]), np.vstack([weights, other_weights]))
    assert state(merged) == state(union)


@given(data=st.data())
def test_order_does_not_matter(blank, weighted_points, state, data):
    empty, (points, weights) = data.draw(blank), data.draw(weighted_points)
    order = np.array(data.draw(st.permutations(range(len(points)))), int)
    assert state(empty.add(points, weights)) == state(empty.add(points[order], weights[order]))


@given(data=st.data())
def test_partitioning_does_not_matter(blank, weighted_points, state, data):
    empty, (points, weights) = data.draw(blank), data.draw(weighted_points)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(points)), max_size=3)))
    chunks = zip(np.split(points, cuts), np.split(weights, cuts), strict=True)
    streamed = merged = empty
    for chunk in chunks:
        streamed = streamed.add(*chunk)
        merged = merged.merge(empty.add(*chunk))
    assert state(streamed) == state(merged) == state(empty.add(points, weights))


@given(data=st.data())
def test_subtract_undoes_add(blank, weighted_points, state, data):
    before = data.draw(blank).add(*data.draw(weighted_points))
    passing = data.draw(weighted_points)
    assert state(before.add(*passing).subtract(*passing)) == state(before)


@given(data=st.data())
def test_subtract_is_adding_the_negative(blank, weighted_points, state, data):
    empty, (points, weights) = data.draw(blank), data.draw(weighted_points)
    assert state(empty.subtract(points, weights)) == state(empty.add(points, -weights))


@given(data=st.data())
def test_scale_by_two_is_adding_twice(blank, modest_points, state, data):
    empty, points = data.draw(blank), data.draw(modest_points)
    once = empty.add(*points)
    assert state(once.scale(2)) == state(once.add(*points)) == state(once.merge(once))


@given(data=st.data())
def test_scale_by_one_and_minus_one(blank, modest_points, state, data):
    empty, points = data.draw(blank), data.draw(modest_points)
    once = empty.add(*points)
    assert state(once.scale(1)) == state(once)
    assert state(once.scale(-1)) == state(empty.subtract(*points))


@given(data=st.data())
def test_merge_is_commutative_and_associative(blank, weighted_points, state, data):
    empty = data.draw(blank)
    first, second, third = (empty.add(*data.draw(weighted_points)) for _ in range(3))
    assert state(first.merge(second)) == state(second.merge(first))
    assert state(first.merge(second).merge(third)) == state(first.merge(second.merge(third)))


@given(data=st.data())
def test_adding_nothing_changes_nothing(blank, weighted_points, state, data):
    empty = data.draw(blank)
    sketch = empty.add(*data.draw(weighted_points))
    nothing = np.empty((0, 3)), np.empty((0, 2))
    for same in (sketch.add(*nothing), sketch.subtract(*nothing), sketch.merge(empty), empty.merge(sketch)):
        assert state(same) == state(sketch)


@given(data=st.data())
def test_methods_leave_the_sketch_alone(blank, weighted_points, state, data):
    sketch = data.draw(blank).add(*data.draw(weighted_points))
    before, points = state(sketch), data.draw(weighted_points)
    sketch.add(*points), sketch.subtract(*points), sketch.merge(sketch), sketch.scale(0.5)
    assert state(sketch) == before


@given(data=st.data())
def test_every_row_holds_the_total(blank, weighted_points, data):
    """Each point falls into one bucket of each row."""
    sketch = data.draw(blank).add(*data.draw(weighted_points))
    rows = sketch.sums.sums.sum(axis=1)
    np.testing.assert_array_equal(rows, np.broadcast_to(sketch.sums.total, rows.shape))


@given(data=st.data())
def test_weights_are_rounded_once_and_by_half_a_step(blank, weighted_points, data):
    """Python's integers as the oracle for the total."""
    sketch, (points, weights) = data.draw(blank), data.draw(weighted_points)
    step = sketch.sums.step
    integers = [[round(weight / step) for weight in column] for column in weights.T.tolist()]
    assert sketch.add(points, weights).sums.total.tolist() == [sum(column) for column in integers]
