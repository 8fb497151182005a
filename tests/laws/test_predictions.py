"""A prediction depends on its input alone: not on the batch, the container, or a journey through pickle."""

import pickle
from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse


@given(data=st.data())
def test_row_by_row_is_all_at_once(filled, queries, data):
    sketch = data.draw(filled)
    X = data.draw(queries(sketch))
    alone = [sketch.outputs(row[None])[0] for row in X]
    assert np.array(alone).tobytes() == sketch.outputs(X).tobytes()


@given(data=st.data())
def test_order_of_inputs_does_not_matter(filled, queries, data):
    sketch = data.draw(filled)
    X = data.draw(queries(sketch))
    order = np.array(data.draw(st.permutations(range(len(X)))), int)
    assert sketch.outputs(X[order]).tobytes() == sketch.outputs(X)[order].tobytes()


@given(data=st.data())
def test_sparse_is_dense(filled, queries, data):
    sketch = data.draw(filled)
    X = data.draw(queries(sketch))
    X[data.draw(st.integers(0, len(X) - 1))] = 0.0  # a row that stores nothing
    dense = sketch.outputs(X)
    for container in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        assert sketch.outputs(container(X)).tobytes() == dense.tobytes()
    assert sketch.buckets(sparse.csr_array(X)).tobytes() == sketch.buckets(X).tobytes()


@given(data=st.data())
def test_sparse_points_are_dense_points(blank, weighted_points, state, data):
    empty, (points, weights) = data.draw(blank), data.draw(weighted_points)
    assert state(empty.add(sparse.csr_array(points), weights)) == state(empty.add(points, weights))


@given(data=st.data())
def test_memory_layout_and_wider_floats_do_not_matter(filled, queries, data):
    sketch = data.draw(filled)
    X = data.draw(queries(sketch))
    expected = sketch.outputs(X).tobytes()
    for same in (np.asfortranarray(X), X.astype(np.float64), np.repeat(X, 2, axis=0)[::2], X.tolist()):
        assert sketch.outputs(same).tobytes() == expected


@given(data=st.data())
def test_pickle_keeps_predictions(filled, queries, weighted_points, state, data):
    sketch = data.draw(filled)
    X = data.draw(queries(sketch))
    fresh = pickle.loads(pickle.dumps(sketch))
    expected = sketch.outputs(X).tobytes()
    used = pickle.loads(pickle.dumps(sketch))  # now with drawn functions and counters cached
    for copy in (fresh, used):
        assert copy.hashes == sketch.hashes
        assert copy.outputs(X).tobytes() == expected
        assert state(copy.merge(sketch)) == state(sketch.merge(sketch))


@given(data=st.data())
def test_prediction_reads_the_buckets(filled, queries, data):
    """Algorithm 2 in float64 over ``buckets``: the same but for float32 rounding."""
    sketch = data.draw(filled)
    assume(sketch.projection is None)
    X = data.draw(queries(sketch))
    read = sketch.counters[np.arange(sketch.n_rows)[:, None], sketch.buckets(X).T].astype(np.float64)
    bounds = np.arange(sketch.n_groups + 1) * sketch.n_rows // sketch.n_groups
    means = [read[start:stop].mean(axis=0) for start, stop in pairwise(bounds)]
    expected = np.median(means, axis=0) * sketch.gain + sketch.offset
    # Sums of at most 7 counters, a product and a sum: a dozen roundings of the largest number at hand.
    size = np.abs(sketch.counters).max() * sketch.gain + np.abs(sketch.offset)
    assert (np.abs(sketch.outputs(X) - expected) <= 12 * 7 * 2.0**-24 * size).all()
