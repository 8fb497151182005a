"""How much work a search does, for few rows and for large models."""

import pytest

from repsketch.train.effort import EFFORTS, MAX_WORK_RATIO, MIN_RECIPES
from repsketch.train.stage_work import MIN_STEP_SHARE, WORK_PER_STEP, steps_for

N_ROWS = 10**6


def work_of(effort, ratio: float) -> float:
    """Work of all rounds, where a step is ``ratio`` times the usual work."""
    work = ratio * WORK_PER_STEP
    found = effort.for_work(ratio)
    return sum(
        rung.n_recipes * steps_for(rung.n_steps, work, found.final.work_per_step, N_ROWS) * work for rung in found.rungs
    )


@pytest.mark.parametrize("name", EFFORTS)
def test_rounds_of_large_models_take_little_more_work(name):
    """Until the least share of the steps is reached: then the work grows with the model."""
    effort = EFFORTS[name]
    usual = work_of(effort, 1.0)
    for ratio in (1.5, 2.0, 4.0, 8.0, 16.0):
        n_steps = steps_for(10_000, ratio * WORK_PER_STEP, effort.for_work(ratio).final.work_per_step, N_ROWS)
        if n_steps > 10_000 * MIN_STEP_SHARE:
            assert work_of(effort, ratio) <= 1.02 * MAX_WORK_RATIO * usual, ratio
            assert ratio < 8.0 or work_of(effort, ratio) > 0.7 * MAX_WORK_RATIO * usual, ratio
    assert work_of(effort, 1_000.0) > 5.0 * usual


def test_large_models_have_fewer_recipes_and_small_ones_more():
    for effort in EFFORTS.values():
        counts = [[rung.n_recipes for rung in effort.for_work(ratio).rungs] for ratio in (0.5, 1.0, 4.0, 64.0)]
        assert counts == sorted(counts, reverse=True)
        assert counts[1] == [rung.n_recipes for rung in effort.rungs]
        assert all(n >= min(MIN_RECIPES, rung.n_recipes) for n, rung in zip(counts[-1], effort.rungs, strict=True))
        assert all(rung.n_best < rung.n_recipes for rung in effort.for_work(64.0).rungs)


def test_efforts_differ_in_order():
    fast, normal, thorough = (work_of(EFFORTS[name], 1.0) for name in ("fast", "normal", "thorough"))
    assert 4 * fast < normal < thorough / 5
    assert [EFFORTS[name].has_teacher for name in EFFORTS] == [False, True, True]
