"""Tolerances of the statistical tests, each from a formula, and what one row of a sketch estimates.

Seeds are fixed, so a test that passes once passes always; the formulas make sure that it passes
because the library is right and not because a tolerance was picked to fit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

#: Probability that a check rejects a correct library, over the seeds it might have been given.
PROBABILITY = 1e-6


@pytest.fixture(scope="session")
def rate_agrees() -> Callable[[int, int, float], bool]:
    """Whether ``hits`` out of ``trials`` fit a probability."""
    return _rate_agrees


def _rate_agrees(hits: int, trials: int, probability: float) -> bool:
    """Bernstein at 1e-6: P(|hits/n - p| >= t) <= 2 exp(-n t**2 / (2 p (1 - p) + 2 t / 3)).

    Solved for t, with b = ln(2 / 1e-6) / n: t = b/3 + sqrt(b**2 / 9 + 2 p (1 - p) b). It is 5.4
    standard deviations of the binomial, and unlike these it holds for rare events too.
    """
    b = np.log(2.0 / PROBABILITY) / trials
    tolerance = b / 3.0 + np.sqrt(b**2 / 9.0 + 2.0 * probability * (1.0 - probability) * b)
    return bool(abs(hits / trials - probability) < tolerance)


@pytest.fixture(scope="session")
def mean_agrees() -> Callable[[np.ndarray, Any], np.ndarray]:
    """Whether means over the first axis of independent draws fit their expectations."""
    return _mean_agrees


def _mean_agrees(values: np.ndarray, expected: Any) -> np.ndarray:
    """Five standard errors: |mean - expected| <= 5 s / sqrt(n), s the standard deviation of the draws."""
    standard_error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return np.abs(values.mean(axis=0) - expected) <= 5.0 * standard_error


@pytest.fixture(scope="session")
def counts_agree() -> Callable[[np.ndarray, np.ndarray], bool]:
    """Whether counts of outcomes fit their probabilities."""
    return _counts_agree


def _counts_agree(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    """Pearson: sum (count - n p)**2 / (n p) stays below the 1 - 1e-6 quantile of chi-square, outcomes - 1 degrees."""
    expected = counts.sum() * probabilities
    statistic = ((counts - expected) ** 2 / expected).sum()
    return bool(statistic < stats.chi2.isf(PROBABILITY, counts.size - 1))


@pytest.fixture(scope="session")
def distribution_agrees() -> Callable[[np.ndarray, Callable], bool]:
    """Whether draws fit a continuous distribution function."""
    return _distribution_agrees


def _distribution_agrees(draws: np.ndarray, distribution: Callable) -> bool:
    """Kolmogorov-Smirnov distance below sqrt(ln(2 / 1e-6) / (2 n)) (Dvoretzky, Kiefer, Wolfowitz; Massart)."""
    n = draws.size
    heights = distribution(np.sort(draws, axis=None).astype(np.float64))
    steps = np.arange(n + 1) / n
    distance = max((steps[1:] - heights).max(), (heights - steps[:-1]).max())
    return bool(distance < np.sqrt(np.log(2.0 / PROBABILITY) / (2.0 * n)))


@pytest.fixture(scope="session")
def row_counters() -> Callable[..., np.ndarray]:
    """The counter each row gives a query, float64 (L, n, C)."""
    return _row_counters


@pytest.fixture(scope="session")
def row_estimates() -> Callable[..., np.ndarray]:
    """The estimate each row would give alone, float64 (L, n, C): rows are independent, so L draws of one."""
    return lambda sketch, queries: _row_counters(sketch, queries) * sketch.gain + sketch.offset


def _row_counters(sketch: Any, queries: np.ndarray) -> np.ndarray:
    buckets = sketch.buckets(queries).T
    return sketch.counters[np.arange(sketch.n_rows)[:, None], buckets].astype(np.float64)
