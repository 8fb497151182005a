"""The peers of every summary: boosted trees, an int8 network and a linear model of the same bytes, in seconds."""

import time
import warnings
from importlib.util import find_spec

import numpy as np

from ..train.clock import Clock
from ..train.training_data import TrainingData
from .boosted import Boosted
from .histogram import HistogramBoosted
from .linear import Linear
from .network import Network
from .peer import PeerModel
from .tuning import SCREENING_ROWS, PeerMethod, tune_each

NO_TIME = "no time left"
MIN_NETWORK_SECONDS = 2.0  # with less time, the network is left out
MIN_SECONDS = 0.1  # that a peer has when the time is over: enough for a cheap fit
VALUES_PER_SECOND = 1_000_000  # of training rows, at most, for every second that a peer has
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
    boosted: type[PeerMethod] = HistogramBoosted if find_spec("lightgbm") is None else Boosted
    found, left_out = [], {}
    kinds: tuple[type[PeerMethod], ...] = (boosted, Network, Linear)
    for number, kind in enumerate(kinds):
        left = until - time.monotonic()
        if kind is Network and left < MIN_NETWORK_SECONDS:
            left_out[kind.name] = NO_TIME
            continue
        seconds = max(left / (len(kinds) - number), MIN_SECONDS)
        is_late = Clock(seconds if np.isfinite(seconds) else None).is_past(1.0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = tune_each(
                    kind, rows_in_time(data, seconds, seed), [nbytes], seed=seed,
                    is_distilled=data.soft_labels is not None, is_quick=True, is_hurried=left <= 0,
                    step_share=STEP_SHARE, is_late=is_late,
                )[nbytes]  # fmt: skip
        except Exception as error:  # no error of another library may fail the user's model
            left_out[kind.name] = (
                NO_TIME
                if is_late()
                else f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}"
            )
            continue
        if model is None:
            left_out[kind.name] = f"none is as small as {nbytes} bytes"
        else:
            found.append(model)
    return found, left_out


def rows_in_time(data: TrainingData, seconds: float, seed: int) -> TrainingData:
    """The data with as many training rows as a peer reads in a few seconds."""
    if not np.isfinite(seconds):
        return data
    return data.subset(max(SCREENING_ROWS, int(VALUES_PER_SECOND * seconds / data.n_values)), seed)
