"""Accuracy against bytes on the user's own data: the best sketch of every budget, and its peers beside it.

Takes what ``compress`` takes, and several budgets; hands on a ``Frontier``. The teacher, its copies and the training
data are made once.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .curve import Frontier
from .errors import InputError, require
from .preparation import Prepared, prepare
from .sizes import Found, Searches, sketch_of, teacher_score
from .train.budget import parse_budget

if TYPE_CHECKING:
    from .compare.peer import PeerModel

BUDGETS = ("256B", "512B", "1KB", "2KB", "4KB", "16KB")
logger = logging.getLogger(__name__)


def frontier(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budgets: Iterable[int | str] = BUDGETS,
    task: str | None = None,
    loss: str | None = None,
    quantile: float | None = None,
    metric: str | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    effort: str = "normal",
    random_state: Any = None,
    time_limit: float | None = None,
    progress: bool = True,
) -> Frontier:
    """The best sketch of every budget and its validation score, with peers of the same bytes beside it.

    Parameters
    ----------
    model, X, y : as for ``compress``, like all parameters that are not named here
    budgets : bytes of sketches, each as for ``compress``, in any order
    time_limit : seconds that the call may take, about, for all budgets together

    Returns
    -------
    Frontier
        Prints as a table; ``plot`` draws it, ``smallest(tolerance)`` takes a sketch from it. Each sketch is what
        ``compress`` with that budget returns, or that of a smaller budget where its validation score is better: more
        bytes never have a worse score

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> curve = frontier(None, X, X[:, 0] > X[:, 1], budgets=["128B", "256B"], effort="fast", progress=False)
    >>> curve.metric, [sketch.nbytes <= budget for budget, sketch in curve.sketches.items()]
    ('accuracy', [True, True])
    """
    require("sklearn", "train")
    from .compare.compare import compare_with

    sizes = parse_budgets(budgets)
    prepared = prepare(
        model, X, y, task=task, loss=loss, quantile=quantile, metric=metric, sample_weight=sample_weight,
        class_weight=class_weight, effort=effort, random_state=random_state, time_limit=time_limit, progress=progress,
    )  # fmt: skip
    found, too_small = search_each(prepared, sizes)
    data = prepared.data
    sketches = {
        nbytes: sketch_of(prepared, found[nbytes].trial, compare_with(data, found[nbytes].trial, *peers))
        for nbytes, peers in peers_at(prepared, list(found)).items()
    }
    return Frontier(sketches, teacher_score(prepared), prepared.is_unseen, tuple(too_small))


def parse_budgets(budgets: Any) -> list[int]:
    """Bytes of all budgets, rising, each once.

    >>> parse_budgets(["1KB", 256, "256B"])
    [256, 1024]
    """
    if isinstance(budgets, (str, bytes, Mapping)) or not isinstance(budgets, Iterable):
        raise InputError(f"budgets={budgets!r}; allowed are several budgets, such as ['512B', '1KB', 4096].")
    sizes = sorted({parse_budget(budget) for budget in budgets})
    if not sizes:
        raise InputError("budgets is empty; allowed is at least one budget, such as '4KB'.")
    return sizes


def search_each(prepared: Prepared, sizes: list[int]) -> tuple[dict[int, Found], list[int]]:
    """The best model of every size, rising, and the sizes that are too small for any.

    A smaller model that is better is taken again at a larger size.
    """
    from .compare.scores import metric_of, sign_of

    searches, sign = Searches(prepared), sign_of(metric_of(prepared.data))
    found: dict[int, Found] = {}
    too_small = []
    best: Found | None = None
    for place, nbytes in enumerate(sizes):
        try:
            new = searches.at(nbytes, n_left=len(sizes) - place)
        except InputError:  # no sketch is so small
            if nbytes == sizes[-1]:
                raise
            too_small.append(nbytes)
            continue
        best = new if best is None or new.is_better(best, sign) else best
        found[nbytes] = best
    return found, too_small


def peers_at(prepared: Prepared, sizes: list[int]) -> "dict[int, tuple[list[PeerModel], dict[str, str]]]":
    """Peers of every size, rising, as for ``compare_with``; a smaller one of a kind is taken again if it is better."""
    from .compare.peers import fit_peers_at
    from .compare.scores import metric_of, score_of, sign_of

    data = prepared.data
    X, sign = data.X[data.validation_rows], sign_of(metric_of(data))
    fitted = fit_peers_at(data, sizes, seed=prepared.seed, until=time.monotonic() + prepared.clock.seconds_left)
    best: dict[str, tuple[tuple[float, float], PeerModel]] = {}
    found = {}
    for nbytes, (peers, left_out) in fitted.items():
        for peer in peers:
            rank = (sign * score_of(data, peer.outputs(X)), -peer.loss)
            if peer.name not in best or rank > best[peer.name][0]:
                best[peer.name] = rank, peer
        found[nbytes] = [best[peer.name][1] for peer in peers], left_out
    return found
