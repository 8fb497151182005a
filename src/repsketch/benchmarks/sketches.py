"""Our side of the speed benchmark: sketches of the paper's sizes, and a small one of bit rows.

Speed does not depend on how well a sketch was trained, so none is distilled here: the paper's sizes get a random
projection and counters refitted to the teacher, the bit rows random contents (and so no score).
"""

from dataclasses import dataclass

import numpy as np
import torch

from ..kernel import KernelModel
from ..lsh import L2
from ..lsh.pool import CodePool, PooledRows
from ..runtime.native import NativeRuntime
from ..sketch import CompiledSketch, Form, KernelSketch, Sketch, build_sketch
from ..sketch.inputs import Inputs
from ..sketch.part import Part
from .datasets import paper_sizes
from .engine import Engine
from .teachers import Case

FIT_ROWS = 8192  # to refit counters on
BIT_ROWS, BIT_CONCAT, POOL_CODES = 48, 4, 1024  # about 1 KB: 16 counters and 40 bits of indices a row
BIT_STEPS = 32.0  # whole steps a standard deviation


@dataclass(frozen=True)
class Contender:
    """A sketch that takes part, and what it is called."""

    name: str
    sketch: Sketch
    is_model: bool


def build_ours(case: Case) -> list[Engine]:
    """The engines of all our sketches for one teacher and its data."""
    return [_engine(contender) for contender in contenders(case)]


def contenders(case: Case) -> list[Contender]:
    """The paper's size in float32 and int, and 1 KB of bit rows."""
    paper = paper_sketch(case)
    return [
        Contender("sketch, paper's size, int", paper.quantize(case.X_train), True),
        Contender("sketch, paper's size, float32", paper, True),
        Contender("sketch, 1 KB of bit rows, int", bit_sketch(case.X_train.shape[1]), False),
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


def bit_sketch(n_features: int, n_rows: int = BIT_ROWS) -> CompiledSketch:
    """Rows of four bits out of a pool of 1024 seeded ones, over standardised columns in whole steps."""
    rng = np.random.default_rng(0)
    inputs = Inputs(n_features, scales=np.full(1, BIT_STEPS, np.float32), limits=(-127, 127))
    pool = CodePool(
        "sparse", POOL_CODES, n_features, seed=1, n_nonzeros=2, is_seeded=True, spread=40, width_bits=0,
        booleans=inputs.booleans,
    )  # fmt: skip
    rows = PooledRows(pool, n_rows, BIT_CONCAT, rng.integers(0, POOL_CODES, (n_rows, BIT_CONCAT)))
    counters = rng.integers(-127, 128, (n_rows, rows.n_buckets, 1)).astype(np.int8)
    part = Part(rows, counters, np.full(1, 0.01, np.float32), "int8", aggregate="sum")
    return CompiledSketch(Form(inputs, None, (part,), np.zeros(1, np.float32)))


def _engine(contender: Contender) -> Engine:
    sketch = contender.sketch
    model = NativeRuntime(sketch.form).model

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
        is_model=contender.is_model,
    )
