"""The additive state of a sketch: sums of weights in 64-bit fixed point.

Weights are rounded once to integer multiples of ``step``; after that every operation is integer
arithmetic. So the counters are the same bytes for any order, batching or partitioning of the points,
and subtracting undoes adding exactly.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log2

import numpy as np

from ..checks import check_number
from ..display import repr_of_fields
from ..errors import InputError, MergeError

DEFAULT_STEP = 2.0**-32  # weights to 2e-10, sums up to 1e9
_EXACT = 2.0**53  # float64 adds integers exactly up to here
_LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class Counters:
    """Sums of weights in units of ``step``.

    Attributes
    ----------
    sums : (L, R, C) int64
    total : (C,) int64, sum of all weights
    """

    sums: np.ndarray
    total: np.ndarray
    step: float

    __repr__ = repr_of_fields

    @classmethod
    def zeros(cls, n_rows: int, n_buckets: int, n_outputs: int, step: float = DEFAULT_STEP) -> "Counters":
        """No points yet."""
        if log2(check_number("weight_step", step, 2.0**-1000, 2.0**1000)) % 1:
            raise InputError(f"weight_step={step!r}; allowed is a power of two, such as 2**-32.")
        return cls(np.zeros((n_rows, n_buckets, n_outputs), np.int64), np.zeros(n_outputs, np.int64), step)

    @property
    def values(self) -> np.ndarray:
        """The sums as numbers, float64 (L, R, C)."""
        return self.sums * self.step

    def round(self, weights: np.ndarray) -> np.ndarray:
        """Weights (n, C) in integer steps, as float64 that holds integers."""
        with np.errstate(over="ignore"):
            steps = np.rint(weights / self.step)
        largest = np.abs(steps).max(initial=0.0)
        if largest >= _EXACT:
            raise InputError(
                f"a weight of {np.abs(weights).max():.3g} with weight_step={self.step:.3g}; allowed is less than "
                f"{_EXACT * self.step:.3g}. Scale the weights down or start from a larger weight_step."
            )
        return steps

    def rows_at_once(self, steps: np.ndarray) -> int:
        """Number of points that can be summed in float64 without rounding."""
        return max(1, int((_EXACT - 1) // max(1.0, np.abs(steps).max(initial=0.0))))

    def plus(self, sums: np.ndarray, total: np.ndarray) -> "Counters":
        """These counters with other sums and their total (same step) added."""
        # Both sides are below 2**62, so that the int64 sum cannot wrap around before it is checked.
        return self._checked(self.sums + sums, self.total + total)

    def times(self, factor: float) -> "Counters":
        """All sums multiplied by ``factor`` and rounded to integer steps, half to even, exactly."""
        above, below = check_number("factor", factor).as_integer_ratio()
        sums, total = (
            np.array([round(Fraction(int(value) * above, below)) for value in array.ravel()], object).reshape(
                array.shape
            )
            for array in (self.sums, self.total)
        )
        return self._checked(sums, total)

    def _checked(self, sums: np.ndarray, total: np.ndarray) -> "Counters":
        if max(np.abs(array).max() for array in (sums, total)) >= _LARGEST:
            raise MergeError(
                f"a sum of weights would pass {_LARGEST * self.step:.3g}, what 64 bits hold with "
                f"weight_step={self.step:.3g}; start from a larger weight_step."
            )
        return replace(self, sums=sums.astype(np.int64), total=total.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Sums:
    """What a file stores of a kernel sketch besides its model: the additive state, and how outputs come from it.

    Attributes
    ----------
    state : the sums of weights
    scale, bias : (C,) float64, applied to the debiased estimate
    debias : the fold's accidental collisions are taken out (erratum 2)
    """

    state: Counters
    scale: np.ndarray
    bias: np.ndarray
    debias: bool


def step_for(weights: np.ndarray) -> float:
    """A power of two that divides the weights' total size into about 2**40 steps.

    >>> step_for(np.array([[512.0], [-512.0]])) == 2.0**-30
    True
    """
    size = float(np.abs(weights).sum(axis=0).max(initial=0.0))
    return 2.0 ** (ceil(log2(size)) - 40) if size > 0 else DEFAULT_STEP
