"""What compress costs by rows of data: seconds and peak memory, each size in a process of its own.

    python bench/experiments/cost.py

Writes results/cost.json. For a machine that does nothing else.
"""

import multiprocessing
import resource
import sys
import time
from typing import Any

import numpy as np

import repsketch as rs
from record import write_result
from repsketch.progress import track

SIZES, N_FEATURES, BUDGET = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000), 50, "4KB"


def rows_of(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Invented rows of two classes: a plane, a wave, a product and noise."""
    slope, rng = np.random.default_rng(0).normal(size=N_FEATURES), np.random.default_rng(seed)
    X = rng.normal(size=(n, N_FEATURES))
    y = X @ slope / np.sqrt(N_FEATURES) + np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0
    return X, y.astype(int)


def cost_of(n: int) -> dict[str, Any]:
    """Seconds and memory for so many rows, comparison included."""
    X, y = rows_of(n, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    sketch = rs.compress(None, X, y, budget=BUDGET, random_state=0, progress=False)
    seconds = time.perf_counter() - started
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    X_test, y_test = rows_of(10_000, 2)
    score = float((sketch.predict(X_test) == y_test).mean())
    return {"n_rows": n, "seconds": seconds, "more_bytes": 1024 * more, "nbytes": sketch.nbytes, "accuracy": score}


def main() -> int:
    """Measure all and write the file."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = list(track(pool.imap(cost_of, SIZES), "rows", len(SIZES)))
    for entry in found:
        print(entry, flush=True)
    print(write_result("cost", {"n_features": N_FEATURES, "budget": BUDGET, "sizes": found}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
