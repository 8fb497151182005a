"""What a recipe is called beside a progress bar and in the log."""

from dataclasses import replace

import pytest

from repsketch.train.recipes import Recipe

GREEDY = Recipe("thresholds", 0.5)
INTERPOLATED = Recipe("interpolated", 0.5, shrinkage=0.1, n_components=8)


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        (GREEDY, "greedy rows over thresholds (4 per row, learning rate 0.3, int4)"),
        (
            replace(GREEDY, family="fine thresholds", shrinkage=0.05, counter_type="int8"),
            "greedy rows over fine thresholds (4 per row, learning rate 0.05, int8)",
        ),
        (
            replace(GREEDY, family="bits", n_concat=1),
            "greedy rows over random bits (1 per row, learning rate 0.3, int4)",
        ),
        (INTERPOLATED, "interpolated rows over 8 components (8 levels, learning rate 0.02)"),
        (
            replace(INTERPOLATED, n_components=1, projection_type="ternary"),
            "interpolated rows over 1 ternary component (8 levels, learning rate 0.02)",
        ),
        (
            replace(INTERPOLATED, n_stacked=2, learning_rate=0.01),
            "interpolated rows over 8 components, then greedy rows (8 levels, learning rate 0.01)",
        ),
    ],
)
def test_words_of_the_field(recipe, words):
    assert str(recipe) == words
