"""Pruned networks: the paper's one-time and multi-time pruning, with PyTorch's own global L1 pruning.

Takes a trained teacher, hands on networks with a share of its weights. Magnitudes are compared, and weights tuned
again, in the units the teacher was trained in: standardised inputs and outputs. Both scales are folded into the
layers afterwards, so that they cost nothing. Biases are not pruned, as in the paper; but those of units that no weight
reaches or leaves are dropped, for the function is the same without them. Nothing keeps a layer from losing all its
weights: a network pruned at once to very few may predict a constant.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils import prune

from repsketch.checks import check_count, check_number
from repsketch.data.arrays import check_width
from repsketch.errors import InputError
from repsketch.paper.initialize import InputScale

from .compared import Compared
from .layers import fold_network, layers_of, network_of, rescale_network
from .losses import label_loss, output_units
from .networks import check_one_output, compare_network
from .rows import Rows
from .training import train_epochs

LEARNING_RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)


def prune_once(network: nn.Sequential, X: Any, y: Any, keep: float, **options: Any) -> Compared:
    """The network with the share ``keep`` of its weights, pruned at once and tuned again.

    Options are those of ``prune_gradually``, which says more.

    >>> from repsketch_bench.baselines import train_mlp
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> teacher = train_mlp(X, X[:, 0], hidden=(8,), task="regression", n_epochs=1)
    >>> prune_once(teacher, X, X[:, 0], 0.25, task="regression", n_epochs=1).flops
    8
    """
    (pruned,) = _prune(network, X, y, [keep], "pruned once", **options)
    return pruned


def prune_gradually(network: nn.Sequential, X: Any, y: Any, keeps: Sequence[float], **options: Any) -> list[Compared]:
    """A network for each share in ``keeps``: pruned a little, tuned again, pruned further from there.

    Parameters
    ----------
    network : of ``train_mlp``, or Linear and ReLU layers in turn; it stays as it is
    X : (n, d) inputs
    y : (n,) classes 0 and 1, or values
    keeps : shares of the weights that stay, falling, above 0 and at most 1; at least one weight stays
    task : "classification" or "regression"; the latter minimises the absolute error
    validation : (m, d) inputs and (m,) classes or values; without it a fifth of the rows
    n_epochs : of tuning, after each pruning
    learning_rates : tried one after the other; each share takes its best on the validation rows

    >>> from repsketch_bench.baselines import train_mlp
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> teacher = train_mlp(X, X[:, 0], hidden=(8,), task="regression", n_epochs=1)
    >>> pruned = prune_gradually(teacher, X, X[:, 0], (0.5, 0.25), task="regression", n_epochs=1)
    >>> [model.flops for model in pruned]
    [16, 8]
    """
    return _prune(network, X, y, keeps, "pruned gradually", **options)


def _prune(
    network: nn.Sequential,
    X: Any,
    y: Any,
    keeps: Sequence[float],
    name: str,
    *,
    task: str,
    validation: tuple[Any, Any] | None = None,
    n_epochs: int = 10,
    batch_size: int = 256,
    learning_rates: Sequence[float] = LEARNING_RATES,
    random_state: int = 0,
    progress: bool = True,
) -> list[Compared]:
    keeps = [check_number("each of keeps", keep, 0.0, 1.0) for keep in keeps]
    if not keeps or 0.0 in keeps or keeps != sorted(keeps, reverse=True):
        raise InputError(f"keeps={keeps}; allowed are falling numbers above 0 and at most 1.")
    rates = [check_number("each of learning_rates", rate, 0.0, open_ends=True) for rate in learning_rates]
    if not rates:
        raise InputError(f"learning_rates={learning_rates!r}; allowed are finite numbers above 0, at least one.")
    check_count("n_epochs", n_epochs, 1_000_000)
    check_count("batch_size", batch_size, 1 << 30)
    rows = Rows.split(X, y, task, validation, random_state)
    plain = check_one_output(fold_network(network))
    check_width(rows.X_train, layers_of(plain)[0][0].shape[1])
    scale, (middle, deviation) = InputScale.fit(rows.X_train), output_units(rows)
    data = torch.from_numpy(scale.apply(np.concatenate([rows.X_train, rows.X_valid])))
    train, valid = torch.arange(len(rows.X_train)), torch.arange(len(rows.X_train), len(data))
    tried: list[list[Compared]] = [[] for _ in keeps]
    for rate in rates:
        tuned = rescale_network(plain, scale.scale, scale.mean, 1.0 / deviation, -middle / deviation)
        generator = torch.Generator().manual_seed(random_state)
        for keep, found in zip(keeps, tried, strict=True):
            _prune_weights(tuned, keep)
            with _joined_units(tuned) as joined:
                train_epochs(
                    joined,
                    data,
                    label_loss(rows),
                    train,
                    valid,
                    generator,
                    n_epochs=n_epochs,
                    batch_size=batch_size,
                    learning_rate=rate,
                    weight_decay=0.0,
                    may_stay=True,
                    title=f"{name}, {keep:.3g} of the weights",
                    progress=progress,
                )
            raw = rescale_network(tuned, 1.0 / scale.scale, -scale.mean / scale.scale, deviation, middle)
            settings = {"keep": keep, "learning_rate": rate}
            found.append(compare_network(name, _without_idle_biases(raw), settings))
    return [rows.best(found) for found in tried]


def _prune_weights(network: nn.Sequential, keep: float) -> None:
    """Put zeros for all but the largest weights of all layers together; zeros of an earlier pruning go first."""
    weights = _weights_of(network)
    n_weights = sum(weight.size for weight, _ in layers_of(network))
    n_nonzeros = max(1, round(keep * n_weights))
    prune.global_unstructured(weights, pruning_method=prune.L1Unstructured, amount=n_weights - n_nonzeros)
    for layer, name in weights:
        prune.remove(layer, name)


@contextmanager
def _joined_units(network: nn.Sequential) -> Iterator[nn.Sequential]:
    """The units of a pruned network that its output depends on, with fixed zeros; on leaving they are copied back.

    No gradient reaches units that nothing leaves. Tuning without them gives the same network, and most of a network
    pruned to a hundredth is such units.
    """
    layers = layers_of(network)
    is_joined = [np.ones(layers[-1][0].shape[0], bool)]
    for weight, _ in reversed(layers[1:]):
        leaves = weight[is_joined[0]].any(axis=0)
        is_joined.insert(0, leaves if leaves.any() else np.arange(len(leaves)) == 0)
    is_joined.insert(0, np.ones(layers[0][0].shape[1], bool))
    places = [(np.ix_(ends, starts), ends) for starts, ends in pairwise(is_joined)]
    joined = network_of(
        [weight[place] for (weight, _), (place, _) in zip(layers, places, strict=True)],
        [bias[place] for (_, bias), (_, place) in zip(layers, places, strict=True)],
    )
    weights = _weights_of(joined)
    for layer, name in weights:
        prune.custom_from_mask(layer, name, layer.get_parameter(name).detach() != 0)
    yield joined
    for layer, name in weights:
        prune.remove(layer, name)
    for (weight, bias), (new_weight, new_bias), (place, units) in zip(layers, layers_of(joined), places, strict=True):
        weight[place], bias[units] = new_weight, new_bias  # views of the network's own numbers


def _weights_of(network: nn.Sequential) -> list[tuple[nn.Module, str]]:
    return [(layer, "weight") for layer in network if isinstance(layer, nn.Linear)]


def _without_idle_biases(network: nn.Sequential) -> nn.Sequential:
    """The same function without biases of units that nothing leaves; those that nothing reaches join the next ones."""
    layers = layers_of(network)
    weights, biases = ([layer[i].astype(np.float64) for layer in layers] for i in (0, 1))
    for i in range(len(layers) - 1):
        is_constant = ~weights[i].any(axis=1)
        biases[i + 1] += weights[i + 1][:, is_constant] @ np.maximum(biases[i][is_constant], 0.0)
        biases[i][is_constant | ~weights[i + 1].any(axis=0)] = 0.0
    return network_of(weights, biases)
