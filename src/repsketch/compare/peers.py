"""Peers for every user's summary: boosted trees, an int8 network and a linear model of the same bytes, in seconds."""

import time
import warnings
from importlib.util import find_spec

from ..train.training_data import TrainingData
from .boosted import Boosted
from .histogram import HistogramBoosted
from .linear import Linear, SolvedLinear
from .network import Network
from .peer import Budgeted
from .tuning import Kind, tune_each

NETWORK_SECONDS = 3.0  # a tuned network takes, at least; with less time it is left out
LINEAR_SECONDS = 2.0  # a tuned linear model takes, the start of torch's optimisers included; with less it is solved
FULL_ROWS = 1_500  # training rows from which on networks take all their steps; fewer rows need fewer


def fit_peers(
    problem: TrainingData, nbytes: int, *, seed: int = 0, until: float = float("inf")
) -> tuple[list[Budgeted], dict[str, str]]:
    """The best of each kind within ``nbytes`` bytes, distilled if there is a teacher; and who was left out, and why.

    Each has a ``loss`` on the validation rows. ``until`` is a time of ``time.monotonic``; when it has passed, one cheap
    fit of each kind is made. Where LightGBM is not installed, scikit-learn grows the trees. An error of a peer's
    library leaves that peer out; its warnings are not shown.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
    >>> problem = Problem.of(X, np.float64(X[:, :1] > 0), None, "classification")
    >>> peers, left_out = fit_peers(problem, 256)
    >>> [model.name for model in peers if model.nbytes <= 256], left_out
    (['boosted trees', 'int8 network', 'linear'], {})
    """
    kind: type[Kind]
    boosted: type[Kind] = HistogramBoosted if find_spec("lightgbm") is None else Boosted
    found, left_out = [], {}
    few = min(1.0, max(0.1, len(problem.kept) / FULL_ROWS))
    for kind in (boosted, Network, Linear):
        left = until - time.monotonic()
        if kind is Linear and left < LINEAR_SECONDS:
            kind = SolvedLinear
        if kind is Network and left < NETWORK_SECONDS:
            left_out[kind.name] = "no time left"
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = tune_each(
                    kind, problem, [nbytes], seed=seed, is_distilled=problem.answers is not None,
                    is_quick=True, is_hurried=left <= 0, step_share=few if kind is Network else max(few, 0.5),
                )[nbytes]  # fmt: skip
        except Exception as error:  # whatever a library of others raises is no reason to fail the user's model
            left_out[kind.name] = f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}"
            continue
        if model is None:
            left_out[kind.name] = f"none is as small as {nbytes} bytes"
        else:
            found.append(model)
    return found, left_out
