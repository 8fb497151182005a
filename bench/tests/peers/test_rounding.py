"""Quantised weights use all of int8."""

import numpy as np
import torch

from repsketch.model.numbers import decode_bfloat16
from repsketch_bench.peers.rounding import rounded, to_int8


def test_weights_fill_int8_and_are_those_of_training():
    values = torch.randn(50, 4, generator=torch.Generator().manual_seed(0))
    numbers, steps = to_int8(values, (0,))
    assert np.abs(numbers).max(axis=0).tolist() == [127] * 4
    stored = numbers * decode_bfloat16(steps)
    np.testing.assert_array_equal(stored, rounded(values, (0,)).numpy())
    assert np.abs(stored - values.numpy()).max() <= 0.51 * decode_bfloat16(steps).max()
