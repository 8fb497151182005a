"""Small tables in an order of their own, integer weights as repeated rows, equal rows on one side of every split."""

import numpy as np
import pandas
import pytest
from scipy import sparse

from repsketch.data import repeats
from repsketch.data.repeats import arranged, grouped, groups_of_equal
from repsketch.teacher.out_of_fold import N_FOLDS, Fold
from repsketch.train.training_data import TrainingData

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)).round(1)
X[:3, 0] = 0.0, -0.0, np.nan
Y = RNG.integers(0, 3, 60)
WEIGHTS = RNG.integers(0, 4, 60).astype(float)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, pandas.DataFrame])
def test_the_order_of_rows_means_nothing(kind):
    shuffled = RNG.permutation(60)
    found = [arranged(kind(X[rows]), Y[rows], None) for rows in (np.arange(60), shuffled)]
    tables = [np.asarray(each[0].todense() if kind is sparse.csr_matrix else each[0]) for each in found]
    np.testing.assert_array_equal(*tables)
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_array_equal(found[0][3], shuffled[found[1][3]])
    np.testing.assert_array_equal(tables[0], X[found[0][3]])
    assert not np.array_equal(tables[0], X)
    assert found[0][2] is None


@pytest.mark.parametrize("has_labels", [True, False])
def test_integer_weights_are_repeated_rows(has_labels):
    y = Y if has_labels else None
    counts, shuffled = WEIGHTS.astype(int), RNG.permutation(60)
    weighted = arranged(X[shuffled], None if y is None else y[shuffled], WEIGHTS[shuffled])
    repeated = arranged(np.repeat(X, counts, axis=0), None if y is None else np.repeat(y, counts), None)
    for one, other in zip(weighted[:3], repeated[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(weighted[0]) == counts.sum()
    np.testing.assert_array_equal(weighted[0], X[shuffled][weighted[3]])


def test_other_weights_stay_with_their_rows():
    weights = WEIGHTS * 0.3
    rows = np.flatnonzero(WEIGHTS)
    for table in (X, pandas.DataFrame(X)):
        found, y, kept, places = arranged(table, Y, weights)
        assert sorted(places.tolist()) == rows.tolist()
        np.testing.assert_array_equal(np.asarray(found), X[places])
        np.testing.assert_array_equal(y, Y[places])
        np.testing.assert_array_equal(kept, weights[places])


def test_rows_of_a_frame_are_not_repeated():
    """Integers that number the rows would look like numbers."""
    found, _, kept, places = arranged(pandas.DataFrame(X), Y, WEIGHTS)
    assert len(found) == np.count_nonzero(WEIGHTS)
    np.testing.assert_array_equal(kept, WEIGHTS[places])


def test_large_tables_lose_rows_without_weight_alone(monkeypatch):
    monkeypatch.setattr(repeats, "MAX_ROWS", 20)
    assert arranged(X, Y, None)[3] is None
    assert arranged(X, Y, WEIGHTS + 1.0)[0] is X
    found, y, kept, rows = arranged(X, Y, WEIGHTS)
    np.testing.assert_array_equal(rows, np.flatnonzero(WEIGHTS))
    np.testing.assert_array_equal(found, X[rows])
    np.testing.assert_array_equal(y, Y[rows])
    np.testing.assert_array_equal(kept, WEIGHTS[rows])
    np.testing.assert_array_equal(groups_of_equal(np.zeros((21, 1)), np.zeros((21, 1))), np.arange(21))


def test_weights_whose_repetitions_are_too_many_stay_weights(monkeypatch):
    monkeypatch.setattr(repeats, "MAX_ROWS", 60)
    found, _, kept, _ = arranged(X, Y, np.full(60, 2.0))
    assert (len(found), kept.tolist()) == (60, [2.0] * 60)


@pytest.mark.parametrize(("weight", "n_rows"), [(5.0, 300), (6.0, 60)])
def test_large_weights_stay_weights(weight, n_rows):
    """Most of their rows would otherwise be training rows and validation rows."""
    found, _, remaining, _ = arranged(X, Y, np.full(60, weight))
    assert len(found) == n_rows
    assert remaining is None or remaining.tolist() == [weight] * 60


def test_groups_are_rows_with_equal_labels():
    table = np.array([[1.0, np.nan], [1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [2.0, -0.0]]).repeat(20, axis=0)
    table[:, 0] += np.tile(np.arange(20) * 10, 5)  # of each pair 20 versions
    labels = np.repeat([0.0, 0.0, 1.0, 1.0, 1.0], 20)[:, None]
    found = groups_of_equal(table, labels)
    expected = np.concatenate([np.arange(20), np.arange(20), np.arange(40, 60), np.arange(60, 80), np.arange(40, 60)])
    np.testing.assert_array_equal(found, expected)


def test_large_groups_are_split_like_other_rows():
    """Forty categories are a distribution: a split between them would leave some out of the training rows."""
    table = np.repeat(np.arange(40.0), 6)[:, None]
    np.testing.assert_array_equal(groups_of_equal(table, np.zeros((240, 1))), np.arange(240))
    assert groups_of_equal(table[1:], np.zeros((239, 1))).tolist() == [0] * 5 + list(range(5, 239))


def test_without_equal_rows_nothing_moves():
    order = RNG.permutation(60)
    np.testing.assert_array_equal(grouped(order, np.arange(60)), order)


def n_shared(one, other):
    """Rows of the one that equal a row of the other."""
    return len({row.tobytes() for row in one} & {row.tobytes() for row in other})


@pytest.mark.parametrize("seed", range(4))
def test_equal_rows_are_on_one_side_of_every_split(seed):
    """At most one group is cut where a part ends; without groups 80 rows or so would be on both sides."""
    table = np.repeat(RNG.normal(size=(200, 2)), 2, axis=0).astype(np.float32)
    data = TrainingData.of(table, table[:, :1].astype(float), None, "regression", seed=seed)
    splits = [(data.train_rows, data.validation_rows)]
    splits += [(fold.train_rows, fold.validation_rows) for fold in data.folds(5, seed)]
    for train, validation in splits:
        assert n_shared(table[train], table[validation]) <= 2
    folds = list(Fold.split(400, data.train_rows, seed, data.groups))
    assert len(folds) == N_FOLDS
    for fold in folds:
        own = np.setdiff1d(fold.evaluated, data.validation_rows)
        assert n_shared(table[fold.train], table[own]) == 0
        assert 40 < len(own) < 120
