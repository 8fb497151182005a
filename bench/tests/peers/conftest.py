"""Every peer, fitted once to every small table."""

import pytest

from repsketch.compare import network
from repsketch_bench.peers import PEERS, descent, tune_each
from support.datasets import BUDGETS, data_of


@pytest.fixture(scope="module", autouse=True)
def _short_trainings():
    """Seconds instead of minutes: these tables are easy."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "SCREENING_STEPS", 300)
        patch.setattr(network, "FINAL_STEPS", 1_500)
        patch.setattr(descent, "SCREENING_STEPS", 40)
        patch.setattr(descent, "FINAL_STEPS", 250)
        yield


@pytest.fixture(scope="module", params=["two classes", "three classes", "values"])
def data(request):
    return data_of(request.param)


@pytest.fixture(scope="module", params=list(PEERS))
def peer(request):
    return PEERS[request.param]


@pytest.fixture(scope="module")
def fitted(data, peer):
    """Models of both budgets."""
    return tune_each(peer.kind, data, BUDGETS, seed=3, is_distilled=peer.is_distilled, is_quick=True)
