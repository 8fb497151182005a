"""The choice among recipes: the best of every kind, those close to the best, the smallest of those as good."""

from types import SimpleNamespace

import numpy as np

from repsketch.train.choice import DEEP_CONCAT, best_of_race, smallest_of_the_best, varied
from repsketch.train.recipes import GreedyRecipe
from repsketch.train.stage_recipes import StageRecipe
from repsketch.train.training_data import TrainingData
from repsketch.train.trials import Trial

COIN = np.tile([[0.0], [1.0]], (200, 1))
DATA = TrainingData.of(np.zeros((400, 1), np.float32), COIN, None, "classification", seed=1)


def test_the_best_of_every_kind_goes_on():
    kinds = [StageRecipe(0.0, n, size=size) for n, size in ((1, 1.0), (1, 0.5), (1, 0.25), (0, 1.0), (2, 1.0))]
    assert varied(kinds, 4) == kinds[:4]  # half of them the first of a kind, here the first and the fourth
    assert varied(kinds, 3) == [kinds[0], kinds[1], kinds[3]]
    assert varied(kinds, 1) == kinds[:1]
    assert varied(kinds, 2) == kinds[:2]
    assert varied([], 3) == []


def test_the_smallest_of_those_that_are_as_good():
    """Some are within half a standard error of the best; the smallest is too far behind. A few bytes do not count."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400)
    noise = (noise - noise.mean()) / noise.std() / 20  # half a standard error of the mean is 0.00125

    def trial(nbytes: int, behind: float) -> tuple[GreedyRecipe, Trial]:
        losses = np.full(400, 0.3) if not behind else 0.3 + behind + noise
        return GreedyRecipe("thresholds", nbytes / 1e4), Trial(str(nbytes), losses, SimpleNamespace(nbytes=nbytes))

    found = [trial(900, 0.0), trial(700, 0.0005), trial(500, 0.0012), trial(100, 0.0013)]
    assert smallest_of_the_best(found)[1].name == "500"
    assert smallest_of_the_best(found[:1])[1].name == "900"
    assert smallest_of_the_best([*found[:2], trial(540, 0.001), *found[2:]])[1].name == "540"


def test_a_race_leaves_those_close_to_the_best():
    """What a constant explains is 0.69 of the loss: 0.03 of that is close."""
    losses = {"thresholds": (0.20, 0.21), "fine thresholds": (0.30, 0.19)}
    raced = [
        (GreedyRecipe(family, mixture), Trial(family, np.full(3, loss), None))
        for family, both in losses.items()
        for mixture, loss in zip((0.5, 0.0), both, strict=True)
    ]
    raced.sort(key=lambda pair: pair[1].loss)
    found = {(recipe.family, recipe.mixture) for recipe in best_of_race(raced, DATA, 2048)}
    assert found == {("fine thresholds", 0.0), ("thresholds", 0.5)}
    deeper = best_of_race(raced, DATA, 4096)
    assert [recipe.n_concat for recipe in deeper] == [4] * 2 + [DEEP_CONCAT] * 2
