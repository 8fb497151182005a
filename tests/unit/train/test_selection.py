"""Which columns and labels are used: the rules, case by case."""

from dataclasses import replace

import numpy as np
import pandas
import pytest

from repsketch.data.frames import Columns, as_columns
from repsketch.io.strings import STRING_CAP
from repsketch.train import selection
from repsketch.train.selection import informative_labels, unused_columns
from repsketch.train.training_data import TrainingData

RNG = np.random.default_rng(0)
N = 100


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (np.arange(N), "numbers the rows"),
        (RNG.permutation(2 * N)[:N], "numbers the rows"),
        (RNG.permutation(4 * N)[:N], None),
        (np.append(np.arange(N - 1), 0), None),  # a number twice
        (np.arange(N).astype(float), None),
        (2**60 + RNG.permutation(10**6)[:N], "numbers the rows"),
        (1_600_000_000 + 3_600 * RNG.permutation(N), "numbers the rows"),
        (RNG.lognormal(17.0, 2.0, N).astype(np.int64), None),
        (RNG.integers(18, 90, N), None),
        ([f"comment {i}" for i in range(N)], "differs in every row"),
        ([f"comment {i % 90}" for i in range(N)], None),
        (["same"] * N, "has one value only"),
        ([None] * N, "has one value only"),
        (pandas.date_range("2020-01-01", periods=N), "holds dates or times"),
        (["x" * 1_025, "y\0"] * (N // 2), "holds text of over 1024 bytes, or with a NUL"),
        (pandas.Categorical([f"comment {i}" for i in range(N)]), None),
    ],
    ids=lambda value: f"{value!s:.30}",
)
def test_columns_that_are_not_used(column, reason):
    assert unused_columns(as_columns(pandas.DataFrame({"a": column}))) == ({} if reason is None else {0: reason})


def test_few_rows_are_no_sign():
    frame = pandas.DataFrame({"number": range(30), "text": [f"label {i}" for i in range(30)]})
    assert unused_columns(as_columns(frame)) == {}


def data_of(cells, labels, **options):
    X = np.asarray(cells, np.float32)[:, None]
    n_labels = int(np.nanmax(cells)) + 1
    return TrainingData.of(X, labels, None, "regression", n_categories={0: n_labels}, **options), n_labels


def test_labels_that_tell_most_are_chosen_by_training_rows_alone():
    cells = np.repeat(np.arange(200), 20)
    values = np.where(cells % 10 == 3, 5.0, 0.0) + RNG.normal(size=len(cells))
    data, n_labels = data_of(cells, values[:, None])
    labels = {0: tuple(f"{i:03d}" for i in range(n_labels))}
    chosen = informative_labels(data, labels)[0]
    assert len(chosen) == 64
    assert set(range(3, 200, 10)) <= set(chosen)
    assert (np.diff(chosen) > 0).all()
    spoiled = data.labels.copy()
    spoiled[data.validation_rows] = 1e6
    other = replace(data, labels=spoiled)
    np.testing.assert_array_equal(informative_labels(other, labels)[0], chosen)


def test_few_labels_are_left_alone_unless_a_file_cannot_hold_them():
    cells = np.arange(N) % 6
    data, _ = data_of(cells, RNG.normal(size=(N, 1)))
    assert informative_labels(data, {0: tuple("abcdef")}) == {}
    assert informative_labels(data, {0: ("a", "b\0", *"cde", "f" * 1_025)})[0].tolist() == [0, 2, 3, 4]
    assert selection.MAX_LABEL_NBYTES == STRING_CAP


def test_many_columns_share_the_labels():
    """512 labels for 64 columns: 8 of the 50 of each."""
    cells = np.arange(N) % 50
    X = np.repeat(np.float32(cells)[:, None], 64, axis=1)
    data = TrainingData.of(X, RNG.normal(size=(N, 1)), None, "regression", n_categories=dict.fromkeys(range(64), 50))
    chosen = informative_labels(data, dict.fromkeys(range(64), tuple(f"{i:02d}" for i in range(50))))
    assert {len(some) for some in chosen.values()} == {8}


def test_fewer_labels_in_a_table():
    table = Columns(np.array([[0.0], [2.0], [np.nan], [-1.0], [1.0]], np.float32), ("a",), {0: ("x", "y", "z")})
    fewer = table.with_labels({0: np.array([0, 2])})
    assert fewer.categories == {0: ("x", "z")}
    np.testing.assert_array_equal(fewer.numbers[:, 0], [0.0, 1.0, np.nan, -1.0, -1.0])
    assert table.categories == {0: ("x", "y", "z")}
