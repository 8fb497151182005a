"""Strategies that several laws draw from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from repsketch import Sketch, lsh

N_FEATURES, N_OUTPUTS = 3, 2
MOST_POINTS = 8
STEP = 2.0**-32
#: The largest weight that may be added with this step: 2**53 - 1 of them are exact in float64.
LARGEST_WEIGHT = (2.0**53 - 1) * STEP

FAMILIES = [
    lsh.L2(1.0),
    lsh.L2(0.3, directions="gaussian"),
    lsh.Angular(),
    lsh.Angular(directions="ternary"),
    lsh.MinHash(),
    lsh.L1(2.0),
]
# Zeros, a bucket edge in units of r / sqrt 3, a denormal, and anything of common size.
COORDINATES = st.sampled_from([0.0, -0.0, 1.0, 1e-42, float(np.float32(3.0**-0.5))]) | st.floats(-50, 50, width=32)


@st.composite
def _blank(draw):
    """Sketches without points, of every family and shape."""
    n_rows = draw(st.integers(1, 7))
    n_groups = draw(st.integers(1, n_rows))
    family, fold = draw(st.sampled_from([(family, "universal") for family in FAMILIES] + [(FAMILIES[0], "direct")]))
    return Sketch.empty(
        family,
        n_rows,
        n_buckets=16 if fold == "direct" else draw(st.integers(2, 9)),
        n_features=N_FEATURES,
        n_concat=draw(st.integers(1, 2)),
        n_outputs=N_OUTPUTS,
        aggregate="median_of_means",
        n_groups=n_groups,
        fold=fold,
        debias=draw(st.booleans()),
        weight_step=STEP,
        random_state=draw(st.integers(0, 2**32 - 1)),
    )


@st.composite
def _weighted_points(draw, largest_weight=LARGEST_WEIGHT):
    """Points (n, p) and weights (n, C); n may be 0."""
    n = draw(st.integers(0, MOST_POINTS))
    weights = st.floats(-largest_weight, largest_weight)
    points = draw(arrays(np.float32, (n, N_FEATURES), elements=COORDINATES))
    return points, draw(arrays(np.float64, (n, N_OUTPUTS), elements=weights))


@st.composite
def _filled(draw):
    """Sketches with points, half of them behind a projection with a shift and a linear term."""
    # No bar: the first import of rich uses `random`, which hypothesis forbids inside a strategy.
    sketch = draw(_blank()).add(*draw(_weighted_points(largest_weight=100.0)), progress=False)
    if draw(st.booleans()):
        return sketch
    shapes = {"projection": (4, N_FEATURES), "shift": (N_FEATURES,), "linear": (N_FEATURES, N_OUTPUTS)}
    numbers = st.floats(-3, 3, width=32)
    return replace(
        sketch, **{name: draw(arrays(np.float32, shape, elements=numbers)) for name, shape in shapes.items()}
    )


@pytest.fixture(scope="session")
def blank():
    return _blank()


@pytest.fixture(scope="session")
def weighted_points():
    return _weighted_points()


@pytest.fixture(scope="session")
def modest_points():
    """Weights so small that all sums of a test stay below 2**53 steps, the integers float64 holds."""
    return _weighted_points(largest_weight=2.0**53 * STEP / (4 * MOST_POINTS))


@pytest.fixture(scope="session")
def filled():
    return _filled()


@pytest.fixture(scope="session")
def queries():
    """A strategy factory: inputs (n, d) for a sketch."""
    return lambda sketch: st.integers(1, 6).flatmap(
        lambda n: arrays(np.float32, (n, sketch.n_features), elements=COORDINATES)
    )


@pytest.fixture(scope="session")
def state():
    """The bytes of a sketch that points change: the sums, their total, and the counters read from them."""
    return lambda sketch: (sketch.sums.sums.tobytes(), sketch.sums.total.tobytes(), sketch.counters.tobytes())
