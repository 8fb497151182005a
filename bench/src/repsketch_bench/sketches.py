"""Our side of the speed benchmark: sketches of the paper's sizes, and the teacher compressed to 1 KB.

Speed does not depend on how well a sketch was trained, so the paper's sizes are not distilled: they get a random
projection and counters refitted to the teacher.
"""

from dataclasses import dataclass

import numpy as np
import torch

from repsketch.compress import compress
from repsketch.lsh import L2
from repsketch.paper import KernelModel
from repsketch.runtime.native import NativeRuntime
from repsketch.sketch import CompiledSketch, KernelSketch, Sketch, build_sketch

from .datasets import paper_sizes
from .engine import Engine
from .teachers import Case

FIT_ROWS = 8192  # to refit counters on
COMPRESSED = "1KB"


@dataclass(frozen=True)
class Contender:
    """A sketch of the benchmark and its name."""

    name: str
    sketch: Sketch


def build_ours(case: Case) -> list[Engine]:
    """The engines of all our sketches for one teacher and its data."""
    return [_engine(contender) for contender in contenders(case)]


def contenders(case: Case) -> list[Contender]:
    """The paper's size in float32 and int, and the teacher in 1 KB."""
    paper = paper_sketch(case)
    return [
        Contender("sketch, paper's size, int", paper.quantize(case.X_train)),
        Contender("sketch, paper's size, float32", paper),
        Contender("sketch, compressed to 1 KB", compressed_sketch(case)),
    ]


def paper_sketch(case: Case) -> KernelSketch:
    """A sketch of the paper's L, K, R = 2^K and p for this dataset, refitted to the teacher's outputs."""
    sizes = paper_sizes(case.name)
    rng = np.random.default_rng(0)
    X = case.X_train[:FIT_ROWS]
    with torch.inference_mode():
        targets = case.teacher(torch.from_numpy(X)).numpy()
    d = X.shape[1]
    projection = (rng.normal(size=(d, sizes.n_components)) / np.sqrt(d)).astype(np.float32)
    z = X @ projection
    points = z[rng.choice(len(z), min(64, len(z)), replace=False)]
    # A bucket as wide as a projected query varies, so that two buckets see the data apart.
    width = float(np.sqrt(z.var(axis=0).sum())) * (1.0 if sizes.n_concat == 1 else 2.0)
    kernel = KernelModel(
        points,
        rng.normal(size=(len(points), 1)).astype(np.float32),
        np.zeros(1, np.float32),
        L2(width),
        n_concat=sizes.n_concat,
        projection=projection,
    )
    return build_sketch(kernel, sizes.n_rows, 2**sizes.n_concat, progress=False).refit(X, targets, progress=False)


def compressed_sketch(case: Case) -> CompiledSketch:
    """What ``compress`` makes of the teacher within 1 KB."""
    return compress(
        case.teacher, case.X_train, case.y_train, budget=COMPRESSED, task=case.task, random_state=0, progress=False
    )


def _engine(contender: Contender) -> Engine:
    sketch = contender.sketch
    model = NativeRuntime(sketch.model).native

    def in_c(X: np.ndarray) -> np.ndarray:
        out = np.empty((len(X), 1), np.float32)
        model.predict_each(X, out)
        return out[:, 0]

    return Engine(
        contender.name,
        lambda X: sketch.outputs(X)[:, 0],
        row=lambda x: sketch.predict_one(x[0]),
        rows_in_c=in_c,
        nbytes=sketch.nbytes,
    )
