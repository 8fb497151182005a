"""What tests of the frontier share."""

from dataclasses import replace

import pytest

from repsketch.train.effort import SearchEffort
from repsketch_bench.frontier import ablation, teachers


@pytest.fixture
def brief_search(monkeypatch):
    """Ablations whose search makes few and short fits, for tests of anything but accuracy."""
    effort = SearchEffort(n_first=2, n_first_of_few=2, max_cost=3.0, n_final=1)
    brief = effort.with_fits(lambda fit: replace(fit, n_steps=30, refits=fit.refits[:2]))
    monkeypatch.setattr(ablation, "NORMAL", brief)


@pytest.fixture(scope="session")
def brief_teachers():
    """Networks of few epochs as teachers: wine is easy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teachers, "STEPS", 12)
        patch.setattr(teachers, "MOST_ROUNDS", 60)
        yield
