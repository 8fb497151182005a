"""Peers of a sketch: models of at most so many bytes, every number in its stored size, all tuned by one rule.

Each module fits one kind with ``fit(problem, nbytes, seed=..., is_distilled=...)``, which gives a ``Budgeted`` or None.
"""

from typing import NamedTuple

from .boosted import Boosted
from .forest import Forest
from .fourier import Fourier
from .linear import Linear
from .model import Budgeted
from .network import Network
from .prototypes import Prototypes
from .pruned import Pruned
from .quick import fit_peers
from .tuning import Kind, tune_each

__all__ = ["PEERS", "Budgeted", "Peer", "fit_peers", "tune_each"]


class Peer(NamedTuple):
    """A method that sketches are compared with."""

    kind: type[Kind]
    is_distilled: bool


#: By name. Kinds that are there once learn from the teacher, as sketches do.
PEERS = {
    "boosted": Peer(Boosted, False),
    "boosted distilled": Peer(Boosted, True),
    "network": Peer(Network, False),
    "network distilled": Peer(Network, True),
    "pruned": Peer(Pruned, True),
    "prototypes": Peer(Prototypes, True),
    "fourier": Peer(Fourier, True),
    "linear": Peer(Linear, True),
    "forest": Peer(Forest, True),
}
