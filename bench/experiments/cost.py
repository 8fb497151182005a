"""What compress costs: seconds and peak memory by rows, effort and task, each case in a process of its own.

    python bench/experiments/cost.py

Writes results/cost.json. For a machine that does nothing else.
"""

import multiprocessing
import resource
import sys
import time
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

import repsketch as rs
from record import write_result
from repsketch.progress import track

BUDGET, N_TEST = "4KB", 10_000
#: Rows, columns, task and effort.
CASES = (
    (276, 10, "classification", "normal"),
    (10_000, 50, "classification", "normal"),
    (40_000, 50, "classification", "fast"),
    (40_000, 50, "classification", "normal"),
    (40_000, 50, "regression", "fast"),
    (40_000, 50, "regression", "normal"),
    (160_000, 50, "classification", "normal"),
    (500_000, 30, "classification", "normal"),
)


def rows_of(n: int, n_columns: int, task: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Invented rows: a plane, a wave, a product and noise; its sign is the class."""
    slope, rng = np.random.default_rng(0).normal(size=n_columns), np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns)).astype(np.float32)
    values = X @ slope / np.sqrt(n_columns) + np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)
    return X, values if task == "regression" else (values > 0).astype(int)


def cost_of(case: tuple[int, int, str, str]) -> dict[str, Any]:
    """Seconds and memory of one call, comparison included; the imports are made before it."""
    n, n_columns, task, effort = case
    rs.compress(None, *rows_of(60, 3, task, 0), budget=200, random_state=0, progress=False)
    X, y = rows_of(n, n_columns, task, 1)
    started = time.perf_counter()
    sketch = rs.compress(None, X, y, budget=BUDGET, effort=effort, random_state=0, progress=False)
    seconds = time.perf_counter() - started
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    X_test, y_test = rows_of(N_TEST, n_columns, task, 2)
    predicted = sketch.predict(X_test)
    score = r2_score(y_test, predicted) if task == "regression" else (predicted == y_test).mean()
    return {
        "n_rows": n, "n_columns": n_columns, "task": task, "effort": effort, "seconds": seconds, "peak_bytes": peak,
        "nbytes": sketch.nbytes, "score": float(score),
    }  # fmt: skip


def main() -> int:
    """Measure all and write the file."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = list(track(pool.imap(cost_of, CASES), "cases", len(CASES)))
    for entry in found:
        print(entry, flush=True)
    print(write_result("cost", {"budget": BUDGET, "cases": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
