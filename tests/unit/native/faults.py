"""Run by test_faults.py with the library built for it: every allocation and thread start fails once, in turn.

A failure must be a MemoryError, or fewer threads and the same outputs; the next call must work. Prints how many of
each there were. The address sanitizer ends the process at any wrong access.
"""

import importlib.machinery
import importlib.util
import sys
import threading
from collections import Counter

import numpy as np
import scipy.sparse as sp

F = np.float32
N, D = 700, 40


def load(path: str):
    """The library, in place of the one that is installed."""
    loader = importlib.machinery.ExtensionFileLoader("repsketch._native", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(loader.name, path, loader=loader))
    loader.exec_module(module)
    sys.modules[loader.name] = module
    return module


native = load(sys.argv[1]) if __name__ == "__main__" else None  # pytest only looks for doctests here

from repsketch import lsh  # noqa: E402
from repsketch.io import model_to_bytes  # noqa: E402
from repsketch.lsh import RowHashes  # noqa: E402
from repsketch.model.inputs import Inputs  # noqa: E402
from repsketch.model.model import Model  # noqa: E402
from repsketch.model.rows import RowGroup  # noqa: E402


def make_file() -> bytes:
    hashes = RowHashes(lsh.L2(4.0), 30, 8, D, 2, seed=4)
    group = RowGroup(hashes, (np.arange(240) % 120).reshape(30, 8, 1).astype(np.int8), np.full(1, 0.1, F), "int8")
    return model_to_bytes(Model(Inputs(D), None, (group,), np.zeros(1, F)))


FILE = make_file()
X = np.random.default_rng(0).normal(size=(N, D)).astype(F)
X[X < 0.2] = 0.0
CSR = sp.csr_matrix(X)
LONG = (CSR.data, CSR.indptr.astype(np.int64), CSR.indices.astype(np.int64))


def predict(model, rows, n_threads):
    out = np.empty((len(rows), 1), F)
    model.predict(rows, out, n_threads)
    return out


def predict_sparse(model, arrays, n_threads):
    out = np.empty((N, 1), F)
    model.predict_sparse(*arrays, out, n_threads)
    return out


def predict_each(model):
    out = np.empty((N, 1), F)
    model.predict_each(X, out)
    return out


def trace(model, one_by_one):
    out, buckets, sums = np.empty((N, 1), F), np.empty((N, 30), np.int32), np.empty((N, 1, 1), np.int32)
    model.trace(X, out, buckets, sums, one_by_one)
    return np.hstack([out, buckets])


def train():
    rng = np.random.default_rng(1)
    gains, codes = np.zeros(3), np.array([0, 3], np.uint32)
    starts, rows, bins = np.array([0, 50], np.uint64), np.arange(50, dtype=np.uint32), np.ones(50, np.uint8)
    buckets, numbers = np.zeros(N, np.uint8), rng.normal(size=(N, 2)).astype(F)
    none = np.zeros(1, np.uint8)
    native.train_gains(starts, rows, bins, none, codes, none, buckets, 1, numbers, 1.0, gains)
    values, outputs, slope = np.zeros((2, 4, 1)), np.zeros((N, 1)), rng.normal(size=(N, 1))
    chosen = rng.integers(0, 4, (2, N)).astype(np.uint8)
    native.train_fit_rows(chosen, np.zeros((2, 4, 1)), values, outputs, slope, np.ones((N, 1)), 1.0, 1.0, 0.1, 10.0)
    u, v, kernel = np.zeros((1, 2, 1, 16), F), np.zeros((1, 3, 1, 16), F), np.zeros((2, 3), F)
    native.kernel_forward(u, v, kernel)
    native.kernel_backward(u, v, kernel, np.empty_like(u), np.empty_like(v))
    native.draw_ternary(1, np.zeros((2, 2, 5), np.int8))
    return np.concatenate([gains, values.ravel(), kernel.ravel()])


def refused(model):
    """Rows that are refused, by several threads."""
    bad, errors = X.copy(), []
    bad[600, 3] = np.nan
    wrong = CSR.indices.copy()
    wrong[CSR.indptr[600]] = D
    for call in (
        lambda: predict(model, bad, 4),
        lambda: predict_sparse(model, (CSR.data, CSR.indptr, wrong), 4),
        lambda: native.Model(FILE[:-1], len(FILE)),
    ):
        try:
            call()
        except ValueError as error:
            errors.append((type(error).__name__, str(error)))
    return errors


def scenario() -> list:
    model = native.Model(FILE, len(FILE))
    found = [predict(model, X, n) for n in (1, 2, 4)] + [predict(model, np.ones((N, D), np.uint8), 3)]
    found += [predict_sparse(model, (CSR.data, CSR.indptr, CSR.indices), n) for n in (1, 4)]
    found += [predict_sparse(model, LONG, 4), predict_each(model), np.array([model.output_of(row) for row in X[:3]])]
    found += [trace(model, False), trace(model, True), train()]
    return [array.tobytes() for array in found] + refused(model)


def in_a_new_thread(function):
    """Its result or its exception. The library keeps working memory for each thread: a new one has none."""
    found = []

    def call():
        try:
            found.append(function())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return found[0]


def main() -> None:
    expected = in_a_new_thread(scenario)
    assert isinstance(expected, list), expected
    assert expected[-3:] == [("NotFinite", "600 3"), ("NotCsr", "600"), ("ValueError", expected[-1][1])], expected[-3:]
    native.fail_at()
    in_a_new_thread(scenario)
    n_allocations, n_starts = native.counts()
    outcomes: Counter[str] = Counter()
    for kind, n in (("allocation", n_allocations), ("start", n_starts)):
        for place in range(1, n + 1):
            native.fail_at(**{kind: place})
            found = in_a_new_thread(scenario)
            native.fail_at()
            outcomes[f"{kind}: {'as ever' if found == expected else type(found).__name__}"] += 1
            assert found == expected or isinstance(found, MemoryError), (kind, place, found)
            assert in_a_new_thread(scenario) == expected, (kind, place)
    scribbled()
    print(n_allocations, n_starts, dict(outcomes))


def scribbled() -> None:
    """Arrays overwritten between the check and the prediction, where there is no lock: only the copy is read."""
    model = native.Model(FILE, len(FILE))
    for kind in (np.int32, np.int64):
        few = sp.csr_matrix(X[:64])  # one piece: the rest would be refused when it is read
        ends, columns, out = few.indptr.astype(kind), few.indices.astype(kind), np.empty((64, 1), F)
        native.scribble(True)
        model.predict_sparse(few.data, ends, columns, out, 1)
        native.scribble(False)
        assert not np.array_equal(ends, few.indptr)
        assert np.array_equal(out, predict(model, X[:64], 1))
        ends, columns, out = LONG[1].astype(kind), LONG[2].astype(kind), np.empty((N, 1), F)
        native.scribble(True)
        try:
            model.predict_sparse(CSR.data, ends, columns, out, 4)
            raise AssertionError("the second piece was not refused")
        except native.NotCsr:
            native.scribble(False)


if __name__ == "__main__":
    main()
