"""Targets and weights that cannot be taken, call by call."""

import numpy as np
import pytest

from repsketch.errors import InputError, MergeError
from support.cases import case
from support.spoiled import D, N, built, check, empty, good_table, good_targets

VALUE_CALLS = {
    "Sketch.add": ("weights", lambda values: empty().add(good_table(), values)),
    "Sketch.subtract": ("weights", lambda values: empty().subtract(good_table(), values)),
    "refit": ("targets", lambda values: built().refit(good_table(), values)),
    "calibrate": ("targets", lambda values: built().calibrate(good_table(), values)),
}


def with_target(value):
    def make():
        values = good_targets()
        values[3] = value
        return values

    return make


BAD_VALUES = {
    "NaN": (with_target(np.nan), "{name} holds NaN at row 3, column 0;.*finite"),
    "+inf": (with_target(np.inf), "{name} holds infinity .*row 3, column 0;.*finite"),
    "opposite infinities": (lambda: np.array([np.inf, -np.inf] * 3), "{name} holds infinity .*row 0, column 0;"),
    "masked": (lambda: np.ma.array(good_targets(), mask=good_targets() == 3), "{name} holds a masked entry at row 3;"),
    "masked integers": (
        lambda: np.ma.array([1] * N, mask=[False] * 5 + [True]),
        "{name} .*masked entry at row 5;",
    ),
    "far beyond float64": (lambda: [10**400] * N, "{name} holds a number that is too large"),
    "too few": (lambda: np.ones(N - 1), r"{name} has shape \(5,\); allowed is \(6,\) or \(6, C\)"),
    "too many": (lambda: np.ones(N + 1), r"{name} has shape \(7,\); allowed is \(6,\) or \(6, C\)"),
    "a number": (lambda: 1.0, r"{name} has shape \(\); allowed is \(6,\) or \(6, C\)"),
    "3-D": (lambda: np.ones((N, 1, 1)), r"{name} has shape \(6, 1, 1\); allowed is"),
    "0 columns": (lambda: np.ones((N, 0)), r"{name} has shape \(6, 0\); allowed is"),
    "2 columns": (lambda: np.ones((N, 2)), "{name} have 2 columns; this sketch has 1 outputs"),
    "text": (lambda: ["a"] * N, "{name} holds .* values that are not numbers"),
    "complex": (lambda: np.ones(N, complex), "Complex data not supported: {name}"),
    "objects": (lambda: np.full(N, object()), "{name} holds object values that are not numbers"),
    "ragged": (lambda: [[1.0, 2.0]] * (N - 1) + [[1.0]], "{name} "),
}


@pytest.mark.parametrize("call", VALUE_CALLS)
def test_values(call):
    name, function = VALUE_CALLS[call]
    for bad, (make, words) in BAD_VALUES.items():
        with case(bad):
            check(lambda make=make: function(make()), InputError, words.format(name=name))


@pytest.mark.parametrize("value", [1e39, 1e300, -1e307])
@pytest.mark.parametrize("call", ["refit", "calibrate"])
def test_targets_beyond_float32(call, value):
    """Counters, gain and offset are float32: such targets would end as infinities."""
    check(lambda: VALUE_CALLS[call][1](good_targets() * value), InputError, "targets .*float32")


@pytest.mark.parametrize("value", [3e6, 1e39, 1e300, -1e308])
@pytest.mark.parametrize("call", ["Sketch.add", "Sketch.subtract"])
def test_weights_too_large_for_the_fixed_point(call, value):
    words = r"weight.* allowed is less than 2\.1e\+06.* larger weight_step"
    check(lambda: VALUE_CALLS[call][1](np.full(N, value)), InputError, words)


def test_sums_too_large_for_the_fixed_point():
    points = np.zeros((600, D))
    words = r"sum of .*weights would pass 1\.07e\+09.* larger weight_step"
    check(lambda: empty().add(points, np.full(600, 2e6)), MergeError, words)
