import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch_bench.baselines import fit_boosted, fit_linear

pytest.importorskip("lightgbm")


@pytest.mark.parametrize("nbytes", [5, 9, 12, 13, 100, 1000])
def test_stays_within_its_bytes(X, y, task, nbytes):
    model = fit_boosted(X, y, nbytes, task=task, progress=False)
    n_trees = model.settings["n_trees"]
    assert 5 <= model.nbytes <= nbytes
    # 4 n - 3 bytes and 3 n - 2 numbers for a tree of n leaves: both say how many leaves there are.
    assert (model.nbytes + 3 * n_trees) % 4 == 0
    n_leaves = (model.nbytes + 3 * n_trees) // 4
    assert model.n_numbers == 3 * n_leaves - 2 * n_trees
    assert n_leaves <= n_trees * model.settings["n_leaves"]
    assert 2 * n_trees <= model.flops <= n_trees * model.settings["n_leaves"]


def test_what_predicts_is_what_was_counted(X, values):
    """A model of one tree of two leaves gives two values."""
    assert len(np.unique(fit_boosted(X, values, 5, task="regression").predict(X))) == 2


def test_better_than_a_line_and_more_bytes_are_better(X, values):
    half = X[:450], values[:450]
    models = [fit_linear(*half, task="regression"), *(fit_boosted(*half, n, task="regression") for n in (40, 2000))]
    line, small, large = (np.abs(model.predict(X[450:]) - values[450:]).mean() for model in models)
    assert large < 0.7 * line
    assert large < 0.7 * small


def test_log_odds(X, labels):
    outputs = fit_boosted(X, labels, 1000, task="classification").predict(X)
    assert ((outputs > 0) == labels).mean() > 0.9
    assert outputs.min() < -1.5  # no probabilities


def test_deterministic(X, y, task):
    runs = [fit_boosted(X, y, 300, task=task, random_state=1).predict(X) for _ in range(2)]
    assert runs[0].tobytes() == runs[1].tobytes()


def test_refuses(X, values):
    with pytest.raises(InputError, match="nbytes=4; allowed is an integer from 5"):
        fit_boosted(X, values, 4, task="regression")
    with pytest.raises(InputError, match="allowed are the classes 0 and 1"):
        fit_boosted(X, values, 100, task="classification")
