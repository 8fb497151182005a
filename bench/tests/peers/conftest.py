"""Every peer, fitted once to every small table."""

import pytest

from repsketch_bench.peers import PEERS, descent
from support.datasets import BUDGETS, data_of


@pytest.fixture(scope="module", autouse=True)
def _short_trainings():
    """Seconds instead of minutes: these tables are easy."""
    with pytest.MonkeyPatch.context() as patch:
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
    return dict(peer.models(data, BUDGETS, seed=3, is_quick=True))
