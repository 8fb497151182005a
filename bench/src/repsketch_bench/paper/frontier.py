"""Figure 2: what is left of the score when a model may keep a fifth, a tenth, ... a thousandth of all numbers.

Every method gets the same rows, the same budget in numbers and a handful of settings tried on the same validation rows.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from repsketch.errors import InputError
from repsketch.paper import KernelModel
from repsketch.paper.build import with_covering_bandwidth
from repsketch.sketch import KernelSketch
from repsketch.theory import Cost

from ..baselines import (
    Compared,
    distil_network,
    fit_boosted,
    fit_fourier,
    fit_linear,
    fit_nystroem,
    prune_gradually,
    prune_once,
    quantize_network,
)
from .case import PaperCase
from .settings import QUICK_REDUCTIONS, REDUCTIONS
from .stages import SIGN_BITS, distill_kernel, paper_sketch

#: (p, R, fold) of refitted sketches tried at every budget, one code a row, beside the paper's own p and K.
SHAPES = ((1, 16, "direct"), (2, 16, "direct"), (4, 16, "direct"), (4, 4, "universal"), (8, 4, "universal"),
          (16, 8, "universal"))  # fmt: skip
#: (p, K) of sketches as in the paper, 2^K buckets a row, beside its own.
PLAIN_SHAPES = ((2, 1), (4, 1))
QUICK_SHAPES, QUICK_PLAIN_SHAPES = ((2, 16, "direct"), (8, 4, "universal")), ((4, 1),)
MOST_COUNTERS, QUICK_COUNTERS = 2048, 512  # refitting more takes minutes; whether it would help is not known
MOST_PLAIN_ROWS = 2000  # of a sketch as in the paper, which says that more are seldom needed
MOST_FEATURES, QUICK_FEATURES = 1024, 256


def budgets(case: PaperCase) -> dict[int, int]:
    """Numbers allowed at each reduction."""
    sizes = case.settings.sizes
    total = Cost.of_mlp([sizes.n_features, *sizes.hidden, 1]).parameters
    return {reduction: total // reduction for reduction in (QUICK_REDUCTIONS if case.job.is_quick else REDUCTIONS)}


def sketch_job(case: PaperCase) -> dict[str, Any]:
    """Sketches as in the paper, and refitted ones with a linear term."""
    refitted, plain = _refitted_sketches(case), _plain_sketches(case)
    return {
        "sketch, as in the paper": {r: _best_sketch(case, plain(n)) for r, n in budgets(case).items()},
        "sketch, refitted": {r: _best_sketch(case, refitted(n)) for r, n in budgets(case).items()},
    }


def _plain_sketches(case: PaperCase) -> Callable[[int], Iterator[KernelSketch]]:
    """Sketches of sign bits of at most so many numbers, counters as Algorithm 1 adds them up."""
    sizes = case.settings.sizes

    @cache
    def sketch(p: int, n_concat: int, n_rows: int) -> KernelSketch:
        penalty = case.settings.norm_penalty(n_rows, 2**n_concat)
        options = {"n_components": p, "n_concat": n_concat, "norm_penalty": penalty}
        kernel = distill_kernel(case, family=SIGN_BITS, **options)
        return paper_sketch(case, kernel, n_rows=n_rows, n_buckets=2**n_concat)

    def sketches(n_numbers: int) -> Iterator[KernelSketch]:
        shapes = QUICK_PLAIN_SHAPES if case.job.is_quick else PLAIN_SHAPES
        for p, n_concat in (*shapes, (sizes.n_components, sizes.n_concat)):
            n_counters = n_numbers - (sizes.n_features + 1) * p  # what projection and shift leave
            n_rows = min(n_counters // 2**n_concat, MOST_PLAIN_ROWS)
            if n_rows >= 1:
                yield sketch(p, n_concat, n_rows)

    return sketches


def _refitted_sketches(case: PaperCase) -> Callable[[int], Iterator[KernelSketch]]:
    """Refitted sketches of at most so many numbers: each shape on the teacher's outputs, the best on labels as well."""
    sizes = case.settings.sizes
    X, _ = case.some
    wanted = case.labels.values[: len(X)]

    @cache
    def kernel(p: int, n_concat: int) -> KernelModel:
        return distill_kernel(case, n_components=p, n_concat=n_concat, linear=True, norm_penalty=1e-4)

    @cache
    def refitted(p: int, n_concat: int, n_buckets: int, fold: str, n_rows: int) -> KernelSketch:
        model = kernel(p, n_concat)
        model = with_covering_bandwidth(model, X, n_buckets) if fold == "direct" else model
        sketch = paper_sketch(case, model, n_rows=n_rows, n_buckets=n_buckets, fold=fold)
        return sketch.refit(X, wanted, progress=False)

    @cache
    def mixed(best: KernelSketch) -> KernelSketch:
        return best.refit(X, case.mixture, progress=False)

    def shapes() -> Iterator[tuple[int, int, int, str, int]]:
        most = QUICK_COUNTERS if case.job.is_quick else MOST_COUNTERS
        for p, n_buckets, fold in QUICK_SHAPES if case.job.is_quick else SHAPES:
            yield p, 1, n_buckets, fold, most // n_buckets
        if not case.job.is_quick:
            yield sizes.n_components, sizes.n_concat, 2**sizes.n_concat, "universal", sizes.n_rows

    def sketches(n_numbers: int) -> Iterator[KernelSketch]:
        tried = []
        for p, n_concat, n_buckets, fold, most_rows in shapes():
            n_counters = n_numbers - (sizes.n_features + 2) * p  # what projection, shift and linear term leave
            n_rows = min(n_counters // n_buckets, most_rows)
            if n_rows >= 1:
                tried.append(refitted(p, n_concat, n_buckets, fold, n_rows))
        yield from tried
        if tried:
            yield mixed(max(tried, key=case.valid_score))

    return sketches


def _best_sketch(case: PaperCase, sketches: Iterable[KernelSketch]) -> dict[str, Any]:
    """The best of some sketches on the validation rows, as it does on the test rows."""
    tried = list(sketches)
    if not tried:
        return {"reason": "no sketch is so small"}
    best = max(tried, key=case.valid_score)
    small, cost = best.quantize(case.some[0]), best.cost()
    return {
        "score": case.test_score(best.outputs),
        "n_numbers": cost.parameters,
        "flops": cost.paper_flops,
        "nbytes": len(small.to_bytes()),
        "int8_score": case.test_score(small.outputs),
        "settings": {"n_rows": best.n_rows, "n_buckets": best.n_buckets, "n_tried": len(tried)},
    }


def pruning_job(case: PaperCase) -> dict[str, Any]:
    """One-time and multi-time pruning."""
    options = _options(case) | case.settings.pruning
    shares = {reduction: 1.0 / reduction for reduction in budgets(case)}
    gradual = prune_gradually(case.network, *case.some, list(shares.values()), **options)
    once = (prune_once(case.network, *case.some, share, **options) for share in shares.values())
    return {
        "pruned once": {r: _entry(case, model) for r, model in zip(shares, once, strict=True)},
        "pruned gradually": {r: _entry(case, model) for r, model in zip(shares, gradual, strict=True)},
    }


def distilled_job(case: PaperCase) -> dict[str, Any]:
    """Knowledge distillation into smaller networks."""
    X, y = case.some
    outputs = case.outputs(case.network, X)
    options = _options(case) | case.settings.distilled
    return {"distilled": _each(case, lambda n: distil_network(outputs, X, y, n, **options))}


def others_job(case: PaperCase) -> dict[str, Any]:
    """Beyond the paper: features + ridge, boosted trees of equal bytes, a linear model, the int8 network."""
    X, y = case.some
    options = _options(case)
    d = case.settings.sizes.n_features
    most = QUICK_FEATURES if case.job.is_quick else MOST_FEATURES
    found: dict[str, Any] = {
        "Fourier features, seeded": _each(case, lambda n: fit_fourier(X, y, n, **options), most + d + 1),
        "Nyström": _each(case, lambda n: fit_nystroem(X, y, n, **options), most * (d + 1)),
        "LightGBM": _each(case, lambda n: fit_boosted(X, y, 4 * n, **options)),
    }
    linear = _entry(case, fit_linear(X, y, **options))
    found["linear"] = {r: linear for r, n in budgets(case).items() if linear["n_numbers"] <= n}
    found["int8 network"] = _entry(case, quantize_network(case.network, X[:2000]))
    return found


def _options(case: PaperCase) -> dict[str, Any]:
    return {"task": case.task, "validation": case.valid, "random_state": case.job.seed, "progress": False}


def _each(case: PaperCase, fit: Callable[[int], Compared], most: int | None = None) -> dict[int, Any]:
    """What ``fit`` makes of each budget, in numbers and at most ``most``; budgets above it are fitted once."""

    @cache
    def entry(n_numbers: int) -> dict[str, Any]:
        try:
            return _entry(case, fit(n_numbers))
        except InputError as error:  # nothing of this kind is so small
            return {"reason": str(error)}

    return {reduction: entry(min(n, most or n)) for reduction, n in budgets(case).items()}


def _entry(case: PaperCase, model: Compared) -> dict[str, Any]:
    settings = {name: value for name, value in model.settings.items() if isinstance(value, (int, float, str, list))}
    return {
        "score": case.test_score(model.predict),
        "n_numbers": int(model.n_numbers),
        "flops": float(model.flops),
        "nbytes": int(model.nbytes),
        "settings": {name: np.asarray(value).tolist() for name, value in settings.items()},
    }
