"""scikit-learn's own checks on both estimators: every one must pass, none is expected to fail."""

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from repsketch import SketchClassifier, SketchRegressor

#: The first fit that is found is taken, which is soon; a small one, which is sooner.
HURRIED = {"time_limit": 1e-3, "budget": "512B"}


@pytest.mark.slow
@parametrize_with_checks([SketchClassifier(), SketchRegressor()])
def test_scikit_learn_contract_as_shipped(estimator, check, capfd):
    """With default settings; neither we nor a library prints anything, also not from C."""
    check(estimator)
    assert capfd.readouterr() == ("", "")


@parametrize_with_checks([SketchClassifier(**HURRIED), SketchRegressor(**HURRIED)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
