"""A sketch compared with peers of the same bytes, fitted to the same rows, and which peer a user should prefer."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..runtime import runtime_for
from ..train.training_data import TrainingData
from ..train.trials import Trial
from .comparison import SKETCH, TRAINING, VALIDATION, Comparison
from .peer import PeerModel
from .scores import PINBALL, metric_of, row_scores, score_of, sign_of

BETTER_ERRORS = 2.0  # a peer ahead by more standard errors of the mean difference is better
AS_GOOD_ERRORS = 0.5  # a peer that is behind by at most as many standard errors is as good
SMALLER_SHARE = 0.9  # a peer of at most this share of the sketch's bytes is smaller


def compare(data: TrainingData, trial: Trial, nbytes: int, seed: int, seconds: float = np.inf) -> Comparison:
    """Boosted trees, an int8 network and a linear model of at most ``nbytes`` bytes compared with a sketch.

    All peers are tuned by the same rule until ``seconds`` have passed. After that each gets one cheap fit, and the
    network, which takes longest, is left out. A peer that cannot be fitted is left out and named.
    """
    from .peers import fit_peers

    return compare_with(data, trial, *fit_peers(data, nbytes, seed=seed, until=time.monotonic() + seconds))


def compare_with(
    data: TrainingData, trial: Trial, peers: Sequence[PeerModel], left_out: Mapping[str, str]
) -> Comparison:
    """A sketch compared with fitted peers; ``left_out``: peers that are not there, by name, and why."""
    X = data.X[data.validation_rows]
    models = [(SKETCH, trial.fitted.nbytes, trial.loss, runtime_for(trial.fitted).outputs(X))]
    models += [(peer.name, peer.nbytes, peer.loss, peer.outputs(X)) for peer in peers]
    scores = {name: row_scores(data, outputs) for name, _, _, outputs in models}
    rows = tuple(
        {"name": name, "nbytes": size, "score": score_of(data, outputs), "loss": float(loss)}
        for name, size, loss, outputs in models
    )
    metric = metric_of(data)
    return Comparison(
        metric,
        rows,
        conclude(metric, rows, scores),
        TRAINING if data.trains_on_all else VALIDATION,
        len(data.validation_rows),
        dict(left_out),
        data.level if metric == PINBALL else None,
    )


def conclude(metric: str, rows: Sequence[dict[str, Any]], scores: dict[str, np.ndarray]) -> str | None:
    """One sentence about peers that are better, or as good and smaller, by paired differences of scores (m,); or None.

    Of peers that are as good and smaller, the smallest is named.
    """
    sign = sign_of(metric)
    better, as_good = [], []
    for row in rows[1:]:
        lead = sign * (scores[row["name"]] - scores[SKETCH])
        error = lead.std() / np.sqrt(len(lead))
        if lead.mean() > BETTER_ERRORS * error:
            better.append(row)
        elif lead.mean() >= -AS_GOOD_ERRORS * error and row["nbytes"] <= SMALLER_SHARE * rows[0]["nbytes"]:
            as_good.append(row)
    ours, clauses = _described(rows[0], metric), []
    if better:
        clauses.append(f"{' and '.join(_described(row, metric) for row in better)} did better than the {ours}")
    if as_good:
        least = min(as_good, key=lambda row: row["nbytes"])
        clauses.append(f"{_described(least, metric)} did as well as the {ours} and is smaller")
    return f"On {len(scores[SKETCH])} rows {'; '.join(clauses)}." if clauses else None


def _described(row: dict[str, Any], metric: str) -> str:
    return f"{row['name']} ({metric} {row['score']:.4f}, {row['nbytes']} bytes)"
