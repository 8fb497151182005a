"""Stages, by numbers worked out by hand: ``docs/spec/inference.md``, section 2."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.io import model_to_bytes
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.oracle import accumulators, buckets, coordinates, query
from repsketch.model.stages import Stage, Stages, half_of, shift_rounded
from support.cases import case

ONE = np.ones(1, np.float32)
#: Two inputs, two coordinates: (m Σ A h >>> 2) + 8 s, at most 15 in size.
STAGE = Stage(
    np.array([[2, -1], [3, 0]], np.int8), np.array([3, 10], np.uint8), np.array([1, -1], np.int8), 2, 3, limit=15
)
TABLE = np.array([[-100, -20, 30, 127]] * 2, np.int8)


def column(*numbers: int) -> np.ndarray:
    """One input row, (n, 1)."""
    return np.array(numbers, np.int32)[:, None]


def test_coordinates():
    """Sums -2 and -5; times 3 and 10; halves are rounded upward; 8 added and taken off; the second is clamped."""
    assert STAGE.coordinates(column(5, -4)).ravel().tolist() == [7, -15]
    assert replace(STAGE, limit=32_767).coordinates(column(5, -4)).ravel().tolist() == [7, -20]
    assert replace(STAGE, shift_bits=0).coordinates(column(5, -4)).ravel().tolist() == [0, -13]
    assert replace(STAGE, right_shift=0, limit=100).coordinates(column(5, -4)).ravel().tolist() == [2, -58]
    assert STAGE.coordinates(column(5, -4)).dtype == np.int32


def test_halves_are_rounded_upward():
    assert [half_of(n) for n in (0, 1, 2, 31)] == [0, 1, 2, 2**30]
    assert shift_rounded(np.array([6, 5, -6, -7, 2, -2]), 2).tolist() == [2, 1, -1, -2, 1, 0]
    assert shift_rounded(np.array([6, -7]), 0).tolist() == [6, -7]


ACTIVATED = {
    "none": (STAGE, (7, -15), [7, -15]),
    "relu": (replace(STAGE, activation="relu", width_bits=1), (7, -15), [4, 0]),
    "relu, the largest": (replace(STAGE, activation="relu", width_bits=1), (253, 254), [127, 127]),
    "relu, below the largest": (replace(STAGE, activation="relu", width_bits=1), (252, 1), [126, 1]),
    "clip": (replace(STAGE, activation="clip"), (7, -15), [7, -15]),
    "clip, both ends": (replace(STAGE, activation="clip", width_bits=1), (300, -300), [127, -127]),
    "table, an entry": (replace(STAGE, activation="table", tables=TABLE, width_bits=2), (-2, 2), [-20, 30]),
    "table, between": (replace(STAGE, activation="table", tables=TABLE, width_bits=2), (0, 1), [5, 18]),
    "table, ends": (replace(STAGE, activation="table", tables=TABLE, width_bits=2), (-6, 6), [-100, 127]),
    "table, beyond": (replace(STAGE, activation="table", tables=TABLE, width_bits=2), (-7, 99), [-100, 127]),
    "table, last interval": (replace(STAGE, activation="table", tables=TABLE, width_bits=2), (5, -5), [103, -80]),
}


@pytest.mark.parametrize("name", ACTIVATED)
def test_activations(name):
    stage, z, wanted = ACTIVATED[name]
    assert stage.activate(column(*z)).ravel().tolist() == wanted


def test_every_coordinate_has_its_own_table():
    tables = np.array([[1, 2, 3, 4], [50, 60, 70, 80]], np.int8)
    stage = replace(STAGE, activation="table", tables=tables, width_bits=1)
    assert stage.activate(column(-3, -3)).ravel().tolist() == [1, 50]
    assert stage.activate(np.array([[3, -1], [3, 1]], np.int32)).tolist() == [[4, 2], [80, 70]]


def network(**changes) -> Model:
    """A ReLU stage with a linear term, a linear term behind it, and no rows."""
    stage = replace(STAGE, activation="relu", width_bits=1, linear=np.array([[3], [-2]], np.int8), linear_gain=2 * ONE)
    inputs = Inputs(2, limits=(-127, 127))
    return replace(
        Model(inputs, Stages((stage,)), (), ONE, np.array([[10], [7]], np.int8), ONE / 2, task="regression"), **changes
    )


def test_outputs_of_a_model_without_rows():
    """1 + (10 * 4 + 7 * 0) / 2 + (3 * 7 + 2 * 15) * 2."""
    X = np.array([[5, -4], [0, 0]], np.float32)
    model = network()
    found = coordinates(model, X)
    assert found.projected[:, 0].tolist() == [4, 0]
    assert [z[:, 0].tolist() for z in found.stages] == [[7, -15]]
    assert query(model, X)[:, 0].tolist() == [123, 1 + 40 / 2 + (3 * 8 + 2 * 8) * 2]
    assert buckets(model, X).shape == (2, 0)
    assert accumulators(model, X).shape == (0, 2, 1)


def test_a_second_stage_takes_what_the_first_hands_on():
    first = replace(STAGE, activation="clip")
    second = Stage(np.array([[1], [1]], np.int8), np.ones(1, np.uint8), np.zeros(1, np.int8), 0, 0, 100)
    stages = Stages((first, second))
    assert [z.ravel().tolist() for z in stages.coordinates(column(5, -4))] == [[7, -15], [-8], [-8]]
    assert (stages.n_inputs, stages.n_components, stages.limit) == (2, 1, 100)
    assert Stages((first,)).limit == 127


def test_bytes():
    """8 of a header; the matrix; two for each coordinate; tables; linear term and gains."""
    assert STAGE.nbytes == 8 + 4 + 4
    assert replace(STAGE, matrix_bits=4).nbytes == 8 + 2 + 4
    assert replace(STAGE, is_sparse=True).nbytes == 8 + 1 + 3 + 4
    assert replace(STAGE, is_sparse=True, matrix_bits=4).nbytes == 8 + 1 + 2 + 4
    table = replace(STAGE, activation="table", tables=TABLE, width_bits=2)
    assert table.nbytes == 16 + 8
    assert replace(table, linear=np.zeros((2, 3), np.int8), linear_gain=np.ones(3, np.float32)).nbytes == 24 + 6 + 12
    model = network()
    assert model.nbytes == Model.HEADER_NBYTES + 16 + (2 + 4) + 4 + (2 + 4)


REFUSED = {
    "activation='tanh'": {"activation": "tanh"},
    "matrix_bits=2; allowed are 8 and 4": {"matrix_bits": 2},
    "right_shift=32": {"right_shift": 32},
    "shift_bits=16": {"shift_bits": 16},
    "limit=0": {"limit": 0},
    "limit=32768": {"limit": 32_768},
    "a matrix of 1 to 65536 columns": {"matrix": np.zeros((2, 0), np.int8)},
    "the matrix have dtype int16": {"matrix": np.zeros((2, 2), np.int16)},
    "the matrix reach beyond 7": {"matrix": np.full((2, 2), 8, np.int8), "matrix_bits": 4},
    "the matrix reach beyond 127": {"matrix": np.full((2, 2), -128, np.int8)},
    "shift reach beyond 127": {"shift": np.full(2, -128, np.int8)},
    "multipliers are uint8 numbers above 0": {"multipliers": np.array([1, 0], np.uint8)},
    r"multipliers of shape \(3,\) for 2": {"multipliers": np.ones(3, np.uint8)},
    r"shift of shape \(1,\) for 2": {"shift": np.zeros(1, np.int8)},
    "tables belong to the activation 'table'": {"tables": TABLE},
    "tables belong to the activation 'table', and only there": {"activation": "table", "width_bits": 2},
    r"tables of shape \(2, 5\)": {"activation": "table", "width_bits": 2, "tables": np.zeros((2, 5), np.int8)},
    "tables reach beyond 127": {"activation": "table", "width_bits": 2, "tables": np.full((2, 4), -128, np.int8)},
    "width_bits=0; allowed is an integer from 1 to 8": {"activation": "table", "tables": TABLE},
    "width_bits=9": {"activation": "table", "tables": TABLE, "width_bits": 9},
    "width_bits=16": {"activation": "relu", "width_bits": 16},
    "width_bits=1; allowed is an integer from 0 to 0": {"width_bits": 1},
    "a linear term and its gain come together": {"activation": "relu", "linear": np.zeros((2, 1), np.int8)},
    "without an activation is that of the model": {"linear": np.zeros((2, 1), np.int8), "linear_gain": ONE},
    r"a linear term of shape \(3, 1\)": {
        "activation": "relu", "linear": np.zeros((3, 1), np.int8), "linear_gain": ONE,
    },
    "linear_gain must be 1 or 1 finite": {
        "activation": "relu", "linear": np.zeros((2, 1), np.int8), "linear_gain": 0 * ONE,
    },
}  # fmt: skip


def test_what_a_stage_may_be():
    for message, changes in REFUSED.items():
        with case(message), pytest.raises(InputError, match=message):
            replace(STAGE, **changes)


def test_what_stages_may_be():
    clip = replace(STAGE, activation="clip")
    for stages, message in (
        ((), "0 stages; allowed are 1 to 4"),
        ((clip,) * 5, "5 stages"),
        ((STAGE, clip), "only the last stage goes without an activation"),
        ((clip, replace(clip, matrix=np.ones((3, 2), np.int8))), "a stage of 3 inputs behind one of 2"),
    ):
        with case(message), pytest.raises(InputError, match=message):
            Stages(stages)


def test_what_a_model_with_stages_may_be():
    model = network()
    two = replace(model.stages[0], linear=np.zeros((2, 2), np.int8))
    for changes, message in (
        ({"linear": None, "linear_gain": None}, "0 groups of rows; allowed are 1 to 4"),
        ({"projection": None}, "0 groups of rows; allowed are 1 to 4"),
        ({"projection": Stages((two,))}, "a linear term of 2 outputs in a model of 1"),
        ({"inputs": Inputs(3, limits=(-127, 127))}, "a projection of 2 rows for 3 values"),
        ({"inputs": Inputs(2)}, "projection and inputs differ in precision"),
        ({"projection": Stages((replace(model.stages[0], linear_gain=1e37 * ONE),))}, "outputs stay finite"),
    ):
        with case(message), pytest.raises(InputError, match=message):
            replace(model, **changes)
    assert model.matrix_projection is None
    assert len(model_to_bytes(model)) > 0
