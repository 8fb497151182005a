"""Intervals: whose they are, their shapes, the table's numbers, odd data, and one clear error for each bad request."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.errors import InputError
from repsketch.model.intervals import CONFIDENCES, MIN_ROWS_PER_BIN, Intervals, n_confidences_of
from repsketch.sketch import CompiledSketch

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 3))
Y = X[:, 0] + 0.1 * np.exp(X[:, 1]) * RNG.normal(size=600)


def kernel_of(n_outputs=1, **options):
    rng, sizes = np.random.default_rng(1), [(10, 2), (10, n_outputs), (3, 2)]
    points, weights, projection = (rng.normal(size=size).astype(np.float32) for size in sizes)
    bias = np.zeros(n_outputs, np.float32)
    return KernelModel(points, weights, bias, lsh.L2(2.0), projection=projection, **options)


@pytest.fixture(scope="module")
def refitted():
    return build_sketch(kernel_of(), n_rows=20, n_buckets=8).refit(X[:300], Y[:300], progress=False)


@pytest.fixture(scope="module")
def trained(refitted):
    return refitted.with_intervals(X[300:], Y[300:])


# ---- requests ----


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_shapes_are_those_of_predict(n_outputs):
    sketch = build_sketch(kernel_of(n_outputs), n_rows=20, n_buckets=8)
    values = np.repeat(Y[:, None], n_outputs, axis=1)
    for one in (
        sketch,
        sketch.refit(X, values, progress=False).with_intervals(X, values),
        sketch.with_intervals(X, values),
    ):
        low, high = one.predict_interval(X)
        assert low.shape == high.shape == one.predict(X).shape
        assert low.dtype == high.dtype == np.float64
        assert ((low < one.predict(X)) & (one.predict(X) < high)).all()


@pytest.mark.parametrize("aggregate", ["mean", "median_of_means"])
def test_more_confidence_and_fewer_rows_are_wider(aggregate):
    few, many = (build_sketch(kernel_of(), n, 8, aggregate=aggregate) for n in (50, 450))
    widths = [np.subtract(*few.predict_interval(X, confidence)[::-1]) for confidence in (0.3, 0.9, 0.999)]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()
    low, high = many.predict_interval(X, 0.9)
    assert widths[1].mean() == pytest.approx(3.0 * (high - low).mean(), rel=0.1)  # as the root of the rows


def test_scale_and_bias_of_the_outputs_move_the_interval():
    sketch = build_sketch(kernel_of(), n_rows=50, n_buckets=8)
    moved = replace(sketch, output_scale=-2.0, output_bias=3.0)
    (low, high), (moved_low, moved_high) = sketch.predict_interval(X), moved.predict_interval(X)
    np.testing.assert_allclose(moved_low, 3.0 - 2.0 * high, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(moved_high, 3.0 - 2.0 * low, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, np.nan, None, "0.95"])
@pytest.mark.parametrize("kind", ["paper", "trained"])
def test_confidence_lies_between_0_and_1(kind, confidence, trained):
    sketch = trained if kind == "trained" else build_sketch(kernel_of(), n_rows=20, n_buckets=8)
    with pytest.raises(InputError, match=r"confidence=.*; allowed is a number between 0 and 1"):
        sketch.predict_interval(X, confidence)


@pytest.mark.parametrize("confidence", [0.4999, 0.9901])
def test_confidences_beyond_the_table(confidence, trained):
    with pytest.raises(InputError, match=r"allowed is a number from 0\.5 to 0\.99.*come from 300 rows\.$"):
        trained.predict_interval(X, confidence)


@pytest.mark.parametrize(("n_rows", "most"), [(1, 0.5), (9, 0.9), (19, 0.95), (98, 0.98), (99, 0.99)])
def test_few_rows_tell_little(refitted, n_rows, most):
    sketch = refitted.with_intervals(X[:n_rows], Y[:n_rows])
    sketch.predict_interval(X, most)
    if most < 0.99:
        with pytest.raises(InputError, match=rf"from 0\.5 to {most}: .* {n_rows} rows\. More rows"):
            sketch.predict_interval(X, 0.99)


def test_trained_counters_need_rows_to_judge_by(refitted):
    for sketch in (refitted, CompiledSketch(refitted.model), build_sketch(kernel_of(), 20, 8).quantize(X)):
        with pytest.raises(InputError, match=r"no intervals, and.*; with_intervals\(X, y\), with rows that"):
            sketch.predict_interval(X)


def test_too_few_rows_for_a_deviation():
    with pytest.raises(InputError, match="standard deviation of 9 rows; needed are at least 10"):
        build_sketch(kernel_of(), n_rows=9, n_buckets=8).predict_interval(X)
    build_sketch(kernel_of(), n_rows=10, n_buckets=8).predict_interval(X)


def test_a_classifier_has_probabilities_instead():
    sketch = build_sketch(kernel_of(task="classification"), n_rows=20, n_buckets=8)
    for one in (sketch, CompiledSketch(sketch.model)):
        with pytest.raises(InputError, match="predict_interval on a classifier; predict_proba"):
            one.predict_interval(X)
        with pytest.raises(InputError, match="with_intervals on a classifier; predict_proba"):
            one.with_intervals(X, Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:-1], "one row for each row of X"),
        (np.stack([Y, Y], axis=1), "y has 2 columns; this sketch has 1 outputs"),
        (np.where(np.arange(600) == 7, np.nan, Y), "y holds NaN at row 7"),
    ],
)
def test_values_that_do_not_fit(refitted, y, message):
    with pytest.raises(InputError, match=message):
        refitted.with_intervals(X, y)


# ---- the table ----


def test_with_intervals_is_the_table_of_outputs_and_values(refitted, trained):
    table = Intervals.of(refitted.outputs(X[300:]), Y[300:, None])
    for name in ("borders", "scales", "quantiles"):
        assert getattr(table, name).tobytes() == getattr(trained.model.intervals, name).tobytes()


def test_levels_are_order_statistics_and_between_them_lines():
    residuals = RNG.permutation(np.arange(1.0, 100.0))
    table = Intervals.of(np.zeros((99, 1), np.float32), np.where(residuals % 2, residuals, -residuals)[:, None])
    widths = [float(table.half_widths(np.zeros((1, 1)), percent / 100)[0, 0]) for percent in CONFIDENCES]
    assert widths == list(CONFIDENCES)  # of 99 rows the (100 * confidence)-th
    assert table.half_widths(np.zeros((1, 1)), 0.93)[0, 0] == pytest.approx(93.0)


def test_scales_are_those_of_the_bins():
    outputs = np.repeat(np.arange(4.0, dtype=np.float32), MIN_ROWS_PER_BIN)[:, None]
    residuals = np.tile([1.0, 1.0, 1.0, 3.0], MIN_ROWS_PER_BIN)[:, None] * (1.0 + outputs)
    table = Intervals.of(outputs, outputs + residuals)
    np.testing.assert_allclose(table.scales[0], [1.5, 3.0, 4.5, 6.0])
    # Of 100 residuals that sum up to 150, the mean of the others is 149/99 if it is 1, and 147/99 if it is 3.
    np.testing.assert_allclose(table.quantiles[0, [0, -1]], [99 / 149, 3 * 99 / 147], rtol=1e-6)


def test_an_output_on_a_border_lies_above_it():
    outputs = np.repeat(np.float32([0.0, 1.0]), [150, 250])[:, None]
    table = Intervals.of(outputs, outputs + np.where(outputs == 1.0, 4.0, 2.0))
    assert table.borders.tolist() == [[1.0]]
    assert table.scales.tolist() == [[2.0, 4.0]]
    np.testing.assert_allclose(table.half_widths(np.float32([[0.0], [1.0]]), 0.9), [[2.0], [4.0]], rtol=1e-6)


@pytest.mark.parametrize("n", [1, 5, 99, 300, 1_000])
@pytest.mark.parametrize("kind", ["all right", "one output", "two outputs", "one miss"])
def test_odd_data_give_a_table(n, kind):
    rng = np.random.default_rng(n)
    outputs = rng.normal(size=(n, 2)).astype(np.float32)
    if kind == "one output":
        outputs[:] = 1.0
    if kind == "two outputs":
        outputs = (outputs > 0.5).astype(np.float32)
    values = outputs.astype(np.float64)
    if kind == "one miss":
        values[0] += 1e30
    elif kind != "all right":
        values += rng.normal(size=values.shape)
    table = Intervals.of(outputs, values)
    for percent in CONFIDENCES[: n_confidences_of(n)]:
        inside = np.abs(values - outputs) <= table.half_widths(outputs, percent / 100) * (1 + 1e-6)
        assert (inside.sum(axis=0) >= percent / 100 * n - 0.05 * n).all()
    assert table.half_widths(np.array([[np.float32(3e38), -3e38]]), 0.5).shape == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_rows": 98}, "16 quantiles of 98 rows do not fit"),
        ({"scales": np.zeros((1, 2), np.float32)}, "scales of bins"),
        ({"borders": np.full((1, 1), np.nan, np.float32)}, "borders of bins"),
        ({"borders": np.zeros((1, 2), np.float32)}, "borders have"),
        ({"quantiles": np.arange(16, 0, -1, dtype=np.float32)[None]}, "quantiles must"),
        ({"quantiles": np.full((1, 16), np.inf, np.float32)}, "quantiles must"),
        ({"quantiles": np.ones((1, 16))}, "quantiles have dtype float64"),
    ],
)
def test_tables_that_do_not_fit(change, message):
    good = Intervals(99, np.zeros((1, 1), np.float32), np.ones((1, 2), np.float32), np.ones((1, 16), np.float32))
    with pytest.raises(InputError, match=message):
        replace(good, **change)


def test_a_model_refuses_intervals_of_others(trained, refitted):
    table = trained.model.intervals
    with pytest.raises(InputError, match="intervals of 1 outputs"):
        replace(refitted.model, task="classification", intervals=table)
    with pytest.raises(InputError, match="intervals of 1 outputs with task=None and 2 outputs"):
        replace(build_sketch(kernel_of(2), 20, 8).model, intervals=table)


def test_a_density_has_intervals():
    density = Sketch.empty(lsh.L2(1.0), n_rows=300, n_buckets=16, n_features=2).add(X[:, :2])
    low, high = density.predict_interval(np.zeros((1, 2)), 0.99)
    exact = lsh.L2(1.0).collision_probability(np.zeros((1, 2)), X[:, :2]).sum()
    assert low[0] < exact < high[0]
