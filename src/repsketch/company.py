"""The company a compressed sketch keeps: other models of the same bytes, fitted to the same rows, and who is better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .predictor import to_choice
from .sketch import CompiledSketch
from .tune.problem import Problem
from .tune.trials import Trial

NOISE = 2.0  # standard errors of the mean difference on the rows held out


@dataclass(frozen=True)
class Company:
    """The sketch and its peers on the rows that were held out.

    Attributes
    ----------
    metric : "accuracy" or "MAE"
    rows : one for each model, the sketch first: "name", "nbytes", "score" (of the metric) and "loss"
    verdict : which peers are better by more than the noise, in one line; None if none is

    >>> print(Company("accuracy", ({"name": "sketch", "nbytes": 500, "score": 0.9, "loss": 0.3},), None))
    model   accuracy  bytes
    sketch    0.9000    500
    """

    metric: str
    rows: tuple[dict[str, Any], ...]
    verdict: str | None

    @classmethod
    def of(cls, problem: Problem, trial: Trial, nbytes: int, seed: int) -> "Company":
        """A boosted tree, an int8 network and a linear model of at most ``nbytes`` bytes beside a sketch."""
        from .baselines.budgeted.company import fit_company

        X = problem.X[problem.held]
        ours = CompiledSketch(trial.judged)
        models: list[tuple[str, int, float, Callable[[np.ndarray], np.ndarray]]]
        models = [("sketch", ours.nbytes, trial.loss, ours.outputs)]
        for peer in fit_company(problem, nbytes, seed=seed):
            models.append((peer.name, peer.nbytes, peer.loss, peer.outputs))
        points = {name: points_of(problem, outputs(X)) for name, _, _, outputs in models}
        rows = tuple(
            {"name": name, "nbytes": size, "score": float(points[name].mean()), "loss": loss}
            for name, size, loss, _ in models
        )
        metric = "MAE" if problem.task == "regression" else "accuracy"
        return cls(metric, rows, verdict_on(metric, rows, points))

    def __str__(self) -> str:
        width = max(len("model"), *(len(row["name"]) for row in self.rows))
        lines = [f"{'model':<{width}}  {self.metric:>8}  {'bytes':>5}"]
        lines += [f"{row['name']:<{width}}  {row['score']:>8.4f}  {row['nbytes']:>5}" for row in self.rows]
        return "\n".join([*lines, *([self.verdict] if self.verdict else [])])


def points_of(problem: Problem, outputs: np.ndarray) -> np.ndarray:
    """Right or wrong, or how far off, for each of the rows held out, (m,)."""
    labels = problem.labels[problem.held]
    if problem.task == "regression":
        return np.abs(outputs - (labels * problem.unit + problem.middle)).mean(axis=1)
    wanted = labels[:, 0] > 0.5 if labels.shape[1] == 1 else labels.argmax(axis=1)
    return (to_choice(outputs) == wanted).astype(np.float64)


def verdict_on(metric: str, rows: Sequence[dict[str, Any]], points: dict[str, np.ndarray]) -> str | None:
    """Which of the peers beat the sketch by more than the noise of the paired difference of their points (m,)."""
    sign = -1.0 if metric == "MAE" else 1.0
    better = []
    for row in rows[1:]:
        lead = sign * (points[row["name"]] - points["sketch"])
        if lead.mean() > NOISE * lead.std() / np.sqrt(len(lead)):
            better.append(f"{row['name']} ({metric} {row['score']:.4f}, {row['nbytes']} bytes)")
    if not better:
        return None
    ours = f"the sketch ({metric} {rows[0]['score']:.4f}, {rows[0]['nbytes']} bytes)"
    return f"On the {len(points['sketch'])} rows held out {' and '.join(better)} did better than {ours}."
