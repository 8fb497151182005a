"""How the columns of a raw table become integers: kinds of columns, and a center and a scale for each numeric one.

Takes a float32 table in which a category is its index and a missing value NaN; hands on ``Inputs`` of the int
precision. Centers and scales are rounded as they are stored before training, so that training sees the deployed values.
"""

import numpy as np

from ..model.inputs import BOOLEAN, LARGEST_VALUE, NUMERIC, Inputs
from ..model.numbers import STORED_FLOATS, round_floats

LARGEST = 127
STEPS_PER_DEVIATION = 32  # integer steps a standard deviation: four deviations on each side of the mean
_MIN_STEPS = 96  # between the ends of a column's range; with fewer, centers and scales are stored in longer floats
_ENDS = (0.002, 0.998)  # quantiles that a range must reach


def find_kinds(X: np.ndarray, n_categories: dict[int, int] | None = None) -> np.ndarray:
    """Kind of every column of X (n, d): a number of categories where given; boolean for 0 and one other value; numeric.

    >>> find_kinds(np.array([[0, 1.5, 2], [3, 2.5, 0]]), {2: 3}).tolist()
    [1, 0, 3]
    """
    kinds = np.full(X.shape[1], NUMERIC, np.int64)
    for place, column in enumerate(X.T):
        found = column[~np.isnan(column)]
        others = found[found != 0]
        if len(others) < len(found) and len(others) and (others == others[0]).all():
            kinds[place] = BOOLEAN
    for place, count in (n_categories or {}).items():
        kinds[place] = count
    return kinds


def standard_inputs(X: np.ndarray, kinds: np.ndarray) -> Inputs:
    """Numeric columns standardised, at 32 integer steps a standard deviation, so that columns can be added up."""
    if not (kinds == NUMERIC).any():
        return _inputs(X, kinds, None, None, "float32")
    middles, deviations = moments_of(X[:, kinds == NUMERIC])
    return _affine(X, kinds, middles, LARGEST / STEPS_PER_DEVIATION * deviations)


#: What is stored about the numeric columns before a projection: a center and a scale for each, a scale for each, or one
#: center and one scale for all.
SCALINGS = ("standard", "scaled", "common")


def projected_inputs(X: np.ndarray, kinds: np.ndarray, scaling: str = "standard") -> Inputs:
    """Columns for a projection, scaled in one of three ways; its shift and weights make up for what is not stored.

    Where there are numeric columns, booleans are scaled like them, so that all columns share the few bits of a weight.
    """
    if (kinds == NUMERIC).any():
        kinds = np.where(kinds == BOOLEAN, NUMERIC, kinds)
    if scaling == "standard" or not (kinds == NUMERIC).any():
        return standard_inputs(X, kinds)
    middles, deviations = moments_of(X[:, kinds == NUMERIC])
    if scaling == "common":
        low, high = (middles - 3.0 * deviations).min(), (middles + 3.0 * deviations).max()
        return _affine(X, kinds, np.array([(low + high) / 2]), np.array([(high - low) / 2]))
    scales = round_floats(STEPS_PER_DEVIATION / deviations, "float8")
    if not ((scales > 0) & np.isfinite(scales)).all():
        return standard_inputs(X, kinds)
    farthest = ((np.abs(middles) + LARGEST / STEPS_PER_DEVIATION * deviations) * scales).max()
    return _inputs(X, kinds, None, scales, "float8", min(max(LARGEST, int(farthest)), LARGEST_VALUE))


def moments_of(numeric: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of columns, 1 for constant ones, missing values left out; float64."""
    middles, deviations = np.zeros((2, numeric.shape[1]))
    for place, column in enumerate(numeric.T):  # one after the other: they are copied
        found = column[~np.isnan(column)].astype(np.float64)
        if len(found):  # a column may be missing altogether
            middles[place], deviations[place] = found.mean(), found.std()
    return middles, np.where(deviations > 1e-6 * np.maximum(1.0, np.abs(middles)), deviations, 1.0)


def ranged_inputs(X: np.ndarray, kinds: np.ndarray, largest: int = LARGEST) -> Inputs:
    """Numeric columns from -largest to largest over their range, for thresholds on single columns.

    A threshold takes one byte for numbers up to 127, two beyond. The range leaves out 0.2 % of the values at either
    end. In a column where most values are the same, these percentages are of the other values.
    """
    numeric = X[:, kinds == NUMERIC].T
    if not len(numeric):
        return _inputs(X, kinds, None, None, "float32")
    ends = np.array([_range_of(column.astype(np.float64)) for column in numeric])
    return _affine(X, kinds, ends.mean(axis=1), (ends[:, 1] - ends[:, 0]) / 2, largest)


def _range_of(column: np.ndarray) -> tuple[float, float]:
    found = column[np.isfinite(column)]
    if not len(found):
        return -1.0, 1.0
    values, counts = np.unique(found, return_counts=True)
    usual = values[counts.argmax()]
    others = found[found != usual] if counts.max() > len(found) // 2 else found
    low, high = np.quantile(others if len(others) else found, _ENDS)
    low, high = min(low, usual), max(high, usual)
    size = max(abs(low), abs(high))
    if high - low > 1e-7 * size:
        return low, high
    reach = max(1.0, 1e-6 * size)  # a smaller range would vanish when the center is rounded to float32
    return low - reach, high + reach


def _affine(
    X: np.ndarray, kinds: np.ndarray, middles: np.ndarray, reaches: np.ndarray, largest: int = LARGEST
) -> Inputs:
    """Inputs that map middle - reach to -largest and middle + reach to largest, in the shortest floats that suffice."""
    for stored_as in reversed(STORED_FLOATS):
        centers = round_floats(middles, stored_as)
        farther = reaches + np.abs(middles - centers)  # the range, as seen from the rounded center
        wanted = largest / farther
        scales = round_floats(wanted, stored_as)
        if stored_as == "float32" or np.all(
            (scales > 0) & (2 * reaches * scales >= _MIN_STEPS) & (scales <= 1.1 * wanted)
        ):
            break
    return _inputs(X, kinds, centers, scales, stored_as, largest)


def _inputs(
    X: np.ndarray,
    kinds: np.ndarray,
    centers: np.ndarray | None,
    scales: np.ndarray | None,
    stored_as: str,
    largest: int = LARGEST,
) -> Inputs:
    return Inputs(
        X.shape[1],
        kinds=kinds if (kinds != NUMERIC).any() else None,
        centers=centers,
        scales=scales,
        stored_as=stored_as,
        limits=(-largest, largest),
        accepts_missing=bool(np.isnan(X).any()),
    )
