"""Codes searched against brute force, rows grown greedily, counters swept; and the model that is stored."""

from itertools import product

import numpy as np
import pytest

from repsketch.model import Model
from repsketch.sketch import CompiledSketch
from repsketch.train.assemble import summed_rows, threshold_rows
from repsketch.train.candidates import Thresholds
from repsketch.train.columns import find_kinds, ranged_inputs
from repsketch.train.greedy import choose_codes, grow_rows
from repsketch.train.objective import Absolute, Logistic, Objective, Softmax
from repsketch.train.sweeps import grid_for, outputs_of, sweep

N, STRENGTH = 300, 2.0


KINDS = np.array([0, 0, 0, 1, 4])


def values(rng: np.random.Generator) -> np.ndarray:
    """Columns of many values, of few, of one, a boolean, and one of four categories, missing at times; (8, n)."""
    numbers = [rng.integers(-50, 50, N), rng.integers(0, 3, N), np.zeros(N, np.int64), rng.random(N) < 0.3]
    return np.concatenate([np.stack(numbers), rng.integers(0, 5, N) == np.arange(4)[:, None]])


def candidates(rng: np.random.Generator) -> Thresholds:
    return Thresholds.between(values(rng), KINDS)


def objective(n_outputs: int, rng: np.random.Generator) -> Objective:
    if n_outputs == 1:
        return Logistic((rng.random((N, 1)) < 0.4).astype(float))
    return Softmax(np.eye(n_outputs)[rng.integers(0, n_outputs, N)])


def plain_gain(bit: np.ndarray, buckets: np.ndarray, slope: np.ndarray, curvature: np.ndarray) -> float:
    """The gain of one code, by its definition."""
    total = 0.0
    for bucket, side in product(np.unique(buckets), (0, 1)):
        inside = (buckets == bucket) & (bit == side)
        total += (slope[inside].sum(axis=0) ** 2 / (curvature[inside].sum(axis=0) + STRENGTH)).sum()
    return total


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_gains_are_those_of_brute_force(n_outputs):
    rng = np.random.default_rng(1)
    codes, loss = candidates(rng), objective(n_outputs, rng)
    slope, curvature = loss.slopes(rng.normal(size=(N, n_outputs)))
    buckets = rng.integers(0, 4, N).astype(np.uint8)
    numbers = np.concatenate([slope, curvature], axis=1).astype(np.float32)
    expected = [plain_gain(codes.bits(code), buckets, slope, curvature) for code in range(codes.n_codes)]
    np.testing.assert_allclose(codes.gains(buckets, 4, numbers, STRENGTH), expected, rtol=1e-4)


def test_each_code_is_the_best_given_those_before():
    rng = np.random.default_rng(2)
    codes, loss = candidates(rng), objective(1, rng)
    slope, curvature = loss.slopes(np.zeros((N, 1)))
    chosen = choose_codes(codes, np.concatenate([slope, curvature], axis=1).astype(np.float32), 3, STRENGTH)
    assert len(set(chosen)) == 3
    buckets = np.zeros(N, np.uint8)
    for place, code in enumerate(chosen):
        gains = {c: plain_gain(codes.bits(c), buckets, slope, curvature) for c in range(codes.n_codes)}
        best = max(gain for c, gain in gains.items() if c not in chosen[:place])
        assert gains[code] == pytest.approx(best, rel=1e-4)
        buckets |= codes.bits(code) << place


@pytest.mark.parametrize("place", [0, 1])
def test_a_code_in_use_is_taken_where_a_new_one_gains_little_more(place):
    """By brute force: what a code adds to the gain of the buckets as they are counts half as much again if used."""
    rng = np.random.default_rng(4)
    codes, loss = candidates(rng), objective(1, rng)
    slope, curvature = loss.slopes(np.zeros((N, 1)))
    numbers = np.concatenate([slope, curvature], axis=1).astype(np.float32)
    fresh = choose_codes(codes, numbers, 2, STRENGTH)
    buckets = codes.bits(fresh[0]) if place else np.zeros(N, np.uint8)
    alone = plain_gain(np.zeros(N, np.uint8), buckets, slope, curvature)
    added = np.array([plain_gain(codes.bits(c), buckets, slope, curvature) for c in range(codes.n_codes)]) - alone
    others = np.setdiff1d(np.arange(codes.n_codes), fresh)
    near = int(others[np.argmax(added[others])])
    lead = float(added[fresh[place]] / added[near])
    assert lead > 1.0
    used = [near] if not place else [near, fresh[0]]  # the first choice stays what it was
    assert choose_codes(codes, numbers, 2, STRENGTH, used, 1.01 * (lead - 1.0))[place] == near
    assert choose_codes(codes, numbers, 2, STRENGTH, used, 0.99 * (lead - 1.0))[place] == fresh[place]


def grown(n_outputs=1, n_rows=12, seed=3):
    rng = np.random.default_rng(seed)
    codes, loss = candidates(rng), objective(n_outputs, rng)
    return codes, loss, grow_rows(codes, loss, n_rows, 2, shrinkage=0.5, strength=STRENGTH)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_every_row_lowers_the_loss(n_outputs):
    _, loss, rows = grown(n_outputs)
    losses = [loss.loss(outputs_of(rows.first(n))) for n in range(len(rows.codes) + 1)]
    assert (np.diff(losses) < 0).all()


def test_rows_are_what_their_codes_say():
    codes, _, rows = grown()
    for buckets, chosen in zip(rows.buckets, rows.codes, strict=True):
        expected = sum(codes.bits(code).astype(int) << place for place, code in enumerate(chosen))
        np.testing.assert_array_equal(buckets, expected)


def penalised(loss: Objective, rows, strength: float) -> float:
    return N * loss.loss(outputs_of(rows)) + 0.5 * strength * (rows.values**2).sum()


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_sweeps_find_where_the_penalised_loss_is_flat(n_outputs):
    _, loss, rows = grown(n_outputs)

    def steepest(rows) -> float:
        slope, _ = loss.slopes(outputs_of(rows))
        return max(
            np.abs(slope[buckets == bucket].sum(axis=0) + STRENGTH * counter).max()
            for buckets, counters in zip(rows.buckets, rows.values, strict=True)
            for bucket, counter in enumerate(counters)
        )

    fitted = sweep(rows, loss, 600, strength=STRENGTH)
    assert steepest(fitted) < 1e-2 * steepest(rows)
    assert penalised(loss, fitted, STRENGTH) < penalised(loss, rows, STRENGTH)


@pytest.mark.parametrize("largest", [7, 127])
@pytest.mark.parametrize("seed", range(5))
def test_sweeps_on_the_grid_are_no_worse_than_rounding(seed, largest):
    _, loss, rows = grown(seed=seed)
    fitted = sweep(rows, loss, 20, strength=STRENGTH)
    grid = grid_for(fitted.values, largest, 1.0)
    rounded = sweep(fitted, loss, 0, strength=STRENGTH, grid=grid)
    swept = sweep(fitted, loss, 4, strength=STRENGTH, grid=grid)
    multiples = swept.values / grid.step
    np.testing.assert_allclose(multiples, np.rint(multiples), atol=1e-9)
    assert np.abs(multiples).max() <= largest + 1e-9
    assert penalised(loss, swept, STRENGTH) <= penalised(loss, rounded, STRENGTH) + 1e-9


def test_towards_pulls_counters_there():
    _, loss, rows = grown()
    near = np.full_like(rows.values, 0.3)
    swept = sweep(rows, loss, 50, strength=1e9, towards=near)
    np.testing.assert_allclose(swept.values, near, atol=1e-3)


def test_absolute_error_falls_with_every_sweep():
    rng = np.random.default_rng(4)
    codes, loss = candidates(rng), Absolute(rng.normal(size=(N, 1)))
    rows = grow_rows(codes, loss, 8, 2, shrinkage=0.5)
    losses = [loss.loss(outputs_of(sweep(rows, loss, n, strength=0.01))) for n in (0, 1, 4, 16)]
    assert losses[0] > losses[1] > losses[2] > losses[3]


def test_the_model_predicts_what_was_trained():
    """Columns of all kinds with missing values; some columns are never used and not stored."""
    rng = np.random.default_rng(5)
    X = np.stack(
        [rng.normal(5, 2, N), rng.integers(0, 4, N), rng.random(N) < 0.5, np.full(N, 3.0), rng.normal(size=N)], axis=1
    ).astype(np.float32)
    X[rng.random(N) < 0.1, 0] = np.nan
    kinds = find_kinds(X, {1: 4})
    assert kinds.tolist() == [0, 4, 1, 0, 0]
    inputs = ranged_inputs(X, kinds)
    codes = Thresholds.between(inputs.values(X), inputs.kinds)
    loss = Logistic(((X[:, 1] == 2) | (np.nan_to_num(X[:, 0]) > 6)).astype(float)[:, None])
    rows = grow_rows(codes, loss, 10, 2)
    grid = grid_for(rows.values, 7, 1.0)
    fitted = sweep(rows, loss, 3, strength=1.0, grid=grid)
    used, pooled = threshold_rows(inputs, codes, rows.codes)
    group = summed_rows(pooled, grid.multiples(fitted.values), "int4", np.full(1, grid.step))
    sketch = CompiledSketch(Model(used, None, (group,), fitted.offset.astype(np.float32)))
    np.testing.assert_allclose(sketch.outputs(X), outputs_of(fitted), atol=1e-5)
    assert used.n_columns < 5
    accuracy = ((sketch.outputs(X) > 0) == (loss.targets > 0.5)).mean()
    assert accuracy > 0.97
