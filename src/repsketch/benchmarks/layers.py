"""Networks as plain layers: what an ONNX graph or a file needs of them, and nothing of how they were trained."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from ..errors import InputError
from ..files import write_atomically


def fold_network(network: nn.Sequential) -> nn.Sequential:
    """The same function in Linear and ReLU layers alone: affine maps at the ends join their neighbours.

    >>> from repsketch.baselines import train_mlp
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, size=(200, 3)).astype(np.float32)
    >>> network = train_mlp(X, X[:, 0], hidden=(8,), task="regression", n_epochs=1)
    >>> folded, x = fold_network(network), torch.from_numpy(X)
    >>> [type(layer).__name__ for layer in folded], torch.allclose(folded(x), network(x), atol=1e-4)
    (['Linear', 'ReLU', 'Linear'], True)
    """
    affine = [layer for layer in network if hasattr(layer, "shift")]
    first, last = ([layer.get_buffer(part).double().numpy() for part in ("scale", "shift")] for layer in affine)
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    weights = [layer.weight.detach().double().numpy() for layer in linear]
    biases = [layer.bias.detach().double().numpy() for layer in linear]
    biases[0] = biases[0] + weights[0] @ first[1]
    weights[0] = weights[0] * first[0]
    biases[-1] = biases[-1] * last[0] + last[1]
    weights[-1] = weights[-1] * last[0]
    return network_of(weights, biases)


def network_of(weights: list[np.ndarray], biases: list[np.ndarray]) -> nn.Sequential:
    """A network of these layers, weights (out, in) and biases (out,), with ReLU between them."""
    layers: list[nn.Module] = []
    for weight, bias in zip(weights, biases, strict=True):
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight))
            layer.bias.copy_(torch.from_numpy(bias))
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1]).eval()


def layers_of(network: nn.Sequential) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights (out, in) and bias (out,) of every layer, float32; refuses anything but Linear and ReLU in turn."""
    kinds = [type(layer) for layer in network]
    if kinds != [nn.Linear, nn.ReLU] * (len(kinds) // 2) + [nn.Linear]:
        named = [kind.__name__ for kind in kinds]
        raise InputError(f"the network has layers {named}; allowed are Linear and ReLU in turn, Linear last.")
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    return [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in linear]


def write_network(path: Path, network: nn.Sequential) -> None:
    """Keep the layers of ``network`` in an npz file."""
    arrays: dict[str, Any] = {}
    for i, (weight, bias) in enumerate(layers_of(network)):
        arrays |= {f"weight{i}": weight, f"bias{i}": bias}
    content = io.BytesIO()
    np.savez(content, **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content.getvalue())


def read_network(path: Path) -> nn.Sequential:
    """The network that ``write_network`` kept."""
    with np.load(path, allow_pickle=False) as archive:
        n_layers = len(archive.files) // 2
        weights, biases = ([archive[f"{part}{i}"] for i in range(n_layers)] for part in ("weight", "bias"))
    return network_of(weights, biases)
