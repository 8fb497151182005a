"""How well ``compress`` keeps its time limit, on a long table, a wide one and one with categories and gaps.

    python bench/experiments/time_limit.py [SECONDS ...]

Prints limit, seconds taken and where they went. The promise: within a fifth of the limit, or within one second. For a
machine that does nothing else. The names of tables may be given, too. Needs REPSKETCH_DATA for the last one.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest import mock

import numpy as np

import repsketch as rs
from repsketch.errors import InputError
from repsketch_bench.frontier.data import adult_table

LIMITS = (2.0, 5.0, 15.0, 30.0)
#: Phases of the call, by the function that does them.
PHASES = {
    "teacher": "repsketch.teacher.default.default_teacher",
    "copies": "repsketch.teacher.out_of_fold.out_of_fold_outputs",
    "search": "repsketch.train.search.search",
    "peers": "repsketch.compare.compare.compare",
}


def long_table() -> tuple[np.ndarray, np.ndarray]:
    """500,000 rows of 30 columns, a regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500_000, 30)).astype(np.float32)
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * np.abs(X[:, 3]) + 0.3 * rng.normal(size=len(X))


def wide_table() -> tuple[np.ndarray, np.ndarray]:
    """20,000 rows of 784 columns in ten classes, as many as images of digits have."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 20_000)
    centers = rng.normal(size=(10, 784)) * (rng.random((10, 784)) < 0.2)
    return np.clip(centers[y] + rng.normal(size=(len(y), 784)), 0, None).astype(np.float32), y


def mixed_table() -> tuple[np.ndarray, np.ndarray]:
    """Adult: categories as numbers, missing values, two classes."""
    table = adult_table(0)
    return table.X_train, table.y_train


TABLES: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "long": long_table,
    "wide": wide_table,
    "mixed": mixed_table,
}


@contextmanager
def phases_timed() -> Iterator[dict[str, float]]:
    """Inside, the seconds of every phase of ``compress`` are added up."""
    seconds: dict[str, float] = defaultdict(float)
    with ExitStack() as patches:
        for name, path in PHASES.items():
            patches.enter_context(mock.patch(path, timed(path, seconds, name)))
        yield seconds


def timed(path: str, seconds: dict[str, float], name: str) -> Callable[..., Any]:
    """The function at ``path``, whose seconds are added to those of ``name``."""
    module, _, attribute = path.rpartition(".")
    real = getattr(import_module(module), attribute)

    def call(*args: Any, **options: Any) -> Any:
        started = time.monotonic()
        try:
            return real(*args, **options)
        finally:
            seconds[name] += time.monotonic() - started

    return call


def main(words: list[str]) -> int:
    """Measure and print; 1 if a limit was not kept."""
    names = [word for word in words if word in TABLES] or list(TABLES)
    limits = [float(word) for word in words if word not in TABLES] or list(LIMITS)
    rs.compress(None, np.eye(40), np.arange(40) % 2, time_limit=0.1, progress=False)  # imports are not measured
    print("table   limit   taken  ratio  kept  where")
    n_broken = 0
    for name in names:
        try:
            X, y = TABLES[name]()
        except InputError as error:
            print(f"{name}: {error}")
            continue
        for limit in limits:
            with phases_timed() as phases:
                started = time.monotonic()
                rs.compress(None, X, y, random_state=0, time_limit=limit, progress=False)
                taken = time.monotonic() - started
            is_kept = taken <= max(1.2 * limit, limit + 1.0)
            n_broken += not is_kept
            where = ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in phases.items())
            print(f"{name:<6} {limit:6.1f}  {taken:6.1f}  {taken / limit:5.2f}  {is_kept!s:<5} {where}", flush=True)
    return int(n_broken > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
