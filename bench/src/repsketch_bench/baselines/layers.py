"""Networks as plain layers: Linear and ReLU in turn, from raw inputs to log-odds or values."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from repsketch.errors import InputError


def fold_network(network: nn.Sequential) -> nn.Sequential:
    """The same function in Linear and ReLU layers alone: affine maps at the ends join their neighbours.

    A network that is plain already is copied.

    >>> from repsketch_bench.baselines import train_mlp
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, size=(200, 3)).astype(np.float32)
    >>> network = train_mlp(X, X[:, 0], hidden=(8,), task="regression", n_epochs=1)
    >>> folded, x = fold_network(network), torch.from_numpy(X)
    >>> [type(layer).__name__ for layer in folded], torch.allclose(folded(x), network(x), atol=1e-4)
    (['Linear', 'ReLU', 'Linear'], True)
    """
    if not isinstance(network, nn.Sequential):
        raise InputError(f"the network is a {type(network).__name__}; allowed is torch.nn.Sequential, as of train_mlp.")
    affine = [layer for layer in network if hasattr(layer, "shift")]
    plain = nn.Sequential(*(layer for layer in network if layer not in affine and not isinstance(layer, nn.Dropout)))
    if not affine:
        return rescale_network(plain)
    first, last = ([layer.get_buffer(name).double().numpy() for name in ("scale", "shift")] for layer in affine)
    return rescale_network(plain, *first, *last)


def rescale_network(
    network: nn.Sequential,
    scale: np.ndarray | float = 1.0,
    shift: np.ndarray | float = 0.0,
    output_scale: np.ndarray | float = 1.0,
    output_shift: np.ndarray | float = 0.0,
) -> nn.Sequential:
    """The plain network x -> network(x * scale + shift) * output_scale + output_shift.

    Parameters
    ----------
    network : Linear and ReLU layers in turn
    scale, shift : (d,) or a number
    output_scale, output_shift : a number

    >>> doubled = rescale_network(network_of([np.ones((1, 1))], [np.zeros(1)]), scale=2.0, output_shift=1.0)
    >>> doubled(torch.tensor([[3.0]])).item()
    7.0
    """
    layers = layers_of(network)
    weights, biases = ([layer[i].astype(np.float64) for layer in layers] for i in (0, 1))
    biases[0] = biases[0] + weights[0] @ np.broadcast_to(shift, weights[0].shape[1])
    weights[0] = weights[0] * scale
    biases[-1] = biases[-1] * output_scale + output_shift
    weights[-1] = weights[-1] * output_scale
    return network_of(weights, biases)


def network_of(weights: list[np.ndarray], biases: list[np.ndarray]) -> nn.Sequential:
    """A network of these layers, weights (out, in) and biases (out,), with ReLU between them."""
    with torch.random.fork_rng():  # what is overwritten needs no draws of the caller's generator
        network = fresh_network([weights[0].shape[1], *(len(bias) for bias in biases)])
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    with torch.no_grad():
        for layer, weight, bias in zip(linear, weights, biases, strict=True):
            layer.weight.copy_(torch.from_numpy(weight))
            layer.bias.copy_(torch.from_numpy(bias))
    return network.eval()


def fresh_network(widths: Sequence[int]) -> nn.Sequential:
    """Linear and ReLU layers of these widths, inputs and outputs included, as torch initialises them.

    >>> [type(layer).__name__ for layer in fresh_network([3, 2, 1])]
    ['Linear', 'ReLU', 'Linear']
    """
    layers: list[nn.Module] = []
    for n_inputs, n_outputs in pairwise(widths):
        layers += [nn.Linear(n_inputs, n_outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def layers_of(network: nn.Sequential) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights (out, in) and bias (out,) of every layer, float32; refuses anything but Linear and ReLU in turn."""
    kinds = [type(layer) for layer in network]
    if kinds != [nn.Linear, nn.ReLU] * (len(kinds) // 2) + [nn.Linear]:
        named = [kind.__name__ for kind in kinds]
        raise InputError(f"the network has layers {named}; allowed are Linear and ReLU in turn, Linear last.")
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    return [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in linear]
