"""Peers of a sketch: models of at most so many bytes, every number in its stored size.

Networks are found by the search that finds sketches. All others are tuned by one rule, ``compare.tuning``: each module
has a kind of ``PeerMethod`` and ``fit(data, nbytes, seed=..., is_distilled=...)``, a ``PeerModel`` or None.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from repsketch.compare.boosted import Boosted
from repsketch.compare.linear import Linear
from repsketch.compare.peer import PeerModel
from repsketch.compare.peers import fit_peers
from repsketch.compare.tuning import PeerMethod, tune_each, tuned
from repsketch.train.training_data import TrainingData

from .forest import Forest
from .fourier import Fourier
from .networks import Networks
from .prototypes import Prototypes

__all__ = ["PEERS", "Peer", "PeerModel", "TunedPeer", "fit_peers", "tune_each"]


@dataclass(frozen=True)
class TunedPeer:
    """A kind of model whose settings are tuned; ``is_distilled``: with the teacher's soft labels."""

    kind: type[PeerMethod]
    is_distilled: bool

    def models(
        self, data: TrainingData, budgets: Iterable[int], *, seed: int = 0, is_quick: bool = False
    ) -> Iterator[tuple[int, PeerModel | None]]:
        """Budgets in rising order, each with its best model; one that is better than a larger one is used again."""
        return tuned(self.kind, data, budgets, seed=seed, is_distilled=self.is_distilled, is_quick=is_quick)


Peer = TunedPeer | Networks
#: Methods that sketches are compared with, by name. Kinds that are there once learn from the teacher, as sketches do.
PEERS: dict[str, Peer] = {
    "boosted": TunedPeer(Boosted, False),
    "boosted distilled": TunedPeer(Boosted, True),
    "network": Networks(True),
    "pruned": Networks(True, is_pruned=True),
    "prototypes": TunedPeer(Prototypes, True),
    "fourier": TunedPeer(Fourier, True),
    "linear": TunedPeer(Linear, True),
    "forest": TunedPeer(Forest, True),
}
