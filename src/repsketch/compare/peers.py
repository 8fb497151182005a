"""The peers of every summary: boosted trees, an int8 network and a linear model of the same bytes, in seconds."""

import time
import warnings
from collections.abc import Iterable
from importlib.util import find_spec

from ..train.training_data import TrainingData
from .boosted import Boosted
from .histogram import HistogramBoosted
from .linear import Linear
from .network import Network
from .peer import PeerModel
from .tuning import PeerMethod, tuned

MIN_NETWORK_SECONDS = 2.0  # with less time, the network is left out
STEP_SHARE = 0.3  # of the steps of a full tuning, for networks


def fit_peers(
    data: TrainingData, nbytes: int, *, seed: int = 0, until: float = float("inf")
) -> tuple[list[PeerModel], dict[str, str]]:
    """The best peer of each kind within ``nbytes`` bytes, distilled if there is a teacher; and those left out, and why.

    ``until`` is a time of ``time.monotonic``. Once it has passed, each kind gets one cheap fit. Where LightGBM is not
    installed, scikit-learn grows the trees. A peer whose library raises an error is left out; its warnings are not
    shown.

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
    for kind in (boosted, Network, Linear):
        left = until - time.monotonic()
        models: dict[int, PeerModel | None] = {}
        reason = "no time left"
        if kind is not Network or left >= MIN_NETWORK_SECONDS * len(found):
            try:
                models = _tuned(kind, data, list(found), seed, until)
            except Exception as error:  # no error of another library may fail the user's model
                reason = f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}"
        for nbytes, (peers, left_out) in found.items():
            model = models.get(nbytes)
            if model is not None:
                peers.append(model)
            else:
                left_out[kind.name] = f"none is as small as {nbytes} bytes" if nbytes in models else reason
    return found


def _tuned(
    kind: type[PeerMethod], data: TrainingData, budgets: list[int], seed: int, until: float
) -> dict[int, PeerModel | None]:
    """The best model of a kind at each budget, rising, for which there is time; None where none is so small."""
    found: dict[int, PeerModel | None] = {}
    is_hurried = time.monotonic() >= until
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for nbytes, model in tuned(
            kind, data, budgets, seed=seed, is_distilled=data.soft_labels is not None,
            is_quick=True, is_hurried=is_hurried, step_share=STEP_SHARE,
        ):  # fmt: skip
            found[nbytes] = model
            if time.monotonic() >= until and not is_hurried:
                break
    return found
