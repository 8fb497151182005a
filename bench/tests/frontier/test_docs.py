"""What docs/frontier.md says in words is what the code does."""

from pathlib import Path

import pytest

from repsketch.compare import tuning
from repsketch.train import stage_sizes, training_data
from repsketch.train.stage_recipes import VALUES
from repsketch_bench.baselines import boosted as lightgbm
from repsketch_bench.frontier import data, settings
from repsketch_bench.peers import forest, fourier, networks, prototypes

TEXT = (Path(__file__).parents[3] / "docs/frontier.md").read_text()
WORDS = {15: "fifteen", 3: "the best three"}


@pytest.mark.parametrize(
    "said",
    [
        f"measures it on {WORDS[sum(not dataset.is_set_aside for dataset in data.DATASETS.values())]} datasets",
        f"At most {data.MOST_ROWS:,} training rows",
        f"({training_data.MAX_VALIDATION_ROWS:,} at most) are validation rows",
        f"tries {tuning.N_SCREENED} settings on {tuning.SCREENING_ROWS:,} rows and {WORDS[tuning.N_FINAL]} again",
        f"{stage_sizes.MAX_WIDTH:,} units, {fourier.MOST_FEATURES:,} cosines, {prototypes.MOST_POINTS} prototypes, "
        f"{forest.MOST_TREES} trees of a forest, {lightgbm.MAX_TREES:,} rounds of boosting",
        f"Up to {tuning.MAX_RETRAINED_ROWS:,} rows the selected model is trained on training and validation",
        f"hidden layers of at most {stage_sizes.MAX_WIDTH:,} units",
        f"depths (1 to {max(VALUES['n_hidden'])} hidden layers)",
        f"learning rates ({min(VALUES['learning_rate'])} to {max(VALUES['learning_rate'])})",
        f"weight decays ({min(VALUES['weight_decay']):.0f} to {max(VALUES['weight_decay']):.0f})",
        f"with {100 * networks.MIN_SPARSITY:.0f} to {100 * max(VALUES['sparsity']):.0f} % of the weights",
        f"from a seed of {fourier.SEED_NBYTES} bytes; at most {fourier.MOST_FEATURES:,} of them",
    ],
)
def test_numbers_in_words(said):
    assert said in " ".join(TEXT.split())


def test_every_method_is_described():
    lines = [line.split("|")[1].strip() for line in TEXT.splitlines() if line.startswith("| ") and " | " in line]
    for method in settings.METHODS:
        assert any(line.startswith(method.removesuffix(" distilled")) for line in lines), method
