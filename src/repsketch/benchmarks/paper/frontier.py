"""Figure 2: what is left of the score when a model may keep a fifth, a tenth, ... a thousandth of all numbers.

Every method gets the same rows, the same budget in numbers and a handful of settings tried on the same validation rows.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...baselines import (
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
from ...errors import InputError
from ...io import to_bytes
from ...sketch import build_sketch
from ...theory import Cost
from .case import PaperCase
from .settings import QUICK_REDUCTIONS, REDUCTIONS
from .stages import distill_kernel

#: (p, R) of the sketches tried at every budget, one code a row; the rest of the numbers are rows.
SHAPES = ((2, 16), (4, 4), (4, 16), (8, 4), (8, 16), (16, 8))
QUICK_SHAPES = ((4, 4), (8, 16))
FEWEST_ROWS = 4
MOST_COUNTERS, QUICK_COUNTERS = 2048, 512  # refitting more takes minutes; whether it would help is not known
MOST_FEATURES, QUICK_FEATURES = 2048, 256


def budgets(case: PaperCase) -> dict[int, int]:
    """Numbers allowed at each reduction."""
    sizes = case.settings.sizes
    total = Cost.of_mlp([sizes.n_features, *sizes.hidden, 1]).parameters
    return {reduction: total // reduction for reduction in (QUICK_REDUCTIONS if case.job.is_quick else REDUCTIONS)}


def sketch_job(case: PaperCase) -> dict[str, Any]:
    """Refitted sketches with a linear term; shape by validation among a few."""
    X, _ = case.some
    wanted = case.labels.values[: len(X)]
    mixture = 0.5 * (wanted + case.targets[: len(X), None])
    X_valid, y_valid = case.valid
    best_of = max if case.task == "classification" else min
    kernels: dict[int, Any] = {}
    found = {}
    for reduction, n_numbers in budgets(case).items():
        tried = []
        for p, n_buckets in QUICK_SHAPES if case.job.is_quick else SHAPES:
            # d p projection, p shift, p linear; what is left are counters.
            n_counters = n_numbers - (case.settings.sizes.n_features + 2) * p
            n_rows = min(n_counters, QUICK_COUNTERS if case.job.is_quick else MOST_COUNTERS) // n_buckets
            if n_rows < FEWEST_ROWS:
                continue
            if p not in kernels:
                kernels[p] = distill_kernel(
                    case, n_components=p, n_concat=1, linear=True, kernel="closed_form", norm_penalty=3e-4
                )
            blank = build_sketch(kernels[p], n_rows, n_buckets, random_state=case.job.seed, progress=False)
            sketch = blank.refit(X, wanted, progress=False)
            tried.append((case.score(sketch.outputs(X_valid), y_valid), p, n_buckets, sketch))
        if tried:
            score, p, n_buckets, sketch = best_of(tried, key=lambda entry: entry[0])
            mixed = sketch.refit(X, mixture, progress=False)
            mixed_score = case.score(mixed.outputs(X_valid), y_valid)
            if best_of(score, mixed_score) != score:
                sketch = mixed
            cost = sketch.cost()
            settings = {"n_components": p, "n_buckets": n_buckets, "n_rows": sketch.n_rows, "n_tried": len(tried) + 1}
            small = sketch.quantize(X)
            found[reduction] = {
                "score": case.test_score(sketch.outputs),
                "n_numbers": cost.parameters,
                "flops": cost.paper_flops,
                "nbytes": len(to_bytes(small)),
                "int8_score": case.test_score(small.outputs),
                "settings": settings,
            }
    return {"sketch, refitted": found}


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
        "Fourier features, seeded": _each(case, lambda n: fit_fourier(X, y, min(n, most + d + 1), **options)),
        "Nyström": _each(case, lambda n: fit_nystroem(X, y, min(n, most * (d + 1)), **options)),
        "LightGBM": _each(case, lambda n: fit_boosted(X, y, 4 * n, **options)),
    }
    linear, int8 = fit_linear(X, y, **options), quantize_network(case.network, X[:2000])
    found["linear"] = {0: _entry(case, linear)}
    found["int8 network"] = {0: _entry(case, int8)}
    return found


def _options(case: PaperCase) -> dict[str, Any]:
    return {"task": case.task, "validation": case.valid, "random_state": case.job.seed, "progress": False}


def _each(case: PaperCase, fit: Callable[[int], Compared]) -> dict[int, Any]:
    return dict(_entries(case, fit))


def _entries(case: PaperCase, fit: Callable[[int], Compared]) -> Iterator[tuple[int, Any]]:
    for reduction, n_numbers in budgets(case).items():
        try:
            yield reduction, _entry(case, fit(n_numbers))
        except InputError as error:  # nothing of this kind is so small
            yield reduction, {"reason": str(error)}


def _entry(case: PaperCase, model: Compared) -> dict[str, Any]:
    settings = {name: value for name, value in model.settings.items() if isinstance(value, (int, float, str, list))}
    return {
        "score": case.test_score(model.predict),
        "n_numbers": int(model.n_numbers),
        "flops": float(model.flops),
        "nbytes": int(model.nbytes),
        "settings": {name: np.asarray(value).tolist() for name, value in settings.items()},
    }
