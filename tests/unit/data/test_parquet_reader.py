"""Parquet files: every type of pyarrow gives the numbers, labels and kinds that a frame of polars has."""

import datetime
import decimal

import numpy as np
import polars
import pyarrow
import pytest
from pyarrow import parquet

from repsketch.data.frames import as_columns
from repsketch.data.parquet_reader import read_parquet

DAY = datetime.datetime(2020, 1, 31)
COLUMNS = {
    "int8": pyarrow.array([1, None, -3], pyarrow.int8()),
    "int64": pyarrow.array([2**53 + 1, None, 3], pyarrow.int64()),
    "uint64": pyarrow.array([2**64 - 1, None, 3], pyarrow.uint64()),
    "half": pyarrow.array(np.array([1.5, 2.5, 3.5], np.float16)),
    "double": pyarrow.array([1.5, None, float("nan")]),
    "decimal": pyarrow.array([decimal.Decimal("1.25"), None, decimal.Decimal("2.50")]),
    "boolean": pyarrow.array([True, None, False]),
    "text": pyarrow.array(["oak", None, "ash"]),
    "large text": pyarrow.array(["oak", None, ""], pyarrow.large_string()),
    "category": pyarrow.array(["S", None, "L"]).dictionary_encode(),
    "null": pyarrow.array([None] * 3),
    "date": pyarrow.array([DAY.date(), None, DAY.date()]),
    "time stamp": pyarrow.array([DAY, None, DAY]),
    "duration": pyarrow.array([DAY - DAY] * 3),
}


@pytest.fixture
def path(tmp_path):
    parquet.write_table(pyarrow.table(COLUMNS), tmp_path / "a.parquet")
    return tmp_path / "a.parquet"


def test_the_library_reads_it_as_a_frame_of_polars(path):
    given, expected = as_columns(read_parquet(path)), as_columns(polars.read_parquet(path))
    assert (given.names, given.categories, given.kinds) == (expected.names, expected.categories, expected.kinds)
    np.testing.assert_array_equal(given.numbers, expected.numbers)


def test_cells_are_exact(path):
    frame = read_parquet(path)
    assert frame["int64"].cells() == [2**53 + 1, None, 3]
    assert frame["uint64"].cells() == [2**64 - 1, None, 3]
    assert frame["half"].cells() == [1.5, 2.5, 3.5]
    assert frame["decimal"].cells() == [1.25, None, 2.5]
    assert frame["large text"].cells() == ["oak", None, ""]
    assert frame["boolean"].values.dtype == bool


def test_a_dictionary_of_numbers_is_numbers(tmp_path):
    cells = pyarrow.array([5, None, 7]).dictionary_encode()
    parquet.write_table(pyarrow.table({"a": cells}), tmp_path / "a.parquet")
    column = read_parquet(tmp_path / "a.parquet")["a"]
    assert (column.kind, column.cells()) == ("number", [5, None, 7])


def test_a_file_without_rows(tmp_path):
    parquet.write_table(pyarrow.table({"a": pyarrow.array([], pyarrow.string())}), tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet").shape == (0, 1)
