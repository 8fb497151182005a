"""Training and test rows of ``repsketch compress``."""

import numpy as np
import pytest

from repsketch.cli.tables import read_test, split_table, with_weights
from repsketch.data.tables import Table, read_table
from repsketch.errors import InputError


def test_no_test_row_is_a_training_row():
    table = Table("t", np.arange(101.0)[:, None], np.arange(101))
    train, test = split_table(table, seed=0)
    assert (train.n_rows, test.n_rows) == (81, 20)
    assert sorted([*train.y, *test.y]) == list(range(101))
    assert (train.X[:, 0] == train.y).all()
    assert (test.X[:, 0] == test.y).all()


def test_a_column_of_text_is_text_in_the_test_file_too(tmp_path):
    (tmp_path / "train.csv").write_text("code,y\n01,1\nx,0\n2,1\n")
    (tmp_path / "test.csv").write_text("y,code\n1,01\n0,2\n")
    table = read_table(tmp_path / "train.csv", "y")
    test = read_test(tmp_path / "test.csv", table, None)
    assert test.X.rows() == [("01",), ("2",)]
    assert test.y.tolist() == [1, 0]


@pytest.fixture
def frame(tmp_path):
    (tmp_path / "t.csv").write_text("age,count,share,name,some\n1,0,0.5,a,1\n2,2,-1,b,?\n3,5,1,c,2\n")
    return read_table(tmp_path / "t.csv").X


def test_a_column_of_weights(frame):
    table = with_weights(Table("t", frame, np.arange(3)), "count")
    assert table.X.columns == ["age", "share", "name", "some"]
    np.testing.assert_array_equal(table.weights, [0.0, 2.0, 5.0])
    some = table.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.weights, [5.0, 0.0])
    assert with_weights(table, None) is table
    assert table.take(np.array([1])).X.rows() == [(2, -1.0, "b", None)]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("weight", "t has no column 'weight' of weights; it has 'age'"),
        ("name", "column 'name' of t holds text or missing values"),
        ("some", "column 'some' of t holds text or missing values"),
        ("share", "holds negative numbers"),
    ],
)
def test_wrong_columns_of_weights(frame, column, said):
    with pytest.raises(InputError, match=said):
        with_weights(Table("t", frame), column)
    with pytest.raises(InputError, match="columns without names"):
        with_weights(Table("t", np.zeros((3, 2))), "a")
