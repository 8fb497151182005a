"""Tables in: the same rows from every kind of file, targets by name and number, and one clear line for a bad file."""

import gzip
import sys
import zipfile

import numpy as np
import polars
import pyarrow
import pytest
from pyarrow import parquet
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from repsketch.data.frames import as_columns
from repsketch.data.tables import read_table
from repsketch.errors import InputError, MissingExtraError

CSV = "age,job,is_old,income\n39,clerk,false,low\n?,smith,true,high\n50.5,,true,low\n18,NA,,high\n"
ROWS = [(39.0, "clerk", False), (None, "smith", True), (50.5, None, True), (18.0, None, None)]
INCOME = ["low", "high", "low", "high"]


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.fixture
def csv(tmp_path):
    return write(tmp_path / "people.csv", CSV)


def test_csv_with_categories_and_missing_values(csv):
    table = read_table(csv, "income")
    assert table.X.columns == ["age", "job", "is_old"]
    assert table.X.rows() == ROWS
    assert table.y.tolist() == INCOME
    assert (table.name, table.target, table.n_rows, table.text_columns) == ("people.csv", "income", 4, ["job"])


def test_other_files_hold_the_same(csv, tmp_path):
    frame = polars.read_csv(csv, null_values=["?", "NA", ""])
    frame.write_parquet(tmp_path / "people.parquet")
    write(tmp_path / "people.CSV.gz", gzip.compress(CSV.encode()))
    write(tmp_path / "people.tsv", CSV.replace(",", "\t"))
    for name in ("people.parquet", "people.CSV.gz", "people.tsv"):
        table = read_table(tmp_path / name, "income")
        assert table.X.rows() == ROWS, name
        assert table.y.tolist() == INCOME


@pytest.mark.parametrize("target", ["income", "3", "-1"])
def test_a_target_by_name_and_by_number(csv, target):
    table = read_table(csv, target)
    assert table.target == "income"
    assert table.X.shape[1] == 3


def test_a_name_goes_before_a_number(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "1,0\n5,6\n"), "0")
    assert (table.y.tolist(), table.X.columns) == ([6], ["1"])


def test_without_a_target_all_columns_stay(csv):
    table = read_table(csv)
    assert table.y is None
    assert table.X.shape[1] == 4


def test_spaces_after_commas(tmp_path):
    table = read_table(write(tmp_path / "a.csv", "age, job, size\n 39, clerk, 1.5\n 40, ?, ?\n"), "age")
    assert table.X.columns == ["job", "size"]
    assert table.X.rows() == [("clerk", 1.5), (None, None)]
    assert table.y.dtype == np.int64


def test_a_column_that_turns_from_integers_to_text_late(tmp_path):
    lines = ["a,b"] + ["1,2"] * 2_000 + ["1,2.5"] * 2_000 + ["x,2"]
    table = read_table(write(tmp_path / "a.csv", "\n".join(lines)))
    assert table.text_columns == ["a"]
    assert table.X["b"].values.sum() == 2 * 2_001 + 2.5 * 2_000


def test_categories_that_look_like_numbers_keep_their_text(tmp_path):
    path = write(tmp_path / "a.csv", "zip,x\n01234,1\n00099,2\n")
    assert read_table(path, text=["zip", "another"]).X["zip"].cells() == ["01234", "00099"]
    assert read_table(path).X["zip"].cells() == [1234, 99]


def test_npz(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "a"])
    np.savez(tmp_path / "a.npz", X=X, y=y, other=np.array([1, 2, 3]), names=np.array(["p", "q"]))
    for target, expected in ((None, y), ("y", y), ("other", [1, 2, 3])):
        table = read_table(tmp_path / "a.npz", target)
        np.testing.assert_array_equal(table.X, X)
        np.testing.assert_array_equal(table.y, expected)
    table = read_table(tmp_path / "a.npz", "-1")
    np.testing.assert_array_equal(table.X, X[:, :1])
    np.testing.assert_array_equal(table.y, X[:, 1])
    np.savez(tmp_path / "b.npz", X=X)
    assert read_table(tmp_path / "b.npz").y is None


@pytest.mark.parametrize("name", ["a.libsvm", "a.svm", "a.svmlight", "a.txt"])
def test_libsvm(tmp_path, name):
    X = np.array([[0.0, 2.5, 0.0], [1.0, 0.0, 0.0]])
    dump_svmlight_file(X, [1, -1], str(tmp_path / name), zero_based=False)
    table = read_table(tmp_path / name, n_features=3)
    assert sparse.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.y.tolist() == [1, -1]
    assert table.y.dtype == np.int64
    np.testing.assert_array_equal(read_table(tmp_path / name, "label").y, table.y)
    np.testing.assert_array_equal(read_table(tmp_path / name, "1").y, X[:, 1])


def test_values_of_libsvm_stay_values(tmp_path):
    assert read_table(write(tmp_path / "a.svm", "1.5 1:1\n2 1:3\n")).y.tolist() == [1.5, 2.0]


def test_rows_are_taken_with_their_targets(csv, tmp_path):
    np.savez(tmp_path / "a.npz", X=np.arange(4.0)[:, None], y=np.arange(4))
    write(tmp_path / "a.svm", "0 1:9\n1 1:8\n2 1:7\n3 1:6\n")
    rows = np.array([3, 1])
    assert read_table(csv, "income").take(rows).X.rows() == [ROWS[3], ROWS[1]]
    assert read_table(tmp_path / "a.npz").take(rows).X.tolist() == [[3.0], [1.0]]
    sample = read_table(tmp_path / "a.svm").take(rows)
    assert (sample.X.toarray().tolist(), sample.y.tolist()) == ([[6.0], [8.0]], [3, 1])


def test_columns_in_the_order_of_another_table(csv, tmp_path):
    other = write(tmp_path / "other.csv", "is_old,extra,job,age\ntrue,1,clerk,2\n")
    table = read_table(csv, "income")
    assert read_table(other).ordered_as(table).X.rows() == [(2, "clerk", True)]
    with pytest.raises(InputError, match=r"people.csv lacks the columns 'extra' of other.csv"):
        table.ordered_as(read_table(other))


def test_columns_left_out(csv):
    assert read_table(csv, "income", drop=["job"]).X.columns == ["age", "is_old"]


def test_the_library_takes_what_is_read(csv):
    columns = as_columns(read_table(csv, "income").X)
    assert columns.categories == {1: ("clerk", "smith")}
    np.testing.assert_array_equal(columns.numbers[:, 2], [0, 1, 1, np.nan])


BAD = {
    "no such target": ("a.csv", CSV, "incme", r"a.csv has no column 'incme'; it has 'age', 'job', 'is_old', 'income'"),
    "a number too far": ("a.csv", CSV, "4", r"a.csv has no column '4'"),
    "many columns": ("a.csv", ",".join("abcdefghijk"), "z", r"'g', 'h' and 3 more\. Numbers"),
    "a target that is missing": ("a.csv", CSV, "age", r"'age' of a.csv is missing in 1 of 4 rows, first in row 1"),
    "text that is missing": ("a.csv", CSV, "job", r"'job' of a.csv is missing in 2 of 4 rows, first in row 2"),
    "a LIBSVM target by name": ("a.svm", "1 1:2\n", "y", r"a.svm has no column 'y'; it has 'label'"),
    "an unknown ending": ("a.xlsx", "x", None, r"a.xlsx' is no table by its ending; allowed are .csv"),
    "an empty file": ("a.csv", "", None, r"a.csv' cannot be read as .csv: empty CSV"),
    "names alone": ("a.csv", "a,b\n", None, r"a.csv has no rows"),
    "the target alone": ("a.csv", "a\n1\n", "a", r"a.csv has no columns to predict from"),
    "ragged lines": ("a.csv", "a,b\n1,2,3\n", None, r"a.csv' cannot be read as .csv: found more fields"),
    "bytes that are no text": ("a.csv", b"a,b\n1,\xff\xfe\n", None, r"a.csv is no utf-8 text: byte 0xff in line 2"),
    "a broken gzip": ("a.csv.gz", b"\x1f\x8b\x08rest", None, r"a.csv.gz' cannot be read as .csv.gz"),
    "no Parquet": ("a.parquet", b"PAR1 nothing PAR1", None, r"a.parquet' cannot be read as .parquet"),
    "no npz": ("a.npz", "x", None, r"a.npz' cannot be read as .npz: it is no archive"),
    "no LIBSVM": ("a.libsvm", "age,job\n", None, r"a.libsvm' cannot be read as .libsvm"),
    "an empty LIBSVM file": ("a.svm", "", None, r"a.svm has no rows"),
    "infinity": ("a.csv", "a,b\n1,inf\n2,3\n", None, r"column 'b' of a.csv holds infinity in row 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path, name):
    file, content, target, message = BAD[name]
    with pytest.raises(InputError, match=message) as caught:
        read_table(write(tmp_path / file, content), target)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.npz", "a.svm"])
def test_damaged_files_are_read_or_refused(tmp_path, name):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    frame = polars.DataFrame({"a": X[:, 0], "b": ["x", "y", None] * 10, "y": y})
    frame.write_parquet(tmp_path / "a.parquet")
    write(tmp_path / "a.csv", frame.write_csv())
    write(tmp_path / "a.csv.gz", gzip.compress(frame.write_csv().encode()))
    np.savez(tmp_path / "a.npz", X=X, y=y)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"))
    content, messages = (tmp_path / name).read_bytes(), []
    for _ in range(150):
        damaged = np.frombuffer(content, np.uint8).copy()
        places = rng.integers(0, len(content), 4)
        damaged[places] ^= rng.integers(1, 256, 4).astype(np.uint8)
        try:
            read_table(write(tmp_path / f"damaged{name}", damaged.tobytes()))
        except InputError as error:
            messages.append(str(error))
    assert messages
    assert "\n" not in "".join(messages)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_table(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"is a folder; give the path of a table in a file"):
        read_table(tmp_path)


def test_columns_that_cannot_be_dropped(csv, tmp_path):
    with pytest.raises(InputError, match=r"people.csv has no column 'jib' to drop; it has 'age', 'job'"):
        read_table(csv, drop=["jib"])
    with pytest.raises(InputError, match=r"a.svm has no names of columns"):
        read_table(write(tmp_path / "a.svm", "1 1:2\n"), drop=["0"])


def test_npz_files_of_other_things(tmp_path):
    np.savez(tmp_path / "a.npz", Z=np.ones((2, 3)))
    with pytest.raises(InputError, match=r"has no array X \(others: Z \(2, 3\)\)"):
        read_table(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", X=np.array([["a"]]))
    with pytest.raises(InputError, match=r"an X of shape \(1, 1\) and dtype <U1"):
        read_table(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", X=np.array([[{}]], dtype=object))
    with pytest.raises(InputError, match="allow_pickle=False"):
        read_table(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", b"no array")
    with pytest.raises(InputError, match=r"an X of shape \(\)"):
        read_table(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", X=np.ones((2, 3)), y=[1.0, np.nan])
    with pytest.raises(InputError, match="missing in 1 of 2 rows, first in row 1"):
        read_table(tmp_path / "a.npz")


def test_parquet_columns_of_other_things(tmp_path):
    polars.DataFrame({"a": [[1], [2]]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"column 'a' of a.parquet holds (large_)?list<"):
        read_table(tmp_path / "a.parquet")
    broken = pyarrow.Array.from_buffers(
        pyarrow.string(), 1, [None, pyarrow.py_buffer(np.array([0, 2], np.int32)), pyarrow.py_buffer(b"\xff\xfe")]
    )
    parquet.write_table(pyarrow.table({"a": broken}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="Invalid UTF8"):
        read_table(tmp_path / "a.parquet")
    dates = polars.DataFrame({"a": [1, 2], "day": ["2020-01-01", "2020-01-02"]}).with_columns(
        polars.col("day").str.to_date()
    )
    dates.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"the target 'day' of a.parquet holds dates"):
        read_table(tmp_path / "a.parquet", "day")
    columns = pyarrow.table([pyarrow.array([1]), pyarrow.array([2])], names=["a", "a"])
    parquet.write_table(columns, tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a.parquet' cannot be read as .parquet.*a"):
        read_table(tmp_path / "a.parquet")


def test_dates_among_arrays_are_no_target(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((2, 1)), y=np.array(["2020-01-01", "2021-01-01"], "M8[D]"))
    with pytest.raises(InputError, match=r"the target 'y' of a.npz holds dates"):
        read_table(tmp_path / "a.npz")


def test_csv_needs_no_other_library_and_parquet_names_its_extra(csv, tmp_path, monkeypatch):
    polars.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    for name in ("polars", "pandas", "narwhals", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    assert as_columns(read_table(csv, "income").X).categories == {1: ("clerk", "smith")}
    with pytest.raises(MissingExtraError, match=r"pip install 'repsketch\[parquet\]'"):
        read_table(tmp_path / "a.parquet")
