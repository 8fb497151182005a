"""Write small good .rsk files of every kind into a folder: what ``mutate`` and ``test_predict`` start from.

Run as ``write_seeds.py DIR``: about eighty files seedNN.rsk; and a few longer ones, wideNN.rsk, with sizes at which
fast paths have to give way, for ``test_predict`` alone. The same files every time.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np

from repsketch import lsh
from repsketch.io import model_to_bytes
from repsketch.lsh import RowHashes
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.projection import Projection
from repsketch.model.rows import RowGroup
from repsketch.model.stages import Stage, Stages
from repsketch.sketch import KernelSketch, Sketch
from repsketch.sketch.sketch import CompiledSketch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from support.models import random_model

N_MODELS, N_TRIED, N_STAGED = 60, 300, 60
LARGEST_NBYTES, MOST_TERMS = 4096, 1500  # small files and short predictions: more inputs a second
TABLE_WIDTH_BITS = 8  # where native/rsk_plan.c looks counters up by a byte


def features_of(model: Model) -> set:
    """What the runtime distinguishes in a model, and all pairs of such things."""
    inputs, projection = model.inputs, model.projection
    common = {
        ("precision", model.precision),
        ("projection", None if projection is None else projection.kind),
        ("columns", inputs.columns is not None),
        ("kinds", inputs.has_one_kind, inputs.n_numeric == 0),
        ("missing", inputs.accepts_missing),
        ("stored", inputs.stored_as if inputs.scales is not None else None, inputs.centers is not None),
        ("linear", None if model.linear is None else str(model.linear.dtype)),
        ("offset", model.offset_stored_as),
        ("row groups", min(len(model.row_groups), 2)),
        ("outputs", model.n_outputs > 1),
    }
    for i, stage in enumerate(model.stages):
        common |= {
            ("stage", i, stage.activation),
            ("matrix of a stage", stage.matrix_bits, stage.is_sparse),
            ("linear term of a stage", stage.linear is not None),
        }
    found = {frozenset(pair) for pair in combinations(common, 2)}
    for group in model.row_groups:
        hashes = group.hashes
        is_pool = isinstance(hashes, PooledRows)
        decode = (group.shared_decode is not None, group.row_decode is not None, group.decode_bits)
        own = {
            ("hash", hashes.pool.kind if is_pool else repr(hashes.family)),
            ("fold", "indices" if is_pool and hashes.indices is not None else is_pool or hashes.fold),
            ("levels", is_pool and (hashes.pool.is_binary, hashes.interpolate, hashes.pool.is_seeded)),
            ("counters", group.counter_type),
            ("reading", group.aggregate, group.n_groups > 1, decode),
            ("source", group.source),
            ("table", hashes.width_bits == TABLE_WIDTH_BITS, hashes.n_buckets <= 16, hashes.n_concat == 1),
        }
        found |= {frozenset(pair) for pair in combinations(common | own, 2)}
    return found


def n_terms(model: Model) -> int:
    """Terms and counters a prediction adds up, about."""
    n_codes = sum(
        group.n_rows * (group.hashes.n_concat * group.hashes.n_features + model.n_outputs) for group in model.row_groups
    )
    n_products = sum(stage.matrix.size for stage in model.stages)
    return n_codes + (n_products or model.inputs.n_values * model.n_coordinates)


def small_models() -> Iterator[Model]:
    """Random models; each next one has the most new features for its size."""
    tried = [random_model(seed, largest=20) for seed in range(N_TRIED)]
    tried += [random_model(seed, largest=9, theme="stages") for seed in range(N_STAGED)]
    left = [(features_of(model), model, len(model_to_bytes(model))) for model in tried if n_terms(model) < MOST_TERMS]
    left = [entry for entry in left if entry[2] <= LARGEST_NBYTES]
    seen: set = set()
    for _ in range(N_MODELS):
        best = max(range(len(left)), key=lambda i: len(left[i][0] - seen) / left[i][2])
        features, model, _ = left.pop(best)
        seen |= features
        yield model


def plain_model(
    hashes: RowHashes | PooledRows, projection: Projection | None = None, limits: tuple = (-127, 127)
) -> Model:
    """One output, one group of rows, one number a counter: what the fast paths take."""
    rng = np.random.default_rng(hashes.n_buckets)
    is_integer = hashes.width_bits is not None
    n_features = hashes.n_features if projection is None or projection.matrix is None else len(projection.matrix)
    scales = np.full(1, 30.0 if is_integer else 1.0, np.float32)
    inputs = Inputs(n_features, scales=scales, limits=limits if is_integer else None)
    shape = (hashes.n_rows, hashes.n_buckets, 1)
    counters = rng.integers(-7, 8, shape).astype(np.int8) if is_integer else rng.normal(size=shape).astype(np.float32)
    source = "projected" if projection is None or hashes.n_features == projection.n_components else "values"
    group = RowGroup(hashes, counters, np.ones(1, np.float32), "int4" if is_integer else "float32", source)
    linear = gain = None
    if source == "values":
        linear, gain = np.ones((projection.n_components, 1), np.int8), np.ones(1, np.float32)
    return Model(inputs, projection, (group,), np.zeros(1, np.float32), linear, gain)


def ternary(n_rows: int, n_buckets: int, n_features: int, n_concat: int = 1, fold: str = "universal", width_bits=None):
    """Rows of the paper's codes."""
    return RowHashes(lsh.L2(1.0), n_rows, n_buckets, n_features, n_concat, 7, fold, width_bits)


def integer_projection(n_values: int, n_components: int) -> Projection:
    """A matrix of small integers."""
    matrix = np.random.default_rng(n_components).integers(-1, 2, (n_values, n_components)).astype(np.int8)
    return Projection("ternary", n_components, matrix, right_shift=0, limit=200)


def fast_models() -> Iterator[Model]:
    """Small models for every fast path of native/rsk_*.inc."""
    for n_buckets, n_features, n_concat, width_bits in [
        (16, 3, 1, 8), (60, 20, 1, 8), (16, 6, 2, 4), (100, 20, 2, 5), (5000, 4, 1, 0), (16, 9, 3, 3),
    ]:  # fmt: skip
        n_rows = 1 if n_buckets > 4096 else 9
        yield plain_model(ternary(n_rows, n_buckets, n_features, n_concat, width_bits=width_bits))
        projection = integer_projection(5, n_features)
        yield plain_model(ternary(n_rows, n_buckets, n_features, n_concat, width_bits=width_bits), projection)
        yield plain_model(ternary(n_rows, min(n_buckets, 100), n_features, n_concat))
    yield plain_model(ternary(4, 16, 3, width_bits=4), integer_projection(3, 8))  # the rows read values
    yield plain_model(ternary(5, 30, 12, fold="direct", width_bits=3))
    for kind, n_levels in (("sparse", 0), ("sparse", 4), ("ternary", 0), ("ternary", 3)):
        pool = CodePool(kind, 12, 9, 5, n_levels, n_axes=2, is_seeded=True, width_bits=4, booleans=np.zeros(9, bool))
        indices = np.random.default_rng(0).integers(0, 12, (8, 2))
        yield plain_model(PooledRows(pool, 8, 2, indices))
        yield plain_model(PooledRows(pool, 6, 2, None))


def staged_model(*widths: int, n_outputs: int = 1) -> Model:
    """Stages of these widths, values first, with tables between them, and a linear term behind them."""
    rng, one = np.random.default_rng(widths[-1]), np.ones(1, np.float32)
    stages = []
    for n, p in pairwise(widths):
        matrix, tables = rng.integers(-7, 8, (n, p)).astype(np.int8), rng.integers(-127, 128, (p, 8)).astype(np.int8)
        multipliers, shift = rng.integers(1, 9, p).astype(np.uint8), rng.integers(-9, 9, p).astype(np.int8)
        stages.append(Stage(matrix, multipliers, shift, 8, 2, 2000, "table", tables, 6, 4, len(stages) % 2 == 1))
    inputs = Inputs(widths[0], scales=np.full(1, 30, np.float32), limits=(-127, 127))
    offset, linear = np.ones(n_outputs, np.float32), rng.integers(-9, 10, (widths[-1], n_outputs)).astype(np.int8)
    return Model(inputs, Stages(tuple(stages)), (), offset, linear, one)


def wide_models() -> Iterator[Model]:
    """Levels and sums that leave 16 bits, more coordinates than values, and wide stages."""
    yield staged_model(3, 16_385, 2)  # wider than a block may be
    yield staged_model(2, 4_000, 3, 5)
    yield staged_model(2, 3, n_outputs=2_000)  # outputs are most of the working memory
    yield plain_model(ternary(2, 40_000, 60, fold="direct", width_bits=0))
    yield plain_model(ternary(1, 65_536, 60, fold="direct", width_bits=0))
    yield plain_model(ternary(2, 32_000, 20, fold="direct", width_bits=0), limits=(-5000, 5000))
    pool = CodePool("ternary", 3, 60, 5, 40_000, is_seeded=True, width_bits=0, booleans=np.zeros(60, bool))
    yield plain_model(PooledRows(pool, 3, 1, None))
    yield plain_model(ternary(4, 8, 2, width_bits=4), integer_projection(2, 12_000))
    yield plain_model(ternary(3, 20, 2, width_bits=4), integer_projection(3000, 2))
    yield plain_model(ternary(3, 20, 300, 2))
    yield plain_model(ternary(200, 16, 40, 2, width_bits=4))
    yield plain_model(ternary(400, 16, 6, width_bits=4))  # more rows than sums of bytes hold before they are flushed
    # Sums of triples are most of the working memory: 18 coordinates behind a projection of values that are no bytes.
    yield plain_model(ternary(1, 16, 18, width_bits=4), integer_projection(5, 18), limits=(-5000, 5000))


CLASSES = [
    np.array([3, -7, 2**62]),
    np.array([0.5, -1e300, 0.0]),
    np.array(["no", "yes", "maybe – ä"]),
    np.array([False, True]),
    np.array([10, 20]),
]
METADATA = {
    "created": "2026-01-01",
    "teacher": {"kind": "mlp", "layers": [64, 32], "loss": 1.5e-3},
    "notes": ["ü", "tab\t", None, True, False, {"deep": [-0.0, 1e300]}],
}


def kernel_sketches() -> Iterator[Sketch]:
    """The paper's sketches with their sums, and compiled ones with labels and names."""
    rng = np.random.default_rng(0)
    families = [lsh.L2(1.0), lsh.L2(2.0, directions="gaussian"), lsh.Angular(), lsh.MinHash(), lsh.L1(1.5)]
    for i, (family, classes) in enumerate(zip(families, CLASSES, strict=True)):
        n_outputs = 1 if len(classes) == 2 else len(classes)
        sketch = Sketch.empty(family, 3 + i, 4 + 3 * i, 4, 1 + i % 2, n_outputs=n_outputs, debias=i != 1)
        sketch = sketch.add(rng.integers(0, 3, (9, 4)), rng.normal(size=(9, n_outputs)), progress=False)
        yield sketch
        yield replace(sketch, task="classification", classes=classes)
        names = tuple(f"column {j}" for j in range(4)) if i % 2 else ("x", "", "größe", "x" * 100)
        model = replace(sketch.model, task="classification", classes=classes, feature_names=names)
        yield CompiledSketch(model)
        X = rng.integers(0, 3, (20 if i % 2 else 450, 4))  # enough for a few levels, or for all and several bins
        yield sketch.with_intervals(X, rng.normal(size=(len(X), n_outputs)))
    yield replace(KernelSketch.empty(lsh.L2(1.0), 6, 4, 3, aggregate="median_of_means", n_groups=3), task="regression")


def write(folder: Path, name: str, files: list[bytes]) -> None:
    """Numbered files with these contents."""
    for i, content in enumerate(files):
        (folder / f"{name}{i:02}.rsk").write_bytes(content)
    sizes = [len(content) for content in files]
    print(f"write_seeds: {len(files)} files {name}*.rsk of {min(sizes)} to {max(sizes)} bytes")


def main(folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [model_to_bytes(model) for model in (*small_models(), *fast_models())]
    files += [sketch.to_bytes(METADATA if i % 3 else None) for i, sketch in enumerate(kernel_sketches())]
    write(folder, "seed", files)
    write(folder, "wide", [model_to_bytes(model) for model in wide_models()])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
