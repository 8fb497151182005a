"""Median of means: groups partition the rows, and the median is the median."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repsketch.model.aggregate import group_bounds, median

SIZES = st.integers(1, 65_536).flatmap(lambda n_rows: st.tuples(st.just(n_rows), st.integers(1, n_rows)))


@given(SIZES)
def test_groups_partition_the_rows(size):
    n_rows, n_groups = size
    bounds = group_bounds(n_rows, n_groups)
    assert len(bounds) == n_groups + 1
    assert (bounds[0], bounds[-1]) == (0, n_rows)
    widths = np.diff(bounds)
    assert widths.min() >= 1
    assert widths.max() - widths.min() <= 1


# Sums of two stay within float32.
MEANS = st.integers(1, 9).flatmap(
    lambda n_groups: arrays(np.float32, (n_groups, 3, 2), elements=st.floats(-(2.0**126), 2.0**126, width=32))
)


@given(MEANS)
def test_median_is_numpys(means):
    ours = median(means)
    assert ours.dtype == np.float32
    np.testing.assert_array_equal(ours, np.median(means, axis=0))


@given(MEANS, st.randoms(use_true_random=False))
def test_median_does_not_depend_on_the_order_of_groups(means, random):
    order = list(range(len(means)))
    random.shuffle(order)
    np.testing.assert_array_equal(median(means[order]), median(means))


@given(MEANS)
def test_half_of_the_means_lie_on_each_side(means):
    middle = median(means)
    n_groups = len(means)
    below, above = (means <= middle).sum(axis=0), (means >= middle).sum(axis=0)
    assert (below >= n_groups // 2).all()
    assert (above >= n_groups // 2).all()
