"""Write about sixty small good .rsk files of every kind into a folder: what ``mutate`` and ``test_predict`` start from.

Run as ``write_seeds.py DIR``. The same files every time; ``make sanitize`` writes them into build/sanitize/seeds.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from repsketch import lsh
from repsketch.io import form_to_bytes, to_bytes
from repsketch.lsh.pool import PooledRows
from repsketch.sketch import Form, KernelSketch, Sketch
from repsketch.sketch.sketch import CompiledSketch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "parity"))
from forms import random_form

N_FORMS, N_TRIED = 44, 500
LARGEST_NBYTES, MOST_TERMS = 4096, 1500  # small files and short predictions: more inputs a second
TABLE_WIDTH_BITS = 8  # where native/rsk_plan.c looks counters up by a byte


def features_of(form: Form) -> set:
    """What the form has that some line of the runtime asks for, and all pairs of such things."""
    inputs, projection = form.inputs, form.projection
    whole = {
        ("precision", form.precision),
        ("projection", None if projection is None else projection.kind),
        ("columns", inputs.columns is not None),
        ("kinds", inputs.has_one_kind, inputs.n_numeric == 0),
        ("missing", inputs.accepts_missing),
        ("stored", inputs.stored_as if inputs.scales is not None else None, inputs.centers is not None),
        ("linear", None if form.linear is None else str(form.linear.dtype)),
        ("parts", len(form.parts) > 1),
        ("outputs", form.n_outputs > 1),
    }
    found = set()
    for part in form.parts:
        hashes = part.hashes
        is_pool = isinstance(hashes, PooledRows)
        decode = (part.shared_decode is not None, part.row_decode is not None)
        own = {
            ("hash", hashes.pool.kind if is_pool else repr(hashes.family)),
            ("fold", "indices" if is_pool and hashes.indices is not None else is_pool or hashes.fold),
            ("levels", is_pool and (hashes.pool.is_binary, hashes.interpolate, hashes.pool.is_seeded)),
            ("counters", part.counter_type),
            ("reading", part.aggregate, part.n_groups > 1, decode),
            ("source", part.source),
            ("table", hashes.width_bits == TABLE_WIDTH_BITS, hashes.n_buckets <= 16, hashes.n_concat == 1),
        }
        found |= {frozenset(pair) for pair in combinations(whole | own, 2)}
    return found


def n_terms(form: Form) -> int:
    """Terms and counters a prediction adds up, about."""
    n_codes = sum(part.n_rows * (part.hashes.n_concat * part.hashes.n_features + form.n_outputs) for part in form.parts)
    return n_codes + form.inputs.n_values * form.n_coordinates


def small_forms() -> Iterator[Form]:
    """Random forms, the next one always that of the tried ones with most that is new for its size."""
    tried = [random_form(seed, largest=20) for seed in range(N_TRIED)]
    left = [(features_of(form), form, len(form_to_bytes(form))) for form in tried if n_terms(form) < MOST_TERMS]
    left = [entry for entry in left if entry[2] <= LARGEST_NBYTES]
    seen: set = set()
    for _ in range(N_FORMS):
        best = max(range(len(left)), key=lambda i: len(left[i][0] - seen) / left[i][2])
        features, form, _ = left.pop(best)
        seen |= features
        yield form


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
        form = replace(sketch.form, task="classification", classes=classes, feature_names=names)
        yield CompiledSketch(form)
    yield replace(KernelSketch.empty(lsh.L2(1.0), 6, 4, 3, aggregate="median_of_means", n_groups=3), task="regression")


def main(folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [form_to_bytes(form) for form in small_forms()]
    files += [to_bytes(sketch, METADATA if i % 3 else None) for i, sketch in enumerate(kernel_sketches())]
    for i, content in enumerate(files):
        (folder / f"seed{i:02}.rsk").write_bytes(content)
    sizes = [len(content) for content in files]
    print(f"{len(files)} files of {min(sizes)} to {max(sizes)} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
