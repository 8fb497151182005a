"""Intervals from the standard deviation of rows: a median of means is less certain than the mean."""

from dataclasses import replace
from math import pi, sqrt

import numpy as np
import pytest

from repsketch import Sketch, lsh


def test_intervals_of_a_median_are_wider():
    X = np.random.default_rng(0).normal(size=(50, 2))
    mean = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=100, n_buckets=16, n_features=2).add(X, progress=False)
    widths = []
    for sketch in (mean, replace(mean, n_groups=5)):
        low, high = sketch.predict_interval(X[:5])
        widths.append(high - low)
    np.testing.assert_allclose(widths[1], sqrt(pi / 2.0) * widths[0], rtol=1e-5)


def test_the_deviation_is_that_of_a_sample():
    X = np.random.default_rng(0).normal(size=(50, 2))
    sketch = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=20, n_buckets=16, n_features=2, debias=False).add(X)
    read = np.array([sketch.counters[row, sketch.buckets(X[:1])[0, row], 0] for row in range(20)])
    low, high = sketch.predict_interval(X[:1], confidence=0.95)
    assert (high - low) / 2 == pytest.approx(2.093 * read.std(ddof=1) / sqrt(20), rel=1e-3)  # Student's, 19 free
