"""Data and teachers of the speed benchmark."""

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch_bench import datasets, teachers
from repsketch_bench.layers import layers_of


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.delenv("REPSKETCH_DATA", raising=False)
    monkeypatch.setattr(datasets, "SYNTHETIC_ROWS", 500)
    monkeypatch.setattr(teachers, "TRAINING", {name: {"n_epochs": 3} for name in datasets.PAPER_SIZES})


def test_without_data_the_case_is_synthetic_and_the_teacher_stored(tmp_path, monkeypatch):
    case = teachers.load_case("abalone", tmp_path / "cache", progress=False)
    assert case.is_synthetic
    assert [weight.shape for weight, _ in layers_of(case.teacher)] == [(256, 8), (128, 256), (1, 128)]
    assert (len(case.X_train), len(case.X_valid), len(case.X_test)) == (320, 80, 100)
    assert case.X_train.dtype == np.float32
    assert case.queries(150).flags.c_contiguous
    np.testing.assert_array_equal(case.queries(60), case.X_test[:60])
    np.testing.assert_array_equal(case.queries(150)[100:], case.X_valid[:50])
    assert len(case.queries(10**6)) == 500
    monkeypatch.setattr(teachers, "train_mlp", None)
    again = teachers.load_case("abalone", tmp_path / "cache", progress=False)
    for (weight, bias), (stored_weight, stored_bias) in zip(
        layers_of(case.teacher), layers_of(again.teacher), strict=True
    ):
        np.testing.assert_array_equal(weight, stored_weight)
        np.testing.assert_array_equal(bias, stored_bias)


def test_other_data_or_seed_give_another_teacher(tmp_path):
    for name, seed in (("skin", 0), ("skin", 1), ("abalone", 0)):
        teachers.load_case(name, tmp_path, seed=seed, progress=False)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("name", datasets.PAPER_SIZES)
def test_synthetic_shapes(name):
    split, sizes = datasets.synthetic_split(name, 0), datasets.paper_sizes(name)
    assert split.X_train.shape[1] == split.X_test.shape[1] == sizes.n_features
    assert split.task == sizes.task
    if sizes.task == "classification":
        assert set(split.y_test) == {0, 1}


def test_real_data_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"skin_nonskin\.npz not found"):
        teachers.load_case("skin", tmp_path, progress=False)
    with pytest.raises(InputError, match="allowed are"):
        teachers.load_case("iris", tmp_path, progress=False)


def test_splits_of_files(tmp_path, monkeypatch):
    monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path))
    X = np.arange(30, dtype=np.uint8).reshape(10, 3)
    np.savez(tmp_path / "skin_nonskin.npz", X=X, y=np.tile([1, 2], 5).astype(np.uint8))
    split = datasets.load_split("skin", 0)
    assert sorted([*split.X_train[:, 0], *split.X_test[:, 0]]) == list(X[:, 0])
    assert len(split.X_test) == 2
    np.testing.assert_array_equal(split.y_train, (split.X_train[:, 0] // 3) % 2 == 0)  # 1 is skin: class 1
    origin = np.array([0, 1, 2, 0, 1, 0, 0, 0, 0, 0])
    np.savez(tmp_path / "yearpredictionmsd_sample.npz", X=X, y=np.arange(10), origin=origin)
    split = datasets.load_split("yearmsd", 0)
    assert (split.task, list(split.y_test)) == ("regression", [1.0, 4.0])


@pytest.mark.parametrize(
    ("task", "close", "far"),
    [("classification", [0.9, 0.99, 0.899], [0.897, 0.5]), ("regression", [1.0, 1.009], [1.02])],
)
def test_what_is_close(case, task, close, far):
    teacher_score = 0.9 if task == "classification" else 1.0
    known = teachers.Case("", task, case.teacher, *[case.X_test, case.y_test] * 3)
    vars(known)["teacher_score"] = teacher_score
    assert all(known.is_close(score) for score in close)
    assert not any(known.is_close(score) for score in far)
