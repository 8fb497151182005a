"""What tests of the frontier share."""

from dataclasses import replace

import pytest

from repsketch.train.effort import SearchEffort
from repsketch_bench.frontier import ablation


@pytest.fixture
def brief_search(monkeypatch):
    """Ablations whose search makes few and short fits, for tests of anything but accuracy."""
    effort = SearchEffort(n_first=2, max_cost=6.0, n_final=1)
    brief = effort.with_fits(lambda fit: replace(fit, n_steps=30, refits=fit.refits[:2]))
    monkeypatch.setattr(ablation, "NORMAL", brief)
