"""The deployed model: its pieces must fit each other, and it knows its sizes."""

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
from repsketch.model.projection import Projection
from repsketch.model.rows import RowGroup

F = np.float32
LARGEST = 2**31 - 1


def group(p=3, n_outputs=1, width_bits=None, **options) -> RowGroup:
    hashes = RowHashes(lsh.L2(1.0), 4, 8, p, width_bits=width_bits)
    counters = np.ones((4, 8, n_outputs), F if width_bits is None else np.int8)
    kind = "float32" if width_bits is None else "int8"
    return RowGroup(hashes, counters, np.ones(1, F), kind, **options)


def model(inputs=None, projection=None, groups=None, offset=None, **options) -> Model:
    inputs = inputs or Inputs(3)
    p = projection.n_components if projection is not None else inputs.n_values
    groups = (group(p, width_bits=None if inputs.limits is None else 2),) if groups is None else groups
    return Model(inputs, projection, groups, np.zeros(1, F) if offset is None else offset, **options)


INTEGER = Inputs(3, limits=(-127, 127))
MATRIX = Projection("float32", 2, np.ones((3, 2), F))
INTEGER_MATRIX = Projection("int8", 2, np.ones((3, 2), np.int8), limit=500)
BOOLEANS = Inputs(3, kinds=np.array([0, 1, 1]))


def seeded(booleans, **options) -> RowGroup:
    pool = CodePool("sparse", 4, 3, is_seeded=True, booleans=booleans, **options)
    return RowGroup(PooledRows(pool, 4), np.ones((4, pool.n_levels or 2, 1), F), np.ones(1, F))


def test_sizes():
    made = model(projection=MATRIX, groups=(group(2), group(3, source="values"), group(2)))
    assert (made.n_features, made.n_coordinates, made.n_outputs, made.n_rows) == (3, 2, 1, 12)
    assert (made.precision, made.is_integer) == ("float32", False)
    assert (model(INTEGER).precision, model(INTEGER).is_integer) == ("int", True)
    assert model().n_coordinates == 3


def test_bounds_of_what_groups_read():
    made = model(INTEGER, INTEGER_MATRIX)
    assert (made.largest_of("values"), made.largest_of("projected")) == (127, 500)
    assert model(INTEGER).largest_of("projected") == 127


def test_which_coordinates_are_boolean():
    made = model(BOOLEANS)
    assert made.booleans_of("projected").tolist() == made.booleans_of("values").tolist() == [False, True, True]
    assert made.are_boolean("projected", [2, 0]).tolist() == [True, False]
    projected = model(BOOLEANS, MATRIX)
    assert projected.booleans_of("projected").tolist() == [False, False]
    assert projected.are_boolean("projected", [1]).tolist() == [False]
    assert projected.are_boolean("values", [1]).tolist() == [True]
    shifted = model(BOOLEANS, Projection("shift", 3, shift=np.ones(3, F)))  # 0 or 1 no longer
    assert shifted.booleans_of("projected").tolist() == [False, False, False]


def test_nbytes_add_up():
    """A header of 32 bytes, 16 for every further group of rows, and what the arrays hold."""
    assert model().nbytes == 32 + 4 * 32 + 4 + 4
    linear = np.ones((3, 1), F)
    assert model(linear=linear).nbytes == model().nbytes + 12
    two = model(projection=MATRIX, groups=(group(2), group(2)))
    assert two.nbytes == 32 + 16 + 24 + 2 * (4 * 32 + 4) + 4
    scaled = Inputs(3, scales=np.ones(1, F), limits=(-9, 9))
    integer = model(scaled, linear=np.ones((3, 1), np.int8), linear_gain=np.ones(1, F))
    assert integer.nbytes == 32 + 4 + 32 + 4 + 4 + 3 + 4
    assert replace(integer, offset_stored_as="bfloat16").nbytes == integer.nbytes - 2
    assert replace(integer, offset=np.zeros(1, F), offset_stored_as="none").nbytes == integer.nbytes - 4


def test_offsets_that_are_not_stored_are_0():
    scaled = Inputs(3, scales=np.ones(1, F), limits=(-9, 9))
    integer = model(scaled, linear=np.ones((3, 1), np.int8), linear_gain=np.ones(1, F), offset=np.zeros(1, F))
    bare = replace(integer, offset_stored_as="none")
    assert query(bare, np.ones((1, 3), F)).tolist() == query(integer, np.ones((1, 3), F)).tolist()
    with pytest.raises(InputError, match="some offset is not 0"):
        replace(integer, offset=np.ones(1, F), offset_stored_as="none")
    with pytest.raises(InputError, match="belongs to the int precision"):
        replace(model(offset=np.zeros(1, F)), offset_stored_as="none")


def test_groups_of_rows_gains_and_offset_add_up():
    one = group()
    two = replace(one, counters=2 * one.counters, gain=np.full(1, 10, F))
    made = model(groups=(one, two), offset=np.full(1, 0.5, F))
    assert query(made, np.zeros((2, 3), F)).tolist() == [[21.5], [21.5]]


def test_a_linear_term_reads_the_coordinates():
    shift = Projection("shift", 3, shift=np.array([1, 2, 3], F))
    made = model(projection=shift, linear=np.array([[1], [10], [100]], F))
    assert query(made, np.array([[1, 1, 1]], F)).tolist() == [[1.0 + 2 + 30 + 400]]
    integer = model(INTEGER, INTEGER_MATRIX, linear=np.array([[1], [-10]], np.int16), linear_gain=np.full(1, 0.5, F))
    assert query(integer, np.array([[1, 2, 3]], F)).tolist() == [[4.0 - 0.5 * 54]]


def test_the_linear_bound_is_sharp():
    inputs = Inputs(2, limits=(-32_767, 32_767))
    gain = np.ones(1, F)
    model(inputs, linear=np.array([[32_767], [32_767]], np.int16), linear_gain=gain)
    with pytest.raises(InputError, match=f"the linear term could reach {3 * 32_767**2}; 32 bits hold {LARGEST}"):
        model(Inputs(3, limits=(-32_767, 32_767)), linear=np.full((3, 1), -32_767, np.int16), linear_gain=gain)


def test_bounds_are_checked_when_a_model_is_made():
    with pytest.raises(InputError, match="a projected sum could reach"):
        model(INTEGER, replace(INTEGER_MATRIX, shift=np.full(2, LARGEST, np.int32)))
    wide = RowHashes(lsh.L2(1.0, "gaussian"), 1, 2, 200, width_bits=0)
    dense = RowGroup(wide, np.ones((1, 2, 1), np.int8), np.ones(1, F), "int8")
    model(Inputs(200, limits=(-127, 127)), groups=(dense,))
    with pytest.raises(InputError, match=f"a sum could reach {512 * 200 * 32_767 + 64}"):
        model(Inputs(200, limits=(-32_767, 5)), groups=(dense,))


BAD = {
    "no groups": (lambda: model(groups=()), "0 groups of rows; allowed are 1 to 4"),
    "five groups": (lambda: model(groups=(group(),) * 5), "5 groups of rows; allowed are 1 to 4"),
    "task": (lambda: model(task="ranking"), "task='ranking'; allowed are"),
    "three classes of one output": (
        lambda: model(task="classification", classes=np.arange(3)),
        "3 classes with task='classification'; 1 outputs of a classification have 2",
    ),
    "classes of a regression": (
        lambda: model(task="regression", classes=np.arange(2)),
        "2 classes with task='regression'",
    ),
    "names of other columns": (lambda: model(feature_names=("a", "b")), "2 feature names for 3 columns"),
    "a projection of other rows": (lambda: model(Inputs(4), MATRIX), "a projection of 3 rows for 4 values"),
    "a shift of other values": (
        lambda: model(Inputs(4), Projection("shift", 3, shift=np.ones(3, F)), groups=(group(3),)),
        "a projection of 3 rows for 4 values",
    ),
    "a float projection of integer values": (
        lambda: model(INTEGER, MATRIX),
        "projection and inputs differ in precision",
    ),
    "a float shift of integer values": (
        lambda: model(INTEGER, Projection("shift", 3, shift=np.ones(3, F))),
        "projection and inputs differ in precision",
    ),
    "an integer projection of floats": (
        lambda: model(Inputs(3), INTEGER_MATRIX),
        "projection and inputs differ in precision",
    ),
    "integer rows of floats": (
        lambda: model(groups=(group(width_bits=2),)),
        "a group of rows and the inputs differ in precision",
    ),
    "float rows of integer values": (
        lambda: model(INTEGER, groups=(group(),)),
        "a group of rows and the inputs differ in precision",
    ),
    "outputs": (lambda: model(groups=(group(), group(n_outputs=2))), "a group of rows with 2 outputs in a model of 1"),
    "coordinates": (
        lambda: model(projection=MATRIX, groups=(group(3),)),
        "a group of rows over 3 coordinates; the model has 2",
    ),
    "values": (
        lambda: model(projection=MATRIX, groups=(group(2, source="values"),)),
        "a group of rows over 2 coordinates; the model has 3",
    ),
    "booleans unknown to a pool": (lambda: model(BOOLEANS, groups=(seeded(None),)), "whose booleans are not those"),
    "booleans only a pool knows": (lambda: model(groups=(seeded(np.ones(3, bool)),)), "whose booleans are not those"),
    "an infinite offset": (lambda: model(offset=np.full(1, np.inf, F)), "offset must be 1 to 65536 finite numbers"),
    "a short offset in float32": (
        lambda: model(offset_stored_as="bfloat16"),
        "offset_stored_as='bfloat16' belongs to the int precision",
    ),
    "an offset of too many digits": (
        lambda: model(INTEGER, groups=(group(width_bits=2),), offset=np.full(1, 0.1, F), offset_stored_as="bfloat16"),
        "offsets have more digits than bfloat16 keeps",
    ),
    "offsets of a byte": (lambda: model(offset_stored_as="float8"), "offset_stored_as='float8'; allowed are 'float32'"),
    "a float64 offset": (lambda: model(offset=np.zeros(1)), "offset"),
    "linear of another shape": (
        lambda: model(linear=np.ones((2, 1), F)),
        r"linear has shape \(2, 1\); needed is \(3, 1\)",
    ),
    "a huge linear term": (lambda: model(linear=np.full((3, 1), 2.0**41, F)), "linear holds values beyond"),
    "a linear term of NaN": (lambda: model(linear=np.full((3, 1), np.nan, F)), "linear holds values beyond"),
    "a float64 linear term": (lambda: model(linear=np.ones((3, 1))), "linear"),
    "an integer linear term without gain": (
        lambda: model(INTEGER, linear=np.ones((3, 1), np.int8)),
        "needs a gain of 1 or 1",
    ),
    "an integer linear term of floats": (
        lambda: model(INTEGER, linear=np.ones((3, 1), F), linear_gain=np.ones(1, F)),
        "linear have dtype float32",
    ),
    "a linear gain of 0": (
        lambda: model(INTEGER, linear=np.ones((3, 1), np.int8), linear_gain=np.zeros(1, F)),
        "linear_gain must be finite numbers other than 0",
    ),
    "a linear gain without a linear term": (
        lambda: model(INTEGER, linear_gain=np.ones(1, F)),
        "linear_gain belongs to",
    ),
    "a linear gain of floats": (
        lambda: model(linear=np.ones((3, 1), F), linear_gain=np.ones(1, F)),
        "linear_gain belongs",
    ),
}


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD)
def test_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_booleans_matter_only_to_random_biases():
    known = model(BOOLEANS, groups=(seeded(np.array([False, True, True])),))
    levels = model(BOOLEANS, groups=(seeded(None, n_levels=3),))
    for made in (known, levels):
        assert query(made, np.eye(3, dtype=F)).tolist() == [[1.0]] * 3  # the mean of four counters of 1
