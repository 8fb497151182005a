"""Every peer that can run here, for one teacher and its data; what cannot is named with its reason.

Takes a ``Case``, hands on peers ready for ``timing.measure``. A missing library or compiler, or a library
that fails on this model, leaves its own peers out and nothing else.
"""

from collections.abc import Callable, Mapping
from functools import partial

from repsketch.progress import track
from repsketch_bench.threads import one_torch_thread

from . import networks, trees
from .engine import Engine, Peer, peers_of
from .teachers import N_QUERIES, Case

Builder = Callable[[Case], list[Engine]]

#: The teacher run by others, and forests in C.
BUILDERS: dict[str, Builder] = {
    "ONNX Runtime float32": networks.onnx_float32,
    "ONNX Runtime int8": networks.onnx_int8,
    "ONNX Runtime, empty graph": networks.onnx_overhead,
    "torch eager": networks.eager_torch,
    "emlearn": trees.emlearn_forest,
}


def build_peers(
    case: Case, n_queries: int = N_QUERIES, builders: Mapping[str, Builder] | None = None, *, progress: bool = True
) -> tuple[list[Peer], dict[str, str]]:
    """All peers of ``case``, and for what had to be left out the reason.

    Parameters
    ----------
    n_queries : rows that a batch holds
    builders : name -> function that makes engines of a case; by default all there are
    """
    left_out: dict[str, str] = {}
    if builders is None:
        builders = {**BUILDERS, **_booster_builders(case, left_out)}
    peers: list[Peer] = []
    for name, build in track(builders.items(), f"{case.name}: building peers", len(builders), enabled=progress):
        with one_torch_thread():
            try:
                peers += [peer for engine in build(case) for peer in peers_of(engine, case, n_queries)]
            except Exception as error:  # other people's libraries: whatever goes wrong there must not end our run
                left_out[name] = f"{type(error).__name__}: {error}"
    return peers, left_out


def _booster_builders(case: Case, left_out: dict[str, str]) -> dict[str, Builder]:
    """One builder for each LightGBM model and way to run it; the models are trained here, once."""
    try:
        boosters = trees.boosters_of(case)
    except Exception as error:
        left_out["LightGBM"] = f"{type(error).__name__}: {error}"
        return {}

    def build(case: Case, *, make: Callable, name: str, model: object) -> list[Engine]:
        return [make(name, model)]

    return {
        name if way == "LightGBM" else f"{name} in C ({way})": partial(build, make=make, name=name, model=model)
        for name, model in boosters.items()
        for way, make in trees.BOOSTER_ENGINES.items()
    }
