"""Everything that may be an ``X`` becomes the same float32 rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from repsketch.data.arrays import (
    as_outputs,
    as_table,
    check_finite,
    check_not_empty,
    check_width,
    is_sparse,
    iterate_blocks,
    take_rows,
)
from repsketch.errors import InputError

ROWS = np.array([[0.0, 1.5, -2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 7.0], [1e-40, 1e30, 0.1], [5.0, 5.0, 5.0]])
TABLES = {
    "float64": ROWS,
    "float32": ROWS.astype(np.float32),
    "fortran": np.asfortranarray(ROWS),
    "strided": np.repeat(ROWS, 2, axis=0)[::2],
    "object": ROWS.astype(object),
    "list": ROWS.tolist(),
    "frame": pd.DataFrame(ROWS, columns=list("abc")),
    "csr": sp.csr_matrix(ROWS),
    "csr_array": sp.csr_array(ROWS),
    "csc": sp.csc_matrix(ROWS),
    "coo": sp.coo_array(ROWS),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("block_rows", [1, 2, 5, 100])
def test_every_kind_of_table_gives_the_same_blocks(table, block_rows):
    blocks = list(iterate_blocks(as_table(table), block_rows=block_rows))
    assert [start for start, _ in blocks] == list(range(0, 5, block_rows))
    for start, block in blocks:
        assert block.dtype == np.float32
        assert block.flags.c_contiguous
        np.testing.assert_array_equal(block, ROWS[start : start + block_rows].astype(np.float32))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float16])
def test_number_types(dtype):
    table = np.array([[0, 1], [1, 0]], dtype)
    np.testing.assert_array_equal(take_rows(as_table(table), 0, 2), [[0, 1], [1, 0]])


def test_masked_entries_are_nan():
    masked = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    np.testing.assert_array_equal(as_table(masked), [[1.0, np.nan], [3.0, 4.0]])
    np.testing.assert_array_equal(as_table(list(masked)), [[1.0, np.nan], [3.0, 4.0]])
    assert as_table(masked[1:]).dtype == masked.dtype  # nothing is masked there
    assert masked.data.tolist() == [[1, 2], [3, 4]]


def test_blocks_are_aligned():
    apart = np.frombuffer(b"x" + ROWS.astype(np.float32).tobytes(), np.uint8)[1:].view(np.float32).reshape(ROWS.shape)
    assert not apart.flags.aligned
    (block,) = (block for _, block in iterate_blocks(as_table(apart)))
    assert block.flags.aligned
    np.testing.assert_array_equal(block, ROWS.astype(np.float32))


def test_arrays_are_not_copied():
    assert as_table(ROWS) is ROWS
    rows = ROWS.astype(np.float32)
    assert np.shares_memory(take_rows(rows, 1, 3), rows)


def test_sparse_is_seen_without_scipy():
    assert is_sparse(sp.csr_matrix(ROWS))
    assert is_sparse(sp.coo_array(ROWS))
    assert not is_sparse(ROWS)
    assert not is_sparse(None)


@pytest.mark.parametrize(("row", "column"), [(0, 0), (3, 2), (4, 1)])
@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity"), (1e39, "infinity")]
)
@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, pd.DataFrame], ids=["dense", "sparse", "frame"])
def test_the_first_bad_value_is_named(kind, row, column, value, word):
    table = ROWS.copy()
    table[row, column] = value
    table[4, 2] = np.nan
    with pytest.raises(InputError, match=rf"inputs holds {word}.* at row {row}, column {column};.*finite"):
        list(iterate_blocks(as_table(kind(table)), name="inputs", block_rows=2))


def test_opposite_infinities_do_not_hide_each_other():
    with pytest.raises(InputError, match="row 10, column 0"):
        check_finite(np.array([[np.inf, -np.inf]]), first_row=10)


def test_large_finite_values_pass():
    block = np.full((3, 3), np.finfo(np.float32).max)
    assert check_finite(block) is block


def test_width_and_emptiness():
    check_width(ROWS, 3)
    with pytest.raises(InputError, match="points has 3 features, but this model takes 4"):
        check_width(ROWS, 4, "points")
    check_not_empty(ROWS)
    with pytest.raises(InputError, match=r"\(0, 3\): at least one row"):
        check_not_empty(ROWS[:0])
    with pytest.raises(InputError, match=r"\(5, 0\): at least one feature"):
        check_not_empty(ROWS[:, :0])


class TestOutputs:
    @pytest.mark.parametrize(
        "values", [[1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3], np.float32), pd.Series([1, 2, 3])]
    )
    def test_a_vector_is_one_column(self, values):
        outputs = as_outputs(values, 3)
        assert (outputs.dtype, outputs.shape) == (np.float64, (3, 1))
        assert outputs[:, 0].tolist() == [1.0, 2.0, 3.0]

    def test_a_matrix_stays(self):
        values = np.arange(6.0).reshape(3, 2)
        np.testing.assert_array_equal(as_outputs(values, 3), values)

    def test_a_masked_entry_is_named(self):
        with pytest.raises(InputError, match="y holds a masked entry at row 2; drop such rows or fill the entry"):
            as_outputs(np.ma.array(np.ones((3, 2)), mask=[[0, 0], [0, 0], [0, 1]]), 3, "y")
        assert as_outputs(np.ma.array([1, 2, 3]), 3)[:, 0].tolist() == [1.0, 2.0, 3.0]

    @pytest.mark.parametrize("shape", [(), (2,), (4,), (3, 0), (3, 1, 1), (1, 3)])
    def test_other_shapes_are_refused(self, shape):
        with pytest.raises(InputError, match=r"weights has shape .*allowed is \(3,\) or \(3, C\)"):
            as_outputs(np.ones(shape), 3, "weights")
