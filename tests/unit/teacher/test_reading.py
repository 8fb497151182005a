"""Outputs that are nearly probabilities: what rounding may do to them."""

import numpy as np
import pytest

from repsketch.teacher.reading import Reading


@pytest.mark.parametrize(
    ("row", "scale"),
    [
        ([1.0 + 5e-7, 0.0], "probabilities"),  # a softmax in float32
        ([1.0, -5e-7], "probabilities"),
        ([0.5, 0.5009], "probabilities"),  # float16
        ([1.0 + 5e-6, 0.0], "logits"),
        ([1.0, -5e-6], "logits"),
        ([0.5, 0.502], "logits"),
    ],
)
def test_rounded_probabilities(row, scale):
    raw = np.array([[0.25, 0.75], row])
    assert Reading("classification").resolve(raw, "a model").scale == scale
