"""Masked arrays given to ``compress``, to teachers and to the estimators: what is masked is missing for all of them."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from repsketch import compress
from repsketch.errors import InputError
from repsketch.estimators import SketchClassifier, SketchRegressor
from repsketch.teacher import as_teacher

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(200, 3))
MASKED = np.ma.array(NUMBERS, mask=RNG.random(NUMBERS.shape) < 0.2)
MISSING = np.where(MASKED.mask, np.nan, NUMBERS)
Y = NUMBERS[:, 0]
QUICK = {"budget": "256B", "random_state": 0, "progress": False}


def test_compress_reads_missing_values(brief_search):
    masked, missing = (compress(None, X, Y, task="regression", **QUICK) for X in (MASKED, MISSING))
    np.testing.assert_array_equal(masked.predict(MASKED), missing.predict(MISSING))
    assert not np.array_equal(missing.predict(MISSING), missing.predict(NUMBERS))


def test_the_teacher_sees_missing_values():
    teacher = as_teacher(HistGradientBoostingRegressor(max_iter=5).fit(NUMBERS, Y))
    np.testing.assert_array_equal(teacher.label(MASKED).values, teacher.label(MISSING).values)
    assert not np.array_equal(teacher.label(MASKED).values, teacher.label(NUMBERS).values)


def test_estimators_read_missing_values(monkeypatch):
    given = []

    def keep(teacher, X, *_, **__):
        given.append(X)
        return Copied()

    class Copied:
        def outputs(self, X):
            given.append(X)
            return np.zeros((len(X), 1))

    monkeypatch.setattr("repsketch.estimators.compress", keep)
    SketchRegressor(lambda X: X[:, 0], **QUICK).fit(MASKED, Y).predict(MASKED)
    fitted, predicted = given
    np.testing.assert_array_equal(predicted, MISSING)
    assert sorted(map(bytes, fitted)) == sorted(map(bytes, MISSING))  # in another order


@pytest.mark.parametrize("y", [Y, (Y > 0).astype(int), np.where(Y > 0, "a", "b")], ids=["values", "classes", "text"])
def test_a_masked_target_is_refused(y):
    masked = np.ma.array(y, mask=np.arange(200) == 17)
    kind = SketchRegressor if y is Y else SketchClassifier
    for call in (lambda: compress(None, NUMBERS, masked, **QUICK), lambda: kind(**QUICK).fit(NUMBERS, masked)):
        with pytest.raises(InputError, match="y holds a masked entry at row 17"):
            call()
