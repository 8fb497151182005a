"""Other models of the same bytes, fitted to the same rows as a sketch, and which of them a user should rather take."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..predictor import to_choice
from ..runtime import runtime_for
from ..train.training_data import TrainingData
from ..train.trials import Trial
from .comparison import SKETCH, TRAINING, VALIDATION, Comparison

NOISE = 2.0  # standard errors of the mean difference beyond which a lead is one
ALIKE = 0.5  # standard errors behind the sketch that still count as equally good
SMALLER = 0.9  # of the sketch's bytes, at most, are worth a word


def compare(problem: TrainingData, trial: Trial, nbytes: int, seed: int, seconds: float = np.inf) -> Comparison:
    """A boosted tree, an int8 network and a linear model of at most ``nbytes`` bytes beside a sketch.

    Peers are tuned alike as long as ``seconds`` last; after that one cheap fit of each kind is made, and the network,
    which takes longest, is left out. A peer that cannot be fitted is left out, too, and named.
    """
    from .peers import fit_peers

    models: list[tuple[str, int, float, Callable[[np.ndarray], np.ndarray]]]
    models = [(SKETCH, trial.judged.nbytes, trial.loss, runtime_for(trial.judged).outputs)]
    peers, left_out = fit_peers(problem, nbytes, seed=seed, until=time.monotonic() + seconds)
    models += [(peer.name, peer.nbytes, peer.loss, peer.outputs) for peer in peers]
    points = {name: points_of(problem, outputs(problem.X[problem.held])) for name, _, _, outputs in models}
    rows = tuple(
        {"name": name, "nbytes": size, "score": float(points[name].mean()), "loss": float(loss)}
        for name, size, loss, _ in models
    )
    metric = "MAE" if problem.task == "regression" else "accuracy"
    scored_on = TRAINING if problem.spares_none else VALIDATION
    return Comparison(metric, rows, verdict_on(metric, rows, points), scored_on, len(problem.held), left_out)


def points_of(problem: TrainingData, outputs: np.ndarray) -> np.ndarray:
    """Right or wrong, or the absolute error, of each of the validation rows, (m,)."""
    labels = problem.labels[problem.held]
    if problem.task == "regression":
        return np.abs(outputs - (labels * problem.unit + problem.middle)).mean(axis=1)
    wanted = labels[:, 0] > 0.5 if labels.shape[1] == 1 else labels.argmax(axis=1)
    return (to_choice(outputs) == wanted).astype(np.float64)


def verdict_on(metric: str, rows: Sequence[dict[str, Any]], points: dict[str, np.ndarray]) -> str | None:
    """Which peers to take instead, by the paired difference of their points (m,): better ones, or as good and smaller.

    Of peers that are as good and smaller, the smallest is named.
    """
    sign = -1.0 if metric == "MAE" else 1.0
    better, as_good = [], []
    for row in rows[1:]:
        lead = sign * (points[row["name"]] - points[SKETCH])
        error = lead.std() / np.sqrt(len(lead))
        if lead.mean() > NOISE * error:
            better.append(row)
        elif lead.mean() >= -ALIKE * error and row["nbytes"] <= SMALLER * rows[0]["nbytes"]:
            as_good.append(row)
    ours, said = _described(rows[0], metric), []
    if better:
        said.append(f"{' and '.join(_described(row, metric) for row in better)} did better than the {ours}")
    if as_good:
        least = min(as_good, key=lambda row: row["nbytes"])
        said.append(f"{_described(least, metric)} did as well as the {ours} and is smaller")
    return f"On {len(points[SKETCH])} rows {'; '.join(said)}." if said else None


def _described(row: dict[str, Any], metric: str) -> str:
    return f"{row['name']} ({metric} {row['score']:.4f}, {row['nbytes']} bytes)"
