"""Defaults that users rely on, and boundaries where what is found out changes."""

import inspect

import numpy as np
import pytest

import repsketch as rs
from repsketch.compress import DEFAULT_BUDGET
from repsketch.data.targets import read_labels


def default_of(function, name):
    return inspect.signature(function).parameters[name].default


def test_defaults():
    assert default_of(rs.Sketch.predict_interval, "confidence") == 0.95
    assert (default_of(rs.compress, "budget"), DEFAULT_BUDGET) == (None, "4KB")  # with a tolerance, there is none
    assert default_of(rs.compress, "progress") is default_of(rs.frontier, "progress") is True
    assert default_of(rs.frontier, "budgets") == ("256B", "512B", "1KB", "2KB", "4KB", "16KB")
    assert default_of(rs.compress, "time_limit") is None
    assert (default_of(rs.compress, "effort"), default_of(rs.compress, "loss")) == ("normal", None)
    assert default_of(rs.SketchRegressor, "loss") == "squared_error"
    for estimator in (rs.SketchClassifier, rs.SketchRegressor):
        assert (default_of(estimator, "budget"), default_of(estimator, "progress")) == ("4KB", False)
    assert default_of(rs.build_sketch, "n_rows") == 500
    assert default_of(rs.build_sketch, "n_buckets") == 2


def test_the_interval_of_a_density_is_one_of_95_per_cent():
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=200, n_buckets=16, n_features=1).add([[0.0], [0.5]])
    np.testing.assert_array_equal(density.predict_interval([[0.1]]), density.predict_interval([[0.1]], 0.95))
    assert density.predict_interval([[0.1]], 0.9)[0] > density.predict_interval([[0.1]])[0]


@pytest.mark.parametrize(("n_values", "task"), [(20, "classification"), (21, "regression")])
def test_integers_of_up_to_20_values_are_classes(n_values, task):
    assert read_labels(np.arange(200) % n_values, 200, None, None)[1] == task


def test_look_ups_are_counted():
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=30, n_buckets=8, n_features=2, n_concat=2)
    assert density.cost().lookups == 30
    small = density.add([[0.0, 0.0]]).quantize([[0.0, 0.0], [1.0, 1.0]])
    assert small.cost().lookups == 30
    assert small.cost().operations >= 30
