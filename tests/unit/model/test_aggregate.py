"""Mean and median of means; groups that do not divide the rows differ by one row at most."""

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.model.aggregate import choose_groups, group_bounds, median


@pytest.mark.parametrize("n_rows", [1, 2, 7, 10, 500])
@pytest.mark.parametrize("n_groups", [1, 2, 3, 7, 24])
def test_groups_cover_the_rows_evenly(n_rows, n_groups):
    n_groups = min(n_groups, n_rows)
    bounds = group_bounds(n_rows, n_groups)
    sizes = np.diff(bounds)
    assert (bounds[0], bounds[-1], len(sizes)) == (0, n_rows, n_groups)
    assert sizes.min() >= 1
    assert sizes.max() - sizes.min() <= 1


def test_bounds_of_groups():
    """Group i of g starts at row i L / g, rounded down."""
    assert group_bounds(10, 3).tolist() == [0, 3, 6, 10]
    assert group_bounds(7, 4).tolist() == [0, 1, 3, 5, 7]
    assert group_bounds(10, 4).tolist() == [0, 2, 5, 7, 10]
    assert group_bounds(65_536, 3).tolist() == [0, 21_845, 43_690, 65_536]


@pytest.mark.parametrize("n_groups", [1, 2, 3, 4, 9])
def test_median(n_groups):
    means = np.random.default_rng(0).normal(size=(n_groups, 5, 2)).astype(np.float32)
    result = median(means)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.median(means, axis=0), rtol=1e-6)


def test_choice():
    assert choose_groups("mean", None, 10) == choose_groups("mean", 1, 10) == 1
    assert choose_groups("median_of_means", None, 500) == 24  # ceil(8 ln 20)
    assert choose_groups("median_of_means", None, 10) == 10
    assert choose_groups("median_of_means", 3, 10) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("median", None, 10), "aggregate='median'; allowed are 'mean', 'median_of_means'"),
        (("mean", 4, 10), "n_groups=4 with aggregate='mean'; use aggregate='median_of_means'"),
        (("median_of_means", 11, 10), "n_groups=11; allowed is an integer from 1 to 10"),
        (("median_of_means", 0, 10), "n_groups=0; allowed is an integer from 1 to 10"),
        (("median_of_means", 2.5, 10), "n_groups=2.5; allowed is an integer"),
    ],
)
def test_bad_choices(arguments, words):
    with pytest.raises(InputError, match=words):
        choose_groups(*arguments)
