"""Shapes of stages: names and places of parameters, and what is refused."""

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.train.stage_shape import NetworkHead, RowsHead, Shape, StageShape
from support.stage_cases import N_VALUES, STAGE_CASES


def test_parameters_lie_one_behind_the_other():
    hidden = (StageShape(4, n_entries=16, has_linear=True), StageShape(3, "relu"))
    shape = Shape(hidden, RowsHead(2, 4, factored=True))
    assert shape.sizes(6, 7) == {
        "matrix 0": (6, 4), "shift 0": (4,), "tables 0": (4, 16), "linear 0": (4, 7),
        "matrix 1": (4, 3), "shift 1": (3,),
        "matrix 2": (3, 2), "shift 2": (2,),
        "counters": (2, 4, 1), "decode": (2, 7), "linear": (2, 7), "offset": (7,),
    }  # fmt: skip
    places = shape.slices(6, 7)
    assert places["shift 0"] == (slice(24, 28), (4,))
    assert places["offset"][0].stop == sum(int(np.prod(size)) for size in shape.sizes(6, 7).values())


def test_the_trainer_has_as_many_parameters():
    for some in STAGE_CASES:
        size = some.shape.slices(N_VALUES, some.n_outputs)["offset"][0].stop
        assert len(some.trainer().parameters()) == size, some.name


def test_rows_read_single_coordinates():
    pool = RowsHead(3, n_levels=4).pool(seed=5)
    assert np.array_equal(pool.directions, np.eye(3))
    assert not pool.shifts.any()
    assert pool.n_levels == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StageShape(0), "width=0"),
        (lambda: StageShape(5_000), "width=5000"),
        (lambda: StageShape(5, "tanh"), "activation='tanh'; allowed are 'table', 'relu', 'clip'"),
        (lambda: StageShape(5, "none"), "activation='none'"),
        (lambda: StageShape(5, n_entries=5), "n_entries=5; allowed are 4, 8, 16"),
        (lambda: StageShape(5, matrix_bits=6), "matrix_bits=6; allowed are 8 and 4"),
        (lambda: StageShape(5, sparsity=1.0), "sparsity=1.0"),
        (lambda: RowsHead(2_049), "n_components=2049; allowed is an integer from 1"),
        (lambda: RowsHead(5, n_levels=3), "n_levels=3"),
        (lambda: Shape((), NetworkHead()), "0 hidden stages; with this head 1 to 4"),
        (lambda: Shape((StageShape(2),) * 4, RowsHead(2)), "4 hidden stages; with this head 0 to 3"),
        (lambda: Shape((StageShape(2),), NetworkHead()).check(0, 1), "the number of values=0"),
        (lambda: Shape((StageShape(2),), NetworkHead()).check(1, 5_000), "the number of outputs=5000"),
    ],
)
def test_bad_shapes_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
