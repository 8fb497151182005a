"""scikit-learn's own checks on both estimators: every one must pass, none is expected to fail."""

from dataclasses import replace

import pytest

pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from repsketch import SketchClassifier, SketchRegressor
from repsketch.train.effort import EFFORTS

#: The first fit that is found is taken, which is soon; a small one, which is sooner.
HURRIED = {"time_limit": 1e-3, "budget": "512B"}


@pytest.mark.slow
@parametrize_with_checks([SketchClassifier(), SketchRegressor()])
def test_scikit_learn_contract_as_shipped(estimator, check, brief_effort, monkeypatch):
    """Parameters as shipped; the search behind them is in full where a check asks for accuracy, and brief elsewhere."""
    asks_for_accuracy = check.func.__name__.endswith("_train") and not check.keywords
    if not asks_for_accuracy:
        few_rows = brief_effort.with_fits(lambda fit: replace(fit, max_rows=60, refits=fit.refits[:1]))
        monkeypatch.setitem(EFFORTS, "normal", few_rows)
    check(estimator)


@parametrize_with_checks([SketchClassifier(**HURRIED), SketchRegressor(**HURRIED)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
