"""The paper's sizes on real data, one seed: what README's table says over five, kept from rotting.

Slow, and only with REPSKETCH_DATA.
"""

import os
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("REPSKETCH_DATA" not in os.environ, reason="REPSKETCH_DATA is not set: no real data"),
]


@pytest.fixture
def measure(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from accuracy import measure

    yield measure
    for name in ("accuracy", "data", "record"):
        sys.modules.pop(name, None)


def test_a9a_at_the_papers_size(measure):
    run = measure("a9a", 0, progress=False)
    scores = run["scores"]
    assert run["sketch"]["parameters"] == 1984
    assert scores["teacher"] >= 0.848
    assert scores["kernel"] >= scores["teacher"] - 0.004
    assert scores["refitted"] >= scores["teacher"] - 0.005
    assert scores["calibrated"] >= 0.829


def test_abalone_at_744_numbers(measure):
    run = measure("abalone", 1, progress=False)
    assert run["sketch"]["parameters"] == 744
    assert run["scores"]["refitted"] <= 1.51
    assert run["scores"]["respent"] <= 1.51
