"""What tests of the frontier share."""

import pytest

from repsketch_bench.frontier import teachers


@pytest.fixture(scope="session")
def brief_teachers():
    """Networks of few epochs as teachers: wine is easy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(teachers, "STEPS", 12)
        patch.setattr(teachers, "MOST_ROUNDS", 60)
        yield
