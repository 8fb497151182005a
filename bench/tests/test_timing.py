"""Interleaved timing, on a clock of our own: no test here depends on how fast the machine is."""

import gc

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch_bench.timing import Contestant, Quartiles, Timing, measure


class Machine:
    """A clock that only work moves on, and that may slow down as it goes."""

    def __init__(self, slowdown=0.0):
        self.now, self.slowdown, self.calls = 0.0, slowdown, []

    def clock(self):
        return int(self.now)

    def contestant(self, name, ns, n_queries=1):
        def call():
            self.calls.append(name)
            self.now += ns * (1.0 + self.slowdown * self.now)

        return Contestant(name, call, n_queries)


def timed(machine, contestants, n_rounds=9, least_seconds=1e-6):
    options = {"n_rounds": n_rounds, "least_seconds": least_seconds, "progress": False}
    return measure(contestants, clock=machine.clock, **options)


def test_nanoseconds_a_query():
    machine = Machine()
    timing = timed(machine, [machine.contestant("batch", 50_000, 100), machine.contestant("row", 700)])
    assert timing.names == ("batch", "row")
    np.testing.assert_array_equal(timing.ns, np.tile([500.0, 700.0], (9, 1)))
    assert timing.quartiles("batch") == Quartiles(500.0, 500.0, 500.0)
    assert timing.ratio("batch", "row").median == pytest.approx(5 / 7)


def test_ratios_are_taken_within_a_round():
    """Here the ratio of the medians is 2, that of the rounds 4."""
    timing = Timing(("a", "b"), np.array([[40.0, 10.0], [20.0, 20.0], [10.0, 1.0], [8.0, 2.0], [400.0, 100.0]]))
    assert timing.quartiles("a").median / timing.quartiles("b").median == 2.0
    assert timing.ratio("a", "b") == Quartiles(4.0, 4.0, 4.0)
    assert timing.ratio("b", "a") == Quartiles(0.25, 0.25, 0.25)


def test_a_machine_that_slows_down_hardly_moves_the_ratio():
    machine = Machine(slowdown=1e-5)
    timing = timed(machine, [machine.contestant("slow", 300), machine.contestant("fast", 100)], n_rounds=40)
    assert timing.ns[-1, 1] > 1.4 * timing.ns[0, 1]
    ratio = timing.ratio("slow", "fast")
    assert 2.8 < ratio.low <= ratio.median <= ratio.high < 3.2


@pytest.mark.parametrize("ns", [1, 7, 1000, 5e6])
def test_one_timing_lasts_long_enough(ns):
    machine = Machine()
    timed(machine, [machine.contestant("a", ns)], n_rounds=1, least_seconds=1e-4)
    before = len(machine.calls)
    timed(machine, [machine.contestant("a", ns)], n_rounds=2, least_seconds=1e-4)
    in_a_round = (len(machine.calls) - before) - before
    assert 1e5 <= in_a_round * ns < max(1.3e5, 1.1 * ns)


def test_every_contestant_runs_in_every_round_in_changing_order():
    machine = Machine()
    timed(machine, [machine.contestant(name, 2000) for name in "abcd"], n_rounds=20)
    rounds = [tuple(machine.calls[i : i + 4]) for i in range(8, len(machine.calls), 4)]  # 8 calls warm up
    assert len(rounds) == 20
    assert all(sorted(order) == list("abcd") for order in rounds)
    assert len(set(rounds)) > 5


@pytest.mark.parametrize("is_enabled", [True, False])
def test_garbage_collection_is_as_before_even_after_an_error(is_enabled):
    machine, seen = Machine(), []

    def fail():
        seen.append(gc.isenabled())
        machine.now += 5000
        if len(seen) == 4:
            raise RuntimeError("broken")

    (gc.enable if is_enabled else gc.disable)()
    try:
        with pytest.raises(RuntimeError, match="broken"):
            timed(machine, [Contestant("a", fail, 1)])
        assert gc.isenabled() == is_enabled
        assert seen[2:] == [False, False]
    finally:
        gc.enable()


@pytest.mark.parametrize(("names", "n_rounds"), [("", 3), ("aa", 3), ("ab", 0)])
def test_refuses(names, n_rounds):
    machine = Machine()
    with pytest.raises(InputError, match="names must differ"):
        timed(machine, [machine.contestant(name, 10) for name in names], n_rounds)
