"""The paper's printed memory and FLOPs columns, computed again from the sizes that erratum 4 decodes."""

import pytest

from repsketch.theory import Cost
from repsketch_bench.datasets import PAPER_SIZES
from repsketch_bench.paper.printed import MISPRINTS, PRINTED

FIELDS = (
    "network_megabytes",
    "sketch_megabytes",
    "memory_reduction",
    "network_flops",
    "sketch_flops",
    "flops_reduction",
)


def computed(name: str) -> dict[str, float]:
    """What the formulas give: 64-bit numbers, d p + L 2^K of them, and 2 d p + p K L / 3 + L operations."""
    sizes = PAPER_SIZES[name]
    d, p, n_rows, n_concat = sizes.n_features, sizes.n_components, sizes.n_rows, sizes.n_concat
    network = Cost.of_mlp([d, *sizes.hidden, 1])
    numbers, flops = d * p + n_rows * 2**n_concat, 2 * d * p + p * n_concat * n_rows / 3 + n_rows
    return {
        "network_megabytes": 8e-6 * network.parameters,
        "sketch_megabytes": 8e-6 * numbers,
        "memory_reduction": network.parameters / numbers,
        "network_flops": network.paper_flops,
        "sketch_flops": flops,
        "flops_reduction": network.paper_flops / flops,
    }


def is_printed_so(printed: float, value: float) -> bool:
    """The printed figure is the value to its two or three digits; the paper cuts some off instead of rounding."""
    return abs(value - printed) <= 0.05 * printed


@pytest.mark.parametrize("name", PRINTED)
@pytest.mark.parametrize("field", FIELDS)
def test_the_column_can_be_computed(name, field):
    agrees = is_printed_so(getattr(PRINTED[name], field), computed(name)[field])
    assert agrees == ((name, field) not in MISPRINTS)


def test_our_sketches_count_as_the_paper_does():
    for name, sizes in PAPER_SIZES.items():
        cost = Cost.of_sketch(
            sizes.n_features, sizes.n_components, sizes.n_rows, 2**sizes.n_concat, n_concat=sizes.n_concat
        )
        assert 8e-6 * cost.parameters == pytest.approx(computed(name)["sketch_megabytes"])
        assert cost.paper_flops == pytest.approx(computed(name)["sketch_flops"])
