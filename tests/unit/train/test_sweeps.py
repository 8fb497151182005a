"""The grid that counters are rounded to."""

import numpy as np
import pytest

from repsketch.train.sweeps import Grid, grid_for


def test_a_grid_ends_at_its_largest_multiple():
    grid = Grid(step=0.5, largest=7)
    assert grid.multiples(np.array([100.0, -100.0, 3.5, 3.74, -3.76, 0.26])).tolist() == [7, -7, 7, 7, -7, 1]
    assert grid.round(np.array([100.0, -0.8])).tolist() == [3.5, -1.0]


def test_a_grid_holds_a_share_of_the_values():
    values = np.concatenate([np.zeros(500), np.arange(1.0, 101.0), -np.arange(1.0, 101.0)])
    assert grid_for(values, 10, 1.0) == Grid(10.0, 10)
    assert grid_for(values, 10, 0.5).step == 5.05  # half of the sizes 1 to 100, each twice, are below 50.5
    assert grid_for(values, 10, 0.25).step == pytest.approx(2.575)  # a quarter: between 25 and 26
    assert grid_for(np.zeros(3), 7, 0.99).step == 1.0 / 7
