"""Networks of the paper's shapes, counted by torchinfo and fvcore, are what our own formulas say."""

import pytest

from repsketch.theory import Cost
from repsketch_bench.baselines.layers import fresh_network
from repsketch_bench.datasets import PAPER_SIZES
from repsketch_bench.paper.accounting import count_network

pytest.importorskip("torchinfo", reason="torchinfo is not installed")
pytest.importorskip("yacs", reason="fvcore is not installed")  # fvcore itself warns when it is imported


@pytest.mark.parametrize("name", PAPER_SIZES)
def test_both_counts_agree(name):
    sizes = PAPER_SIZES[name]
    widths = [sizes.n_features, *sizes.hidden, 1]
    cost = Cost.of_mlp(widths)
    assert count_network(fresh_network(widths)) == (cost.parameters, cost.paper_flops)
