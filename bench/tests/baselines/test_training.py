import pytest
import torch
from torch import nn

from repsketch_bench.baselines.training import train_epochs

OPTIONS = {"n_epochs": 6, "batch_size": 8, "learning_rate": 0.1, "weight_decay": 0.0, "progress": False}


@pytest.fixture
def line():
    network = nn.Sequential(nn.Linear(1, 1))
    nn.init.zeros_(network[0].weight)
    nn.init.zeros_(network[0].bias)
    return network


def train(line, validation_loss_of, **options):
    """Train towards 3 x on 32 rows, and hold 8 rows back."""
    x = torch.linspace(-1.0, 1.0, 40)[:, None]
    train_epochs(
        line,
        x,
        lambda outputs, places: (outputs - 3.0 * x[places]).abs().mean(),
        torch.arange(32),
        torch.arange(32, 40),
        torch.Generator().manual_seed(0),
        validation_loss_of=validation_loss_of,
        **{**OPTIONS, **options},
    )


def test_the_best_epoch_is_restored_not_the_last(line):
    weights, losses = [], [5.0, 2.0, 4.0, 1.0, 3.0, 6.0]

    def validation_loss_of(outputs, places):
        assert places.tolist() == list(range(32, 40))
        assert not line.training
        weights.append(line[0].weight.item())
        return torch.tensor(losses[len(weights) - 1])

    train(line, validation_loss_of)
    assert len(set(weights)) == 6
    assert line[0].weight.item() == weights[3]
    assert not line.training


@pytest.mark.parametrize("may_stay", [False, True])
def test_a_network_that_only_gets_worse_stays_if_it_may(line, may_stay):
    train(line, lambda outputs, places: outputs.abs().mean(), may_stay=may_stay)
    assert (line[0].weight.item() == 0.0) == may_stay
