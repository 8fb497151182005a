"""Beyond the paper: choose the counters that predict best, with the hashes as they are.

A query reads one counter a row, so its output is linear in the counters: the design matrix has one
column a bucket and L ones a row. Ridge regression on these indicators gives the best counters in the
least-squares sense; the ridge strength is chosen on validation rows. Refitted counters are no
longer sums of weights: unbiasedness and the 1/sqrt(L) law of Theorems 1 and 2 are given up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..checks import check_number
from ..data.arrays import as_outputs, as_table, check_not_empty, check_width, iterate_blocks, sample_rows
from ..errors import InputError, require
from ..lsh.generator import resolve_seed
from ..model.oracle import buckets, coordinates
from ..progress import progress_bar, track
from .kernel_counters import SAMPLE_ROWS, KernelCounters

State = TypeVar("State", bound=KernelCounters)

#: Ridge strengths to try, as multiples of the number of rows.
STRENGTHS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
_LARGEST_SYSTEM = 16_384  # unknowns of the dense system: 2 GiB
_BLOCK_CELLS = 1 << 25  # indicator cells built at once


def refit(
    sketch: State,
    X: Any,
    targets: Any,
    *,
    strengths: Sequence[float] = STRENGTHS,
    validation_fraction: float = 0.2,
    random_state: Any = 0,
    progress: bool = True,
) -> State:
    """The sketch with counters fitted to ``targets`` by ridge regression, hashes unchanged.

    The result averages its rows: a median of means has no meaning for counters fitted together.

    Parameters
    ----------
    X : (n, d) inputs
    targets : (n,) or (n, C), for example the teacher's outputs
    strengths : ridge strengths to try, as multiples of n; the best on the validation rows is used on all rows
    validation_fraction : share of validation rows

    >>> import numpy as np
    >>> from repsketch import lsh, Sketch
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> blank = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=40, n_buckets=8, n_features=2)
    >>> fitted = refit(blank, X, X[:, 0])
    >>> bool(np.abs(fitted.predict(X) - X[:, 0]).mean() < 0.2)
    True
    """
    table = as_table(X)
    check_not_empty(table)
    wanted = as_outputs(targets, table.shape[0])
    sketch.check_columns(wanted)
    if np.ndim(strengths) != 1 or len(strengths) == 0:
        raise InputError(f"strengths={strengths!r}; allowed is a list of finite numbers above 0, at least one.")
    strengths = [check_number("each of strengths", strength, 0.0, open_ends=True) for strength in strengths]
    check_number("validation_fraction", validation_fraction, 0.0, 1.0, open_ends=True)
    seed = resolve_seed(random_state)
    n = len(wanted)
    size = min(n, sketch.n_rows * sketch.n_buckets)
    if size > _LARGEST_SYSTEM:
        raise InputError(
            f"refit of {sketch.n_rows} x {sketch.n_buckets} counters on {n} rows solves for {size} unknowns; "
            f"allowed are {_LARGEST_SYSTEM}. Use fewer counters, or fewer rows of X."
        )
    cells = _cells(sketch, table)
    if sketch.linear is not None:
        wanted = wanted - _linear_term(sketch, sketch.linear, table)
    order = np.random.default_rng([seed, 3]).permutation(n)
    n_validation = int(n * validation_fraction)
    validation, train = order[:n_validation], order[n_validation:]
    strength, counted = strengths[0], None
    if len(strengths) > 1 and n_validation >= 5:
        width = sketch.n_rows * sketch.n_buckets
        if width <= len(train):  # the counts of the training rows are used again for all rows
            counted = _gram_of_buckets(cells[train], width, progress)
        strength, least, n_worse = strengths[0], np.inf, 0
        ordered = sorted(strengths, reverse=True)
        for tried, trial in zip(
            ordered, _ridge(cells[train], wanted[train], ordered, sketch, counted, progress), strict=False
        ):
            error = ((_read(cells[validation], trial) - wanted[validation]) ** 2).mean()
            n_worse += 1
            if error < least:
                strength, least, n_worse = tried, error, 0
            if n_worse == 2:
                break  # weaker regularisation overfits more
    elif len(strengths) > 1:
        strength = sorted(strengths)[len(strengths) // 2]  # too few rows for a validation set: the middle one
    if counted is not None:
        counted += _gram_of_buckets(cells[validation], len(counted), progress)
    counters = next(_ridge(cells, wanted, [strength], sketch, counted, progress))
    shaped = counters.reshape(sketch.n_rows, sketch.n_buckets, -1).astype(np.float32)
    return replace(
        sketch,
        sums=None,
        fitted=shaped,
        output_scale=1.0,
        output_bias=0.0,
        n_groups=1,
        sample=sample_rows(table, SAMPLE_ROWS),
    )


def _cells(sketch: KernelCounters, table: Any) -> np.ndarray:
    """Columns of the indicator matrix that are 1, for each row of X and each row of the sketch; (n, L)."""
    check_width(table, sketch.n_features)
    found = np.concatenate([buckets(sketch.model, block) for _, block in iterate_blocks(table)])
    return found + np.arange(sketch.n_rows, dtype=np.int32) * sketch.n_buckets


def _linear_term(sketch: KernelCounters, linear: np.ndarray, table: Any) -> np.ndarray:
    blocks = [
        coordinates(sketch.model, block).projected.T.astype(np.float64) @ linear for _, block in iterate_blocks(table)
    ]
    return np.concatenate(blocks)


def _read(cells: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """Mean over the sketch's rows of the counters (L * R, C) that ``cells`` (n, L) name, (n, C)."""
    total = np.zeros((len(cells), counters.shape[1]))
    for column in cells.T:
        total += counters[column]
    return total / cells.shape[1]


def _indicators(cells: np.ndarray, width: int) -> Iterator[np.ndarray]:
    """Dense float32 blocks of the indicator matrix, one after the other."""
    at_once = max(1, _BLOCK_CELLS // width)
    for start in range(0, len(cells), at_once):
        block = cells[start : start + at_once]
        slab = np.zeros((len(block), width), np.float32)
        np.put_along_axis(slab, block.astype(np.int64), 1.0, axis=1)
        yield slab


def _ridge(
    cells: np.ndarray,
    wanted: np.ndarray,
    strengths: Sequence[float],
    sketch: KernelCounters,
    counted: np.ndarray | None,
    progress: bool,
) -> Iterator[np.ndarray]:
    """Counters (L * R, C) for each strength in turn: argmin sum (mean of read counters - wanted)**2 + penalty.

    Solved for c / L, with c the counters less the mean of ``wanted``. The smaller of the two equivalent systems is
    solved: (H'H + s) in the buckets or (HH' + s) in the rows. ``counted`` is H'H if it is known; it is not changed.
    """
    linalg = require("scipy.linalg", "train")
    n_rows, width = sketch.n_rows, sketch.n_rows * sketch.n_buckets
    middle = wanted.mean(axis=0)
    centred = wanted - middle
    n = len(cells)
    moment = np.zeros((width, wanted.shape[1]))
    for column in cells.T:
        for output in range(wanted.shape[1]):
            moment[:, output] += np.bincount(column, centred[:, output], width)
    in_buckets = width <= n
    if counted is not None:
        gram = counted.copy()
    else:
        gram = (_gram_of_buckets if in_buckets else _gram_of_rows)(cells, width, progress)
    diagonal = np.diag_indices_from(gram)
    base = gram[diagonal].copy()
    for strength in strengths:
        gram[diagonal] = base + strength * n
        factor = linalg.cho_factor(gram, lower=True)
        if in_buckets:
            solution = linalg.cho_solve(factor, moment)
        else:
            dual = linalg.cho_solve(factor, centred)
            solution = np.zeros_like(moment)
            for column in cells.T:
                np.add.at(solution, column, dual)
        yield solution * n_rows + middle


def _gram_of_buckets(cells: np.ndarray, width: int, progress: bool) -> np.ndarray:
    """H'H: how often two buckets occur together; exact, since float32 counts below 2**24 are."""
    gram = np.zeros((width, width))
    with progress_bar("refitting", total=len(cells), enabled=progress) as bar:
        for slab in _indicators(cells, width):
            gram += slab.T @ slab
            bar.advance(len(slab))
    return gram


def _gram_of_rows(cells: np.ndarray, width: int, progress: bool) -> np.ndarray:
    """HH': in how many rows of the sketch two inputs share their bucket; exact in float32 below 2**24 rows."""
    n, n_rows = cells.shape
    n_buckets = width // n_rows
    at_once = max(1, _BLOCK_CELLS // (n * n_buckets))
    gram = np.zeros((n, n), np.float32)
    for start in track(range(0, n_rows, at_once), "refitting", -(-n_rows // at_once), enabled=progress):
        block = cells[:, start : start + at_once].astype(np.int64) - start * n_buckets
        slab = np.zeros((n, block.shape[1] * n_buckets), np.float32)
        np.put_along_axis(slab, block, 1.0, axis=1)
        gram += slab @ slab.T
    return gram.astype(np.float64)
