"""CatBoost models with categorical columns as teachers, from a data frame to a sketch."""

import logging

import numpy as np
import pandas
import pytest

import repsketch as rs
from repsketch.teacher import as_teacher
from support.outputs import by_sevens, log_odds

catboost = pytest.importorskip("catboost")
N_ROWS = 160


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pandas.DataFrame({"colour": rng.choice(["red", "blue"], N_ROWS), "size": rng.normal(size=N_ROWS)})


@pytest.fixture(scope="module")
def labels(frame):
    return np.where((frame["colour"] == "red") ^ (frame["size"] > 0), "yes", "no")


def classifier(**options):
    return catboost.CatBoostClassifier(iterations=8, thread_count=1, allow_writing_files=False, **options)


def test_probabilities_of_a_frame_with_categories(frame, labels):
    model = classifier(cat_features=["colour"], verbose=False).fit(frame, labels)
    outputs = by_sevens(model).label(frame)
    np.testing.assert_array_equal(outputs.classes, ["no", "yes"])
    np.testing.assert_allclose(outputs.values, log_odds(model.predict_proba(frame))[:, 1:], atol=1e-9)


def test_values(frame):
    model = catboost.CatBoostRegressor(iterations=8, cat_features=["colour"], allow_writing_files=False, verbose=False)
    outputs = as_teacher(model.fit(frame, frame["size"])).label(frame)
    assert outputs.task == "regression"
    np.testing.assert_array_equal(outputs.values[:, 0], model.predict(frame))


@pytest.mark.parametrize("place", ["constructor", "fit"])
def test_compress(frame, labels, place, caplog, capfd):
    """scikit-learn's ``clone`` refuses cat_features of the constructor; a copy knows nothing of those of ``fit``."""
    caplog.set_level(logging.INFO, "repsketch")
    if place == "constructor":
        model = classifier(cat_features=["colour"]).fit(frame, labels)
    else:
        model = classifier().fit(frame, labels, cat_features=["colour"])
    capfd.readouterr()
    sketch = rs.compress(model, frame, labels, budget="256B", time_limit=0.5, random_state=0, progress=False)
    assert np.mean(sketch.predict(frame) == labels) > 0.8
    assert capfd.readouterr() == ("", "")  # CatBoost prints a line for each tree unless verbose=False
    said = [record.getMessage() for record in caplog.records if record.name == "repsketch.teacher.out_of_fold"]
    if place == "constructor":
        assert said == ["out-of-fold outputs of CatBoostClassifier: used, from 4 copies"]
    else:
        assert len(said) == 1
        assert said[0].startswith("out-of-fold outputs of CatBoostClassifier: not used, because a copy cannot be")
        assert "CatBoostError" in said[0]
