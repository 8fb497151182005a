"""Gradient steps a second: the trainer in C against the torch loop of version 0.1, one thread each, by turns.

    python bench/experiments/train_steps.py

Prints microseconds of processor time a step, the ratio for the same shape, and operations a second of large shapes.
For a machine that does nothing else. Ratios are of medians over several turns, other shapes have their fastest turn.
"""

import sys
import time
from collections import deque
from collections.abc import Callable
from itertools import islice, pairwise

import numpy as np

from repsketch.core import require_native
from repsketch.train.stage_shape import NetworkHead, RowsHead, Shape, StageShape
from repsketch.train.stages import LabelledRows, Schedule, make_trainer
from repsketch_bench.threads import one_torch_thread
from torch_steps import TorchRows

N_ROWS, N_TURNS = 20_000, 5
#: Models of about 1 KB: values and coordinates of one stage, which both trainers can train.
SAME = ((9, 48), (8, 50), (54, 15))
#: Shapes that only the trainer in C has.
OTHERS = {
    "9 -> 24 -> 12, tables of 8": (9, Shape((StageShape(24),), RowsHead(12, has_linear=False))),
    "9 -> 18 -> 12 -> 9, tables of 8": (9, Shape((StageShape(18), StageShape(12)), RowsHead(9))),
    "9 -> 32 -> 18, ReLU": (9, Shape((StageShape(32, "relu"), StageShape(18, "relu")), NetworkHead())),
    "64 -> 256 -> 64, ReLU": (64, Shape((StageShape(256, "relu"), StageShape(64, "relu")), NetworkHead())),
    "64 -> 256 -> 64, tables of 8": (64, Shape((StageShape(256), StageShape(64)), NetworkHead())),
}


def rows_of(n_values: int) -> tuple[np.ndarray, np.ndarray]:
    """Invented values, int16, and labels."""
    rng = np.random.default_rng(0)
    values = np.clip(np.rint(32.0 * rng.normal(size=(N_ROWS, n_values))), -127, 127).astype(np.int16)
    x = values[:, :4] / 32.0
    return values, (np.sin(2.0 * x[:, 0]) * x[:, 1] + 0.5 * np.abs(x[:, 2] + x[:, 3]))[:, None]


def seconds_of(call: Callable[[], object]) -> float:
    """Processor time of one call, in this thread: both trainers use one."""
    started = time.thread_time()
    call()
    return time.thread_time() - started


def in_c(n_values: int, shape: Shape, n_steps: int, isa: int = -1) -> float:
    """Microseconds a step of the trainer in C, roundings included, without validation."""
    values, labels = rows_of(n_values)
    rows = LabelledRows(values, labels)
    trainer = make_trainer(rows, rows, shape, Schedule(1_000_000, rounding_from=0.0), loss="absolute", isa=isa)
    trainer.run(n_steps // 4)
    return 1e6 * seconds_of(lambda: trainer.run(n_steps)) / n_steps


@one_torch_thread()
def in_torch(n_values: int, head: RowsHead, n_steps: int) -> float:
    """Microseconds a step of the torch loop, roundings included, without validation."""
    steps = TorchRows(head, n_values).steps(*rows_of(n_values), n_steps + n_steps // 4)
    deque(islice(steps, n_steps // 4), maxlen=0)
    return 1e6 * seconds_of(lambda: deque(steps, maxlen=0)) / n_steps


def main() -> int:
    """Measure and print."""
    print("one stage, the same shape: microseconds a step")
    for n_values, n_components in SAME:
        pairs = []
        for _ in range(N_TURNS):
            head = RowsHead(n_components)
            pairs.append((in_c(n_values, Shape((), head), 2_000), in_torch(n_values, head, 800)))
        ours, torch = np.median(pairs, axis=0)
        name = f"{n_values} values, p={n_components}"
        print(f"  {name:<28} C {ours:7.1f}   torch {torch:7.1f}   ratio {torch / ours:5.1f}")
    print("other shapes, by instruction set: microseconds a step (GFLOP/s of the products)")
    for name, (n_values, shape) in OTHERS.items():
        widths = [n_values, *shape.widths]
        products = [a * b for a, b in pairwise(widths)]
        operations = 2 * 256 * (3 * sum(products) - products[0])
        line = f"  {name:<32}"
        for isa, number in require_native().isas().items():
            found = min(in_c(n_values, shape, 400, number) for _ in range(N_TURNS))
            line += f"   {isa} {found:7.1f} ({operations / found / 1e3:4.1f})"
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
