"""What more effort is worth: the validation loss with effort="fast" and "normal", dataset by dataset.

    python bench/experiments/efforts.py

One call of compress each, without a model, on the training rows of the frontier's datasets. Writes
results/efforts.json.
"""

import sys
from typing import Any

import repsketch as rs
from record import write_result
from repsketch_bench.frontier.case import Case
from repsketch_bench.frontier.data import DATASETS

BUDGETS = (1024, 4096)
EFFORTS = ("fast", "normal")
SEED = 0


def found_at(name: str, budget: int) -> dict[str, Any]:
    """Loss and bytes of every effort."""
    table = Case(name, SEED).table
    X, cell = table.raw(table.X_train), {"dataset": name, "budget": budget}
    for effort in EFFORTS:
        sketch = rs.compress(
            None, X, table.y_train, budget=budget, task=table.task, effort=effort, random_state=SEED, progress=False
        )
        loss = sketch.summary.rows[0]["loss"]
        cell[effort] = {"loss": loss, "nbytes": sketch.nbytes}
    return cell


def main() -> int:
    """Measure all and write the file."""
    cells = []
    for name in [name for name, dataset in DATASETS.items() if not dataset.is_set_aside]:
        for budget in BUDGETS:
            cells.append(found_at(name, budget))
            print(cells[-1], flush=True)
    print(write_result("efforts", {"seed": SEED, "cells": cells}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
