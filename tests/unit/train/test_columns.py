"""Ranges of columns: what most values share does not decide them, nor do a few far away."""

import numpy as np

from repsketch.train.columns import find_kinds, ranged_inputs


def test_the_range_of_a_column_that_is_mostly_one_value():
    column = np.zeros(2_000, np.float32)
    column[:4] = 1, 2, 3, 100
    X = column[:, None]
    inputs = ranged_inputs(X, find_kinds(X))
    found = inputs.values(np.array([[0.0], [50.0], [100.0]], np.float32))[0]
    assert found[0] < -110
    assert abs(int(found[1])) < 15
    assert found[2] > 110


def test_a_few_values_far_away_do_not_stretch_the_range():
    X = np.linspace(0.0, 1.0, 2_000, dtype=np.float32)[:, None]
    X[-1] = 1e6
    inputs = ranged_inputs(X, find_kinds(X))
    found = inputs.values(np.array([[0.25], [0.75]], np.float32))[0]
    assert found[1] - found[0] > 100
