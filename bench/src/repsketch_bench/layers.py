"""Networks of plain layers in files."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from repsketch.files import write_atomically

from .baselines.layers import fold_network, layers_of, network_of

__all__ = ["fold_network", "layers_of", "network_of", "read_network", "write_network"]


def write_network(path: Path, network: nn.Sequential) -> None:
    """Store the layers of ``network`` in an npz file."""
    arrays: dict[str, Any] = {}
    for i, (weight, bias) in enumerate(layers_of(network)):
        arrays |= {f"weight{i}": weight, f"bias{i}": bias}
    content = io.BytesIO()
    np.savez(content, **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content.getvalue())


def read_network(path: Path) -> nn.Sequential:
    """The network that ``write_network`` stored."""
    with np.load(path, allow_pickle=False) as archive:
        n_layers = len(archive.files) // 2
        weights, biases = ([archive[f"{name}{i}"] for i in range(n_layers)] for name in ("weight", "bias"))
    return network_of(weights, biases)
