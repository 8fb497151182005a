"""scikit-learn's own checks on both estimators: every one must pass, none is expected to fail."""

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from repsketch import SketchClassifier, SketchRegressor


@parametrize_with_checks([SketchClassifier(), SketchRegressor()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
