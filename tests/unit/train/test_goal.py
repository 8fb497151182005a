"""What users ask to be optimised: what is refused, and what the search is given."""

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from repsketch.errors import InputError
from repsketch.train.goal import Goal

LABELS = np.array([[1.0], [0.0], [0.0], [0.0]])
NAMES = np.array(["no", "yes"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"loss": "huber"}, "loss='huber'; allowed are 'squared_error', 'absolute_error', 'quantile'"),
        ({"loss": "quantile"}, "needs the level"),
        ({"loss": "squared_error", "quantile": 0.5}, "no other loss has one"),
        ({"quantile": 0.5}, "no other loss has one"),
        ({"loss": "quantile", "quantile": 1.0}, "quantile=1.0; allowed is a number between 0 and 1"),
        ({"class_weight": "equal"}, "class_weight='equal'; allowed are 'balanced'"),
        ({"class_weight": 3}, "class_weight=3"),
        ({"metric": "roc_auk"}, "did you mean 'roc_auc'"),
        ({"metric": len}, "is no scorer of scikit-learn"),
    ],
)
def test_wrong_values(given, said):
    with pytest.raises(InputError, match=said):
        Goal(**given)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, 2.0], r"shape \(2,\); needed is one number for each of 4 rows"),
        (np.ones((4, 1)), r"shape \(4, 1\)"),
        ([1, 1, 1, -1], "negative"),
        ([1, 1, 1, np.nan], "NaN"),
        ([0, 0, 0, 0], "0 for all rows"),
        (["a", "b", "c", "d"], "no number"),
    ],
)
def test_wrong_weights(weights, said):
    with pytest.raises(InputError, match=said):
        Goal(sample_weight=weights).row_weights(4)


@pytest.mark.parametrize(
    ("task", "given", "said"),
    [
        ("classification", {"loss": "squared_error"}, "is for regressions"),
        ("regression", {"class_weight": "balanced"}, "class_weight is for classifications"),
        ("classification", {"class_weight": {"maybe": 1.0}}, r"names 'maybe'; allowed are the classes \['no', 'yes'\]"),
        ("classification", {"class_weight": {"no": -1.0}}, "class_weight=-1.0"),
        ("classification", {"class_weight": {"no": 0, "yes": 0}}, "0 for all classes"),
        ("classification", {"metric": "r2"}, "scores regressions"),
    ],
)
def test_what_does_not_fit_the_task(task, given, said):
    with pytest.raises(InputError, match=said):
        Goal(**given).options(task, LABELS, NAMES if task == "classification" else None)


def test_weights_of_classes_are_those_of_scikit_learn_with_mean_one():
    truth = NAMES[LABELS[:, 0].astype(int)]
    for class_weight in ("balanced", {"yes": 5.0}):
        expected = compute_sample_weight(class_weight, truth)
        found = Goal(class_weight=class_weight).options("classification", LABELS, NAMES)["weights"]
        np.testing.assert_allclose(found, expected / expected.mean())
    rows = np.array([2.0, 1.0, 1.0, 0.0])
    found = Goal(sample_weight=rows, class_weight={"yes": 5.0}).options("classification", LABELS, NAMES)["weights"]
    np.testing.assert_allclose(found, np.array([10.0, 1.0, 1.0, 0.0]) / 3.0)


def test_defaults():
    assert Goal().options("regression", LABELS, None) == {
        "loss": None, "level": 0.5, "metric": None, "weights": None, "score_weights": None,
    }  # fmt: skip


def test_soft_labels_follow_the_weights_of_classes():
    """Odds of 1 to 3 with a weight of 6 for the first class become 6 to 3; certainty stays."""
    goal = Goal(class_weight={"yes": 2.0, "no": 1.0})
    np.testing.assert_allclose(
        goal.reweighted(np.array([[0.25], [0.0], [1.0]]), LABELS, NAMES), [[0.4], [0.0], [1.0]], atol=1e-12
    )
    names, labels = np.array(["a", "b", "c"]), np.eye(3)
    found = Goal(class_weight={"a": 6.0}).reweighted(np.array([[0.25, 0.75, 0.0]]), labels, names)
    np.testing.assert_allclose(found, [[2 / 3, 1 / 3, 0.0]])
    soft = np.array([[0.3]])
    assert Goal().reweighted(soft, LABELS, NAMES) is soft
