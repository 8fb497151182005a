"""Models whose outputs could become infinite are refused when they are made, just above the bound and not below."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch import lsh
from repsketch.errors import InputError
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.oracle import query
from repsketch.model.rows import RowGroup

F = np.float32
MOST = 2.0**126
ONE = np.ones(1, F)


def model(group: RowGroup, **options) -> Model:
    inputs = Inputs(2, limits=None if group.hashes.width_bits is None else (-7, 7))
    return Model(inputs, None, (group,), np.zeros(group.n_outputs, F), **options)


def group(largest: float = 1.0, aggregate: str = "mean", n_numbers: int = 1, **options) -> RowGroup:
    """Four rows of two buckets whose counters are +-largest."""
    counters = np.full((4, 2, n_numbers), largest, F)
    counters[:, 1] *= -1
    return RowGroup(RowHashes(lsh.Angular(), 4, 2, 2), counters, ONE, aggregate=aggregate, **options)


def between(largest: float) -> RowGroup:
    """One row that is read between two levels."""
    pool = CodePool("sparse", 1, 2, n_levels=2)
    return RowGroup(PooledRows(pool, 1, interpolate=True), np.array([[[largest], [-largest]]], F), ONE)


def integer(gain: float) -> RowGroup:
    """Accumulators of at most 4 * 7 in the int precision."""
    hashes = RowHashes(lsh.Angular(), 4, 2, 2, width_bits=3)
    return RowGroup(hashes, np.full((4, 2, 1), 7, np.int8), np.full(1, gain, F), "int8")


#: Made from the largest number that is allowed, as a share of 2^126.
MADE = {
    "counters of a sum": lambda x: model(group(x / 4, "sum")),
    "counters of a mean, which are added up first": lambda x: model(group(x / 4)),
    "counters of medians": lambda x: model(group(x / 4, "median_of_means", n_groups=2)),
    "two levels": lambda x: model(between(x / 3)),
    "a gain": lambda x: model(replace(group(2.0), gain=np.full(1, x / 2, F))),
    "a decode matrix of rows": lambda x: model(group(2.0, row_decode=np.full((4, 3), x / 8, F))),
    "a shared decode matrix": lambda x: model(group(2.0, "sum", 5, shared_decode=np.full((5, 2), x / 40, F))),
    "an offset": lambda x: replace(model(group(0.0)), offset=np.full(1, -x, F)),
    "a linear term and an offset": lambda x: replace(
        model(group(0.0), linear=np.full((2, 1), 2.0**40, F)), offset=np.full(1, x - 2.0**105, F)
    ),
    "a gain in int": lambda x: model(integer(x / 28)),
    "a gain of the linear term in int": lambda x: model(
        integer(1e-30), linear=np.full((2, 1), 5, np.int8), linear_gain=np.full(1, x / 70, F)
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_the_bound_is_where_the_page_says(name):
    made = MADE[name](0.999 * MOST)
    X = np.array([[3e38, -3e38], [-3e38, 3e38], [0, 0], [1, -1]], F)
    assert np.isfinite(query(made, X)).all()
    with pytest.raises(InputError, match=r"could add up to 8\.5e\+37; allowed is 8\.5e\+37.*Divide the targets"):
        MADE[name](1.001 * MOST)


def test_targets_near_the_largest_allowed_make_a_good_model():
    """1e37 is what ``arrays.LARGEST_OUTPUT`` lets through; a few rows of it add up to less than 2^126."""
    assert model(group(1e37)).n_outputs == 1
