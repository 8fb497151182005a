"""Sparse matrices: what the arrays say counts, never a flag, and arrays that contradict each other are refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from repsketch import compress, core, lsh
from repsketch.data.arrays import as_table
from repsketch.errors import InputError
from repsketch.estimators import SketchRegressor
from repsketch.runtime import runtime_for
from repsketch.sketch import CompiledSketch, Sketch

F = np.float32
N, D = 130, 6  # more than two blocks of 64 rows
KINDS = {"matrix": sp.csr_matrix, "array": sp.csr_array}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def numbers() -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(N, D)).astype(F)
    X[:, 1] = 0.0
    return X


def density() -> Sketch:
    return Sketch.empty(lsh.L2(1.0), n_rows=10, n_buckets=8, n_features=D).add(numbers())


@pytest.fixture(params=["core", "oracle"])
def outputs(request, monkeypatch):
    """Predictions of a sketch by either runtime."""
    if request.param == "oracle":
        monkeypatch.setattr(core, "native", None)
    return runtime_for(density().model).outputs


def place_of(table, row: int) -> int:
    return int(table.indptr[row])


def column_too_large(table):
    table.indices[place_of(table, 100) + 4] = D


def column_far_too_large(table):
    table.indices[place_of(table, 100) + 4] = 2**31 - 1


def column_negative(table):
    table.indices[place_of(table, 100) + 4] = -1


def column_of_33_bits(table):
    table.indptr, table.indices = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    table.indices[place_of(table, 100) + 4] = 2**32  # column 0 where 32 bits are left


def column_without_sign(table):
    table.indices = table.indices.astype(np.uint64)
    table.indices[place_of(table, 100) + 4] = 2**64 - 1


def doubled_behind_the_flag(table):
    assert table.has_canonical_format
    table.indices[place_of(table, 100) + 1] = 0


def unsorted_behind_the_flag(table):
    assert table.has_canonical_format
    place = slice(place_of(table, 100), place_of(table, 101))
    table.indices[place] = table.indices[place][::-1].copy()


def falling_ends(table):
    table.indptr[100] = table.indptr[103]


def negative_end(table):
    table.indptr[100] = -5


def end_beyond_the_numbers(table):
    table.indptr[-1] += 1000


def first_end_not_zero(table):
    table.indptr[0] = 2


def too_few_ends(table):
    table.indptr = table.indptr[:-1]


def too_few_columns(table):
    table.indices = table.indices[:-3]


def columns_in_floats(table):
    table.indices = table.indices.astype(np.float64)


def ends_in_floats(table):
    table.indptr = table.indptr.astype(np.float64)


def numbers_in_a_table(table):
    table.data = table.data.reshape(-1, 2)


def columns_in_a_list(table):
    table.indices = table.indices.tolist()


RANGE = r"allowed is 0 to 5"
SPOILED = {
    column_too_large: rf"X holds column index 6 in row 100; {RANGE}",
    column_far_too_large: rf"X holds column index 2147483647 in row 100; {RANGE}",
    column_negative: rf"X holds column index -1 in row 100; {RANGE}",
    column_of_33_bits: rf"X holds column index 4294967296 in row 100; {RANGE}",
    column_without_sign: rf"X holds column index 18446744073709551615 in row 100; {RANGE}",
    doubled_behind_the_flag: r"X says has_canonical_format.*row 100.*sum_duplicates",
    unsorted_behind_the_flag: r"X says has_canonical_format.*row 100.*sum_duplicates",
    falling_ends: r"X is no CSR matrix: indptr falls from \d+ to \d+ after row 100",
    negative_end: r"X is no CSR matrix: indptr falls from \d+ to -5 after row 99",
    end_beyond_the_numbers: r"X is no CSR matrix: indptr ends at \d+, beyond the 650 stored numbers",
    first_end_not_zero: r"X is no CSR matrix: indptr begins with 2; allowed is 0",
    too_few_ends: r"X is no CSR matrix: indptr has length 130; allowed is 131",
    too_few_columns: r"X is no CSR matrix: indices has 647 entries, data 650",
    columns_in_floats: r"X is no CSR matrix: indices has dtype float64; allowed are integers",
    ends_in_floats: r"X is no CSR matrix: indptr has dtype float64; allowed are integers",
    numbers_in_a_table: r"X is no CSR matrix: data has shape \(325, 2\); allowed is one dimension",
    columns_in_a_list: r"X is no CSR matrix: indices is a list",
}
every_fault = pytest.mark.parametrize(("spoil", "words"), SPOILED.items(), ids=[f.__name__ for f in SPOILED])


def spoiled(spoil, kind=sp.csr_matrix):
    table = kind(numbers())
    spoil(table)
    return table


@every_fault
@every_kind
def test_arrays_that_contradict_each_other(outputs, spoil, words, kind):
    for n_threads in (1, 2):
        with pytest.raises(InputError, match=words):
            outputs(spoiled(spoil, kind), n_threads)
    with pytest.raises(InputError, match=words):
        as_table(spoiled(spoil, kind))


@pytest.mark.parametrize("spoil", [column_too_large, column_negative, column_of_33_bits, doubled_behind_the_flag])
def test_every_call_refuses(spoil):
    y = numbers()[:, 0]
    sketch, regressor = CompiledSketch(density().model), SketchRegressor(budget="256B", time_limit=0.1)
    calls = {
        "predict": lambda X: sketch.predict(X),
        "predict_one": lambda X: sketch.predict_one(X[100]),
        "add": lambda X: density().add(X),
        "compress": lambda X: compress(None, X, y, task="regression", budget="256B", progress=False),
        "compress a teacher": lambda X: compress(lambda Z: Z[:, 0], X, budget="256B", progress=False),
        "fit": lambda X: regressor.fit(X, y),
    }
    for call in calls.values():
        with pytest.raises(InputError):
            call(spoiled(spoil))
    regressor.sketch_, regressor.n_features_in_ = sketch, D
    with pytest.raises(InputError):
        regressor.predict(spoiled(spoil))


def test_a_flag_that_is_wrong_in_the_safe_direction_does_not_matter(outputs):
    table = sp.csr_matrix(numbers())
    table.has_sorted_indices = table.has_canonical_format = False
    np.testing.assert_array_equal(outputs(table), outputs(numbers()))


def test_a_stale_flag_of_sorted_columns_does_not_matter(outputs):
    """It would keep scipy from sorting them, and only neighbours would be summed."""
    table = sp.csr_matrix(numbers())
    double = sp.csr_matrix((np.tile(table.data[:5], 2) / 2, np.tile(table.indices[:5], 2), [0, 10]), (1, D))
    double.has_sorted_indices = True
    np.testing.assert_array_equal(outputs(double), outputs(numbers()[:1]))


def test_duplicates_are_summed_and_the_matrix_is_left_alone(outputs):
    table = sp.csr_matrix(numbers())
    double = sp.csr_matrix((np.repeat(table.data / 2, 2), np.repeat(table.indices, 2), table.indptr * 2), (N, D))
    np.testing.assert_array_equal(outputs(double), outputs(numbers()))
    assert double.nnz == 2 * table.nnz
    assert as_table(double).nnz == table.nnz
    assert as_table(table) is table


@pytest.mark.parametrize("index", [np.int32, np.int64, np.uint32])
def test_every_type_of_index(outputs, index):
    table = sp.csr_matrix(numbers())
    table.indices = table.indices.astype(index)
    np.testing.assert_array_equal(outputs(table), outputs(numbers()))
    table.indptr = table.indptr.astype(index)
    np.testing.assert_array_equal(outputs(table), outputs(numbers()))


def test_room_for_more_numbers_is_not_read(outputs):
    table = sp.csr_matrix(numbers())
    table.data, table.indices = np.append(table.data, [np.nan]), np.append(table.indices, [-7]).astype(np.int32)
    np.testing.assert_array_equal(outputs(table), outputs(numbers()))


# -- other formats ------------------------------------------------------------------------------


def spoil_csc(X):
    table = sp.csc_matrix(X)
    table.indices[3] = N
    return table


def spoil_csc_ends(X):
    table = sp.csc_matrix(X)
    table.indptr[2] = 10**6
    return table


def spoil_bsr(X):
    table = sp.bsr_matrix(X, blocksize=(2, 3))
    table.indices[3] = 2
    return table


def spoil_coo(X):
    table = sp.coo_matrix(X)
    table.col[7] = D
    return table


def spoil_coo_rows(X):
    table = sp.coo_array(X)
    table.row[7] = -1
    return table


def spoil_coo_flag(X):
    table = sp.coo_matrix(X)
    table.sum_duplicates()
    table.col[1] = table.col[0]
    assert table.has_canonical_format
    return table


def spoil_lil(X):
    table = sp.lil_matrix(X)
    table.rows[5][-1] = D
    return table


def spoil_dok(X):
    table = sp.dok_matrix(X)
    table._dict[(5, D)] = 1.0
    return table


def spoil_dia(X):
    table = sp.dia_matrix(X[:8])
    table.offsets[1] = table.offsets[0]
    return table


OTHERS = {
    spoil_csc: r"X holds row index 130 in column 0; allowed is 0 to 129",
    spoil_csc_ends: r"X is no CSC matrix: indptr",
    spoil_bsr: r"X holds column index 2 in row 1 of blocks; allowed is 0 to 1",
    spoil_coo: r"X holds column index 6.*allowed is 0 to 5",
    spoil_coo_rows: r"X holds row index -1.*allowed is 0 to 129",
    spoil_coo_flag: r"X says has_canonical_format",
    spoil_lil: r"X holds column index 6 in row 5; allowed is 0 to 5",
    spoil_dok: r"X is no DOK matrix of numbers: .*index 6 exceeds",
    spoil_dia: r"X is no DIA matrix: offset -?\d+ is there twice",
}


@pytest.mark.parametrize(("make", "words"), OTHERS.items(), ids=[f.__name__ for f in OTHERS])
def test_other_formats(outputs, make, words):
    with pytest.raises(InputError, match=words):
        outputs(make(numbers()))


@pytest.mark.parametrize("kind_of_matrix", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@every_kind
def test_every_format(outputs, kind_of_matrix, kind):
    X = numbers()[:8] if kind_of_matrix == "dia" else numbers()  # scipy warns of many diagonals
    np.testing.assert_array_equal(outputs(kind(X).asformat(kind_of_matrix)), outputs(X))


def test_a_class_made_of_a_sparse_matrix(outputs):
    class Labelled(sp.csr_matrix):
        pass

    np.testing.assert_array_equal(outputs(Labelled(numbers())), outputs(numbers()))


def test_one_dimension(outputs):
    for vector in (sp.coo_array(numbers()[0]), sp.csr_array(numbers()[0])):
        with pytest.raises(InputError, match=r"X has shape \(6,\); a table needs 2 dimensions"):
            outputs(vector)
