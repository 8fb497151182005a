"""Gradient descent for all networks here: AdamW, one cycle of the learning rate, the best epoch on validation rows."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from repsketch.progress import track

#: Outputs (b, C) of some rows and the places (b,) of these rows -> their mean loss.
Loss = Callable[[Tensor, Tensor], Tensor]


def train_epochs(
    network: nn.Module,
    data: Tensor,
    loss_of: Loss,
    train: Tensor,
    validation: Tensor,
    generator: torch.Generator,
    *,
    n_epochs: int,
    batch_size: int,
    learning_rate: float,
    weight_decay: float,
    validation_loss_of: Loss | None = None,
    may_stay: bool = False,
    title: str = "training",
    progress: bool = True,
) -> None:
    """Train ``network`` in place and leave it, in evaluation mode, as after the epoch of the best validation loss.

    Parameters
    ----------
    data : (n, d) inputs
    train, validation : places of the rows to train on and to choose the epoch on
    validation_loss_of : the loss on validation rows, where it is not ``loss_of``
    may_stay : whether the network as it came counts as an epoch too

    >>> line, x = nn.Sequential(nn.Linear(1, 1)), torch.linspace(-1.0, 1.0, 64)[:, None]
    >>> loss, rows = lambda outputs, places: (outputs - 3.0 * x[places]).abs().mean(), torch.arange(64)
    >>> options = {"n_epochs": 99, "batch_size": 16, "learning_rate": 0.1, "weight_decay": 0.0}
    >>> train_epochs(line, x, loss, rows, rows, torch.Generator().manual_seed(0), **options)
    >>> abs(line[0].weight.item() - 3.0) < 0.1
    True
    """
    validation_loss_of = validation_loss_of or loss_of
    optimizer = torch.optim.AdamW(network.parameters(), learning_rate, weight_decay=weight_decay, fused=True)
    total_steps = n_epochs * -(-len(train) // batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, learning_rate, total_steps=total_steps)

    def validation_loss() -> float:
        network.eval()
        with torch.no_grad():
            return float(validation_loss_of(network(data[validation]), validation))

    best, best_loss = network.state_dict(), float("inf")
    if may_stay:
        best, best_loss = _copy_state(network), validation_loss()
    for _ in track(range(n_epochs), title, n_epochs, enabled=progress):
        network.train()
        shuffled = train[torch.randperm(len(train), generator=generator)]
        for batch in shuffled.split(batch_size):
            loss = loss_of(network(data[batch]), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        loss_now = validation_loss()
        if loss_now < best_loss:
            best, best_loss = _copy_state(network), loss_now
    network.load_state_dict(best)
    network.eval()


def _copy_state(network: nn.Module) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in network.state_dict().items()}
