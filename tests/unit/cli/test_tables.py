"""Training and test rows of ``repsketch compress``."""

import numpy as np

from repsketch.cli.tables import read_test, split_table
from repsketch.data.tables import Table, read_table


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
