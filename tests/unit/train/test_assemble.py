"""Inputs reduced to the columns in use keep the center and scale of each."""

import numpy as np

from repsketch.model.inputs import Inputs
from repsketch.train.assemble import keep_used


def test_used_columns_keep_their_centers_and_scales():
    numbers = np.arange(1, 5, dtype=np.float32)
    inputs = Inputs(
        6, columns=np.array([0, 1, 3, 4, 5]), kinds=np.array([0, 3, 0, 0, 0]), centers=numbers, scales=2 * numbers,
        limits=(-127, 127),
    )  # fmt: skip
    values = np.array([2, 4, 6])  # the second category, and the second and the last number
    fewer, renamed = keep_used(inputs, values)
    assert fewer.columns.tolist() == [1, 3, 5]
    assert fewer.kinds.tolist() == [3, 0, 0]
    assert (fewer.centers.tolist(), fewer.scales.tolist()) == ([2.0, 4.0], [4.0, 8.0])
    X = np.random.default_rng(0).integers(0, 3, (20, 6)).astype(np.float32)
    np.testing.assert_array_equal(fewer.values(X)[renamed], inputs.values(X)[values])
