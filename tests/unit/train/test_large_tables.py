"""What only large tables meet, on small ones: columns, categories and threads beyond a limit."""

import numpy as np
import pytest

import repsketch as rs
from repsketch.train import candidates, training_data
from repsketch.train.candidates import Thresholds
from repsketch.train.training_data import TrainingData


def test_of_many_columns_the_most_informative_are_used():
    X = np.random.default_rng(0).normal(size=(300, 40)).astype(np.float32)
    X[:, 20:] = np.round(X[:, 20:])  # columns of few values have fewer borders
    informative = [3, 17, 25, 39]
    y = (X[:, informative].sum(axis=1) > 0).astype(float)
    data = TrainingData.of(X, y[:, None], None, "classification")
    assert data.narrowed(4).columns.tolist() == informative
    assert data.narrowed(40) is data
    assert set(informative) <= set(data.narrowed(39).columns.tolist())


def test_the_choice_of_columns_reads_few_rows(monkeypatch):
    monkeypatch.setattr(training_data, "MIN_GAIN_ROWS", 50)
    rng, seen = np.random.default_rng(0), []
    X = rng.normal(size=(300, 40)).astype(np.float32)
    data = TrainingData.of(X, X[:, 5:6], None, "regression")
    real = TrainingData.thresholds
    monkeypatch.setattr(
        TrainingData, "thresholds", lambda self, inputs: seen.append(len(self.train_rows)) or real(self, inputs)
    )
    assert data.narrowed(1).columns.tolist() == data.narrowed(1, 1e-9).columns.tolist() == [5]
    assert data.narrowed(1, 2e-3).columns.tolist() == [5]
    assert seen == [240, 50, 100]
    monkeypatch.setattr(training_data, "MAX_GAIN_ROWS", 70)
    assert data.narrowed(1).columns.tolist() == data.narrowed(1, 2e-3).columns.tolist() == [5]
    assert seen[3:] == [70, 70]


def test_compress_narrows_at_256_columns(monkeypatch, brief_search):
    seen = {}

    def search(data, *args, **options):
        seen["data"] = data
        raise InterruptedError

    monkeypatch.setattr("repsketch.train.search.search", search)
    for n_columns, n_used in ((256, 256), (257, 256)):
        X = np.random.default_rng(0).normal(size=(60, n_columns)).astype(np.float32)
        with pytest.raises(InterruptedError):
            rs.compress(None, X, X[:, 5] > 0, budget=500, progress=False)
        assert seen["data"].n_columns == n_used
        assert seen["data"].columns is None or 5 in seen["data"].columns


@pytest.mark.parametrize(("max_categories", "n_coded"), [(3, 3), (4, 4), (5, 4)])
def test_of_many_categories_the_most_frequent_have_a_code(monkeypatch, max_categories, n_coded):
    monkeypatch.setattr(candidates, "MAX_CATEGORIES", max_categories)
    places = np.repeat([4, 0, 2, 6], [9, 7, 5, 3])  # of seven labels four occur
    values = (np.arange(7)[:, None] == places).astype(np.int32)
    codes = Thresholds.between(values, np.array([7]))
    assert codes.borders[0].tolist() == sorted([4, 0, 2, 6][:n_coded])
    for code, label in enumerate(codes.borders[0]):
        assert codes.bits(code).tolist() == (places == label).astype(int).tolist()


def test_the_limit_of_categories_fits_a_byte():
    assert candidates.MAX_CATEGORIES + 1 <= 255


@pytest.mark.parametrize("n_columns", [3, 4, 7])
def test_two_threads_count_as_one_does(monkeypatch, n_columns):
    rng = np.random.default_rng(0)
    values = rng.integers(-9, 9, (n_columns, 200))
    numbers = rng.normal(size=(200, 2)).astype(np.float32)
    numbers[:, 1] = np.abs(numbers[:, 1])
    buckets = rng.integers(0, 2, 200).astype(np.uint8)
    expected = Thresholds.between(values).gains(buckets, 2, numbers, 1.0)
    monkeypatch.setattr(candidates, "_WORTH_A_THREAD", 0)
    threaded = Thresholds.between(values)
    assert threaded.gains(buckets, 2, numbers, 1.0).tobytes() == expected.tobytes()
    assert "_thread" in vars(threaded), "the second thread was not started"
    assert expected.min() > 0
