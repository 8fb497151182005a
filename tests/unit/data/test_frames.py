"""Raw tables: frames of every library give the same numbers; names and categories are stored and found again."""

from dataclasses import replace

import numpy as np
import pandas
import pytest

from repsketch.data.frames import UNSEEN, Columns, as_columns, is_frame
from repsketch.errors import InputError

COLUMNS = {
    "age": [20, None, 31],
    "tree": ["oak", "ash", None],
    "is_old": [True, False, True],
    "height": [1.5, 2.5, float("nan")],
}


def frames():
    polars = pytest.importorskip("polars")
    return {"pandas": pandas.DataFrame(COLUMNS), "polars": polars.DataFrame(COLUMNS, strict=False)}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_numbers_categories_and_missing_values(library):
    columns = as_columns(frames()[library])
    assert columns.names == ("age", "tree", "is_old", "height")
    assert columns.categories == {1: ("ash", "oak")}
    expected = [[20, 1, 1, 1.5], [np.nan, 0, 0, 2.5], [31, np.nan, 1, np.nan]]
    np.testing.assert_array_equal(columns.numbers, np.array(expected, np.float32))


def test_columns_of_a_pandas_frame_may_be_counted():
    frame = pandas.DataFrame(np.arange(6.0).reshape(2, 3))
    columns = as_columns(frame)
    assert columns.names == ("0", "1", "2")
    assert as_columns(frame[[2, 0, 1]], known=columns).numbers.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_pandas_category_is_its_label():
    frame = pandas.DataFrame({"size": pandas.Categorical(["L", "S", None], categories=["S", "M", "L"], ordered=True)})
    columns = as_columns(frame)
    assert columns.categories == {0: ("L", "S")}  # a label that never occurs is no category
    np.testing.assert_array_equal(columns.numbers[:, 0], [0, 1, np.nan])


def test_known_columns_are_found_by_name_and_categories_by_label():
    known = as_columns(pandas.DataFrame(COLUMNS))
    other = pandas.DataFrame({"height": [3.0], "extra": ["x"], "tree": ["elm"], "is_old": [False], "age": [1]})
    columns = as_columns(other, known=known)
    np.testing.assert_array_equal(columns.numbers, [[1, UNSEEN, 0, 3.0]])


def test_what_a_model_does_not_use_is_not_looked_at():
    known = replace(as_columns(pandas.DataFrame(COLUMNS)), used={1, 3})
    other = pandas.DataFrame({**COLUMNS, "age": ["young", "old", "n.a."]})
    np.testing.assert_array_equal(as_columns(other, known=known).numbers[:, 0], [0, 0, 0])
    np.testing.assert_array_equal(as_columns(other, known=known).numbers[:, 1], [1, 0, np.nan])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pandas.DataFrame({"age": [1]}), r"X lacks the columns \['tree', 'is_old', 'height'\]"),
        (
            pandas.DataFrame({**COLUMNS, "age": ["20", "n.a.", "31"]}),
            r"column 'age' of X holds 'n.a.' in row 1, which is no number; this model reads numbers there",
        ),
        (
            pandas.DataFrame({**COLUMNS, "height": [1.5, np.inf, 2.5]}),
            r"X holds infinity \(inf\) at row 1, column 'height'",
        ),
        (pandas.DataFrame({**COLUMNS, "age": pandas.to_datetime(["2020-01-01"] * 3)}), "column 'age' of X holds dates"),
    ],
)
def test_frames_that_do_not_fit(frame, message):
    known = as_columns(pandas.DataFrame(COLUMNS))
    with pytest.raises(InputError, match=message):
        as_columns(frame, known=known)


def test_arrays_are_numbers_already():
    columns = as_columns(np.array([[1.0, np.nan]]))
    assert columns.names is None
    assert columns.categories == {}
    assert columns.numbers.dtype == np.float32
    with pytest.raises(InputError, match=r"infinity .* row 0, column 1"):
        as_columns([[1.0, np.inf]])


def test_what_a_frame_is():
    assert is_frame(pandas.DataFrame({"a": [1]}))
    assert not is_frame(np.ones((2, 2)))
    assert not is_frame([[1.0]])
    assert isinstance(as_columns([[1.0]]), Columns)


def test_fewer_labels_are_numbered_anew():
    numbers = np.array([[0, 1, 2, 3, -1, np.nan]], np.float32).T
    table = Columns(numbers, ("tree",), {0: ("ash", "elm", "fir", "oak")})
    for chosen, expected in (([1, 3], [-1, 0, -1, 1, -1, np.nan]), ([0, 2], [0, -1, 1, -1, -1, np.nan])):
        fewer = table.with_labels({0: np.array(chosen)})
        np.testing.assert_array_equal(fewer.numbers[:, 0], expected)
        assert fewer.categories[0] == tuple(table.categories[0][place] for place in chosen)
    np.testing.assert_array_equal(table.numbers, numbers)


@pytest.mark.parametrize(("values", "kind"), [
    (np.arange(50), "identifier"),
    (2 * np.arange(50), "identifier"),  # half of the integers in their range occur
    (2 * np.arange(50) + (np.arange(50) > 48) * 2, "number"),
    (np.arange(39), "number"),
    (np.minimum(np.arange(50), 48), "number"),
])  # fmt: skip
def test_integers_that_number_the_rows(values, kind):
    assert as_columns(pandas.DataFrame({"id": values})).kinds == (kind,)
