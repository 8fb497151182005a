"""Peers of a sketch: models of at most so many bytes, every number in its stored size, all tuned by one rule.

Each module fits one kind with ``fit(data, nbytes, seed=..., is_distilled=...)``, which gives a ``PeerModel`` or None.
"""

from typing import NamedTuple

from repsketch.compare.boosted import Boosted
from repsketch.compare.linear import Linear
from repsketch.compare.network import Network
from repsketch.compare.peer import PeerModel
from repsketch.compare.peers import fit_peers
from repsketch.compare.tuning import PeerMethod, tune_each

from .forest import Forest
from .fourier import Fourier
from .prototypes import Prototypes
from .pruned import Pruned

__all__ = ["PEERS", "Peer", "PeerModel", "fit_peers", "tune_each"]


class Peer(NamedTuple):
    """A method that sketches are compared with."""

    kind: type[PeerMethod]
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
