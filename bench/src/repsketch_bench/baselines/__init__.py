"""Models that sketches are compared with or made from, properly trained.

Every method hands back a ``Compared``: a function of raw inputs and what it costs.
"""

from .boosted import fit_boosted
from .compared import Compared
from .distilled import distil_network
from .fourier import fit_fourier
from .linear import fit_linear
from .mlp import train_mlp
from .nystroem import fit_nystroem
from .pruning import prune_gradually, prune_once
from .quantized import quantize_network

__all__ = [
    "Compared",
    "distil_network",
    "fit_boosted",
    "fit_fourier",
    "fit_linear",
    "fit_nystroem",
    "prune_gradually",
    "prune_once",
    "quantize_network",
    "train_mlp",
]
