"""Operations of a prediction, counted by hand."""

from dataclasses import replace

import numpy as np

from repsketch.model.cost import cost_of_model
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.stages import Stage, Stages
from repsketch.theory import Cost

ONE = np.ones(1, np.float32)
STAGE = Stage(
    np.array([[2, -1], [3, 0]], np.int8), np.array([3, 10], np.uint8), np.zeros(2, np.int8), 2, 3, 15, "table",
    np.zeros((2, 4), np.int8), 2, linear=np.zeros((2, 1), np.int8), linear_gain=ONE,
)  # fmt: skip


def cost_of(stage: Stage) -> Cost:
    """The cost of a model with this stage, a linear term of two products and no rows."""
    model = Model(Inputs(2, limits=(-127, 127)), Stages((stage,)), (), ONE, np.ones((2, 1), np.int8), ONE)
    return cost_of_model(model)


def test_a_stage_with_tables():
    """Four products and two of each linear term; two coordinates and their tables; two values rounded and clamped."""
    found = cost_of(STAGE)
    assert found == Cost(
        parameters=4 + 2 * 2 + 2 * 4 + 2 + 2,
        paper_flops=2 * 4,
        adds=4 + 2 * (2 + 5) + 2 + 2,
        multiplies=4 + 2 * (1 + 1) + 2 + 2,
        lookups=2 * 2,
        reads=4 + 2 * 2 + 2 * 2 + 2 + 2,
        others=2 * (3 + 7) + 2 * 3,
    )


def test_sparse_matrices_have_fewer_products():
    dense, sparse = cost_of(STAGE), cost_of(replace(STAGE, is_sparse=True))
    assert (dense.adds - sparse.adds, dense.multiplies - sparse.multiplies, dense.reads - sparse.reads) == (1, 1, 1)
    assert dense.paper_flops - sparse.paper_flops == 2


def test_other_activations_look_nothing_up():
    for activation, adds, others in (("relu", 1, 3), ("clip", 1, 3), ("none", 0, 0)):
        stage = replace(STAGE, activation=activation, tables=None, width_bits=0, linear=None, linear_gain=None)
        found = cost_of(stage)
        assert (found.lookups, found.reads) == (0, 4 + 4 + 2)
        assert (found.adds, found.others) == (4 + 2 * (2 + adds) + 2, 2 * (3 + others) + 6)
