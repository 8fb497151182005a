"""Every peer, fitted once to every small problem."""

import pytest

from repsketch.compare import descent
from repsketch_bench.peers import PEERS, tune_each
from support.datasets import BUDGETS, data_of


@pytest.fixture(scope="session", autouse=True)
def _short_trainings():
    """Seconds instead of minutes: these problems are easy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(descent, "SCREENING_STEPS", 40)
        patch.setattr(descent, "FINAL_STEPS", 250)
        yield


@pytest.fixture(scope="session", params=["two classes", "three classes", "values"])
def problem(request):
    return data_of(request.param)


@pytest.fixture(scope="session", params=list(PEERS))
def peer(request):
    return PEERS[request.param]


@pytest.fixture(scope="session")
def fitted(problem, peer):
    """Models of both budgets."""
    return tune_each(peer.kind, problem, BUDGETS, seed=3, is_distilled=peer.is_distilled, is_quick=True)
