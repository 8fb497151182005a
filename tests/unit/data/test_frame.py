"""Our own frame: the same numbers as a frame of pandas with the same cells, without another library."""

import numpy as np
import pandas
import pytest

from repsketch.data.arrays import as_table
from repsketch.data.frame import Column, Frame
from repsketch.data.frames import as_columns, is_frame, some_rows
from repsketch.errors import InputError

MISSING = np.array([False, True, False])
CELLS = {
    "age": (np.array([20, 7, 31]), "number"),
    "height": (np.array([1.5, 0.0, 1e39]), "number"),
    "tree": (np.array(["oak", None, "ash"], object), "text"),
    "size": (np.array(["L", None, "S"], object), "category"),
    "is_old": (np.array([True, False, False]), "boolean"),
    "day": (np.array(["2020-01-01"] * 3, "M8[D]"), "time"),
}
FRAME = Frame({name: Column(values, MISSING, kind) for name, (values, kind) in CELLS.items()})
USED = ["age", "tree", "size", "is_old", "day"]


def as_pandas():
    columns = {name: FRAME[name].cells() for name in USED}
    columns["size"] = pandas.Categorical(columns["size"])
    columns["age"] = pandas.array(columns["age"], "Int64")
    columns["day"] = pandas.to_datetime(columns["day"])
    return pandas.DataFrame(columns)


def test_the_library_reads_it_as_a_frame_of_pandas():
    given, expected = as_columns(FRAME.select(USED)), as_columns(as_pandas())
    assert (given.names, given.categories, given.kinds) == (expected.names, expected.categories, expected.kinds)
    assert given.used == expected.used == [0, 1, 2, 3]
    np.testing.assert_array_equal(given.numbers, expected.numbers)


def test_a_model_reads_it_as_a_frame_of_pandas():
    known = as_columns(as_pandas().drop(columns="day"))
    other = Frame(
        {
            "tree": FRAME["tree"],
            "is_old": Column(np.array(["1", None, "0.5"], object), MISSING, "text"),
            "size": Column(np.array([True, False, True]), MISSING, "boolean"),
            "age": FRAME["is_old"],
        }
    )
    expected = as_columns(pandas.DataFrame({name: other[name].cells() for name in other.columns}), known=known)
    np.testing.assert_array_equal(as_columns(other, known=known).numbers, expected.numbers)
    with pytest.raises(InputError, match="column 'age' of X holds 'oak' in row 0, which is no number"):
        as_columns(other.with_columns({"age": FRAME["tree"]}), known=known)
    with pytest.raises(InputError, match="X lacks the columns \\['tree'\\]"):
        as_columns(other.drop("tree"), known=known)


def test_values_beyond_float32_are_refused():
    with pytest.raises(InputError, match=r"X holds infinity \(inf\) at row 2, column 'height'"):
        as_columns(FRAME)


@pytest.mark.parametrize(("dtype", "kind"), [(np.int64, "identifier"), (np.uint8, "identifier"), (float, "number")])
def test_integers_that_number_the_rows(dtype, kind):
    column = Column(np.arange(50).astype(dtype), np.arange(50) == 7, "number")
    assert as_columns(Frame({"id": column})).kinds == (kind,)


def test_some_of_the_rows():
    for rows, expected in ((slice(1, 3), [1, 2]), (np.array([2, 0, 2]), [2, 0, 2])):
        assert FRAME[rows].rows() == [FRAME.rows()[row] for row in expected]
        assert FRAME.drop(*FRAME.columns)[rows].shape == (len(expected), 0)
    assert some_rows(FRAME, np.array([1])).rows() == [(None,) * 6]


def test_columns_by_name():
    assert FRAME.select(["tree", "age"]).columns == ["tree", "age"]
    assert FRAME.drop("age", "day").columns == ["height", "tree", "size", "is_old"]
    assert FRAME.drop(*FRAME.columns).shape == (3, 0)
    assert len(FRAME) == 3
    assert is_frame(FRAME)
    assert repr(FRAME) == "Frame of 3 rows: 'age', 'height', 'tree', 'size', 'is_old', 'day'"


def test_numbers_are_an_array_for_other_calls():
    np.testing.assert_array_equal(as_table(FRAME.select(["is_old", "age"])), [[1, 20], [np.nan, np.nan], [0, 31]])
    with pytest.raises(InputError, match="not numbers"):
        as_table(FRAME.select(["tree", "age"]))
