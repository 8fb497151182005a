"""The peers of every summary: boosted trees, an int8 network and a linear model of the same bytes, in seconds."""

import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec

import numpy as np

from ..parallel import Workers
from ..train.clock import Clock
from ..train.training_data import TrainingData
from .boosted import Boosted
from .histogram import HistogramBoosted
from .linear import Linear
from .network import Network
from .peer import PeerModel
from .tuning import SCREENING_ROWS, PeerMethod, tuned

NO_TIME = "no time left"
MIN_NETWORK_SECONDS = 2.0  # with less time, the network is left out
MIN_SECONDS = 0.1  # that a peer has when the time is over: enough for a cheap fit
VALUES_PER_SECOND = 1_000_000  # of training rows, at most, for every second that a peer has
MAX_CELLS = 5_000_000  # of larger tables, kinds are fitted one after the other: each has copies of the rows
STEP_SHARE = 0.3  # of the steps of a full tuning, for networks


def fit_peers(
    data: TrainingData, nbytes: int, *, seed: int = 0, until: float = float("inf")
) -> tuple[list[PeerModel], dict[str, str]]:
    """The best peer of each kind within ``nbytes`` bytes, distilled if there is a teacher; and those left out, and why.

    ``until`` is a time of ``time.monotonic``. Peers have equal shares of the time until then, and fits are cut short
    when theirs is over; once it has passed, each kind gets one cheap fit. Where LightGBM is not installed,
    scikit-learn grows the trees. A peer whose library raises an error is left out; its warnings are not shown.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    >>> data = TrainingData.of(X, np.float64(X[:, :1] > 0), None, "classification")
    >>> peers, left_out = fit_peers(data, 256)
    >>> [model.name for model in peers if model.nbytes <= 256], left_out
    (['boosted trees', 'int8 network', 'linear'], {})
    """
    return fit_peers_at(data, [nbytes], seed=seed, until=until)[nbytes]


def fit_peers_at(
    data: TrainingData, budgets: Iterable[int], *, seed: int = 0, until: float = float("inf")
) -> dict[int, tuple[list[PeerModel], dict[str, str]]]:
    """``fit_peers`` at every budget, in rising order; fits are shared between budgets."""
    found: dict[int, tuple[list[PeerModel], dict[str, str]]] = {nbytes: ([], {}) for nbytes in sorted(budgets)}
    boosted: type[PeerMethod] = HistogramBoosted if find_spec("lightgbm") is None else Boosted
    kinds: tuple[type[PeerMethod], ...] = (boosted, Network, Linear)
    with warnings.catch_warnings(), Workers() as workers:
        warnings.simplefilter("ignore")
        if np.isfinite(until) or data.X.size > MAX_CELLS:
            fits = [
                _fit_kind(kind, data, list(found), seed, (until - time.monotonic()) / (len(kinds) - number), workers)
                for number, kind in enumerate(kinds)
            ]
        else:
            fits = workers.map([partial(_fit_kind, kind, data, list(found), seed, np.inf, workers) for kind in kinds])
    for kind, (models, reason) in zip(kinds, fits, strict=True):
        for nbytes, (peers, left_out) in found.items():
            model = models.get(nbytes)
            if model is not None:
                peers.append(model)
            else:
                left_out[kind.name] = f"none is as small as {nbytes} bytes" if nbytes in models else reason
    return found


def _fit_kind(
    kind: type[PeerMethod], data: TrainingData, budgets: list[int], seed: int, seconds: float, workers: Workers
) -> tuple[dict[int, PeerModel | None], str]:
    """Models of a kind at the budgets for which there is time, and why there are none at others."""
    if kind is Network and seconds < MIN_NETWORK_SECONDS * len(budgets):
        return {}, NO_TIME
    clock, is_hurried = Clock(max(seconds, MIN_SECONDS) if np.isfinite(seconds) else None), seconds <= 0
    is_past = clock.is_past(1.0)

    def is_late() -> bool:
        return is_past() or workers.is_stopped()

    rows = rows_in_time(data, max(seconds, MIN_SECONDS), seed)
    try:
        return _tuned(kind, rows, budgets, seed, is_hurried, is_late), NO_TIME
    except Exception as error:  # no error of another library may fail the user's model
        shown = str(error).splitlines()[0][:80] if str(error) else ""
        return {}, NO_TIME if is_late() else f"{type(error).__name__}: {shown}"


def _tuned(
    kind: type[PeerMethod],
    data: TrainingData,
    budgets: list[int],
    seed: int,
    is_hurried: bool,
    is_late: Callable[[], bool],
) -> dict[int, PeerModel | None]:
    """The best model of a kind at each budget, rising, for which there is time; None where none is so small."""
    found: dict[int, PeerModel | None] = {}
    for nbytes, model in tuned(
        kind, data, budgets, seed=seed, is_distilled=data.soft_labels is not None,
        is_quick=True, is_hurried=is_hurried, step_share=STEP_SHARE, is_late=is_late,
    ):  # fmt: skip
        found[nbytes] = model
        if is_late() and not is_hurried:
            break
    return found


def rows_in_time(data: TrainingData, seconds: float, seed: int) -> TrainingData:
    """The data with as many training rows as a peer reads in a few seconds."""
    if not np.isfinite(seconds):
        return data
    return data.subset(max(SCREENING_ROWS, int(VALUES_PER_SECOND * seconds / data.n_values)), seed)
