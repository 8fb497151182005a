"""Cells of CSV text: one kind for all chunks of a column, whatever their order, and none of Python's own numbers."""

import itertools

import numpy as np
import pytest

from repsketch.data.csv_columns import ColumnBuilder


def build(*chunks, is_text=False, has_decimal_comma=False):
    builder = ColumnBuilder(is_text, has_decimal_comma)
    for chunk in chunks:
        builder.add(chunk)
    if builder.must_be_read_again:
        return build(*chunks, is_text=True)
    return builder.finish()


CASES = [
    (["1", "?"], ["-2"], [1, None, -2], np.int64),
    (["1"], ["2.5"], [1, 2.5], np.float64),
    (["1"], [".5e1", "inf"], [1, 5, np.inf], np.float64),
    (["NA", ""], ["1"], [None, None, 1], np.int64),
    (["NA", ""], ["true"], [None, None, True], bool),
    (["true"], ["FALSE", "?"], [True, False, None], bool),
    (["true"], [" false"], ["true", "false"], object),
    (["true"], [" ?"], ["true", None], object),
    (["true"], ["1"], ["true", "1"], object),
    (["?"], ["x", " ? "], [None, "x", None], object),
    (["007"], [" x"], ["007", "x"], object),
    (["1.50"], ["x"], ["1.50", "x"], object),
    (["9223372036854775807"], ["1"], [2**63 - 1, 1], np.int64),
    (["9223372036854775808"], ["1"], [2.0**63, 1], np.float64),
    (["9007199254740993", "?"], ["1"], [2**53 + 1, None, 1], np.int64),
    (["1" * 50], ["1.5"], [float("1" * 50), 1.5], np.float64),
    (["1" * 50], ["x"], ["1" * 50, "x"], object),
    (["1_000"], ["2"], ["1_000", "2"], object),
    (["٣"], ["2"], ["٣", "2"], object),
    (["１"], ["2"], ["１", "2"], object),
    (["1\xa0"], [" 2"], [1, 2], np.int64),
    (["0x10"], ["1e"], ["0x10", "1e"], object),
    (["NULL"], ["None"], ["NULL", "None"], object),
    (["nan", "NaN"], ["null"], [None, None, None], np.int64),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0][0]:.8} and {case[1][0]}")
def test_the_kind_of_a_column_is_that_of_all_its_cells(case):
    first, second, expected, dtype = case
    n = len(first)
    for chunks, cells in (((first, second), expected), ((second, first), [*expected[n:], *expected[:n]])):
        column = build(*chunks)
        assert column.cells() == cells
        assert column.values.dtype == dtype
        together = build([*chunks[0], *chunks[1]])
        assert (together.cells(), together.kind, together.values.dtype) == (cells, column.kind, dtype)


def test_decimal_commas():
    for cells in itertools.permutations(["1", "2,5", "3.5"]):
        column = build(*([cell] for cell in cells), has_decimal_comma=True)
        assert column.cells() == [float(cell.replace(",", ".")) for cell in cells]
    assert build(["1,2,3"], ["1"], has_decimal_comma=True).cells() == ["1,2,3", "1"]
    assert build(["1,5"]).cells() == ["1,5"]


def test_integers_beyond_128_bits_are_refused():
    with pytest.raises(ValueError, match="integers of more than 128 bits; write them as text or with an exponent"):
        build(["1"], ["9" * 40, "?"])
    with pytest.raises(ValueError, match="128 bits"):
        build(["9" * 5_000])


def test_a_column_of_text():
    column = build(["1", " NA"], [" x "], is_text=True)
    assert (column.kind, column.cells()) == ("text", ["1", None, "x"])


def test_equal_cells_share_their_text():
    chunk = ["".join(("oa", letter)) for letter in "kk"]
    values = build(chunk, ["".join(("oa", "k"))]).values
    assert values[0] is values[1] is values[2]


def test_a_column_without_rows():
    assert (len(build()), build().kind) == (0, "number")
    assert build(is_text=True).kind == "text"
