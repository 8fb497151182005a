"""Prediction intervals from residuals of rows that a sketch was not trained on, as a table of quantiles.

Split-conformal prediction: of n such rows, the (n + 1) * confidence-th smallest absolute residual is half the width of
an interval that holds the value of a further row with at least that probability. On many data residuals grow with the
output, so they are divided by the mean residual of outputs in the same bin.
"""

from dataclasses import dataclass

import numpy as np

from ..checks import check_number
from ..display import repr_of_fields
from ..errors import InputError
from .numbers import check_floats

#: Confidences of the table, in per cent. The order is that of the file.
CONFIDENCES = (50, 55, 60, 65, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97, 98, 99)
MAX_BINS = 256
MAX_BINS_MADE, MIN_ROWS_PER_BIN = 4, 100  # of tables made here; a file may hold up to ``MAX_BINS``
_SMALLEST_SHARE = 0.01  # of the mean residual: the smallest scale of a bin
_SMALLEST_SCALE = 1e-30


@dataclass(frozen=True, eq=False)
class Intervals:
    """Half widths of intervals, for each of C outputs: the scale of the bin that the output lies in, times a quantile.

    Attributes
    ----------
    n_rows : rows that the quantiles come from
    borders : (C, B - 1) float32, rising; an output on a border lies above it
    scales : (C, B) float32, above 0
    quantiles : (C, M) float32, not negative, at the first M of ``CONFIDENCES``
    """

    n_rows: int
    borders: np.ndarray
    scales: np.ndarray
    quantiles: np.ndarray

    __repr__ = repr_of_fields

    def __post_init__(self) -> None:
        n_outputs, n_bins = self.scales.shape
        check_floats("borders", self.borders, (n_outputs, n_bins - 1))
        check_floats("scales", self.scales)
        check_floats("quantiles", self.quantiles, (n_outputs, self.n_confidences))
        if not 1 <= n_bins <= MAX_BINS or not 1 <= self.n_confidences <= n_confidences_of(self.n_rows):
            raise InputError(f"{n_bins} bins and {self.n_confidences} quantiles of {self.n_rows} rows do not fit.")
        if not (np.isfinite(self.borders).all() and np.all(self.borders[:, 1:] > self.borders[:, :-1])):
            raise InputError("the borders of bins must be finite and rise.")
        if not (np.isfinite(self.scales).all() and np.all(self.scales > 0)):
            raise InputError("the scales of bins must be finite numbers above 0.")
        do_rise = self.quantiles.min() >= 0 and np.all(self.quantiles[:, 1:] >= self.quantiles[:, :-1])
        if not (do_rise and np.isfinite(self.quantiles).all()):
            raise InputError("quantiles must be finite, start at 0 or above, and not fall.")

    @classmethod
    def of(cls, outputs: np.ndarray, values: np.ndarray) -> "Intervals":
        """The table from outputs and true values, both (n, C), of rows that were not trained on.

        >>> outputs = np.zeros((19, 1), np.float32)
        >>> table = Intervals.of(outputs, np.arange(-9.0, 10.0)[:, None])
        >>> table.half_widths(outputs[:1], 0.9), table.nbytes
        (array([[9.]]), 60)
        """
        n = len(outputs)
        borders = _borders(outputs)
        n_confidences, n_bins = n_confidences_of(n), borders.shape[1] + 1
        scales, quantiles = np.empty((outputs.shape[1], n_bins)), np.empty((outputs.shape[1], n_confidences))
        for c, residuals in enumerate(np.abs(values - outputs).T):
            scales[c], scores = _scaled(residuals, np.searchsorted(borders[c], outputs[:, c], side="right"), n_bins)
            quantiles[c] = np.sort(scores)[[_rank(confidence, n) - 1 for confidence in CONFIDENCES[:n_confidences]]]
        rounded = quantiles.astype(np.float32)
        rounded = np.where(rounded < quantiles, np.nextafter(rounded, np.float32(np.inf)), rounded)
        return cls(n, borders, scales.astype(np.float32), rounded)

    @property
    def n_confidences(self) -> int:
        """Confidences in the table, M."""
        return self.quantiles.shape[1]

    @property
    def max_confidence(self) -> float:
        """The largest confidence of the table."""
        return CONFIDENCES[self.n_confidences - 1] / 100

    @property
    def nbytes(self) -> int:
        """Bytes in a file. A prediction does not need them."""
        return 8 + self.borders.nbytes + self.scales.nbytes + self.quantiles.nbytes

    def half_widths(self, outputs: np.ndarray, confidence: float) -> np.ndarray:
        """Half the width of the interval around each of ``outputs`` (n, C), float64.

        Between two confidences of the table the width is interpolated linearly. That errs on the wide side, since large
        residuals are rarer than small ones.
        """
        check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
        if not CONFIDENCES[0] / 100 <= confidence <= self.max_confidence:
            more = (
                ""
                if self.n_confidences == len(CONFIDENCES)
                else " More rows that it was not trained on would allow more."
            )
            raise InputError(
                f"confidence={confidence!r}; allowed is a number from {CONFIDENCES[0] / 100:g} to "
                f"{self.max_confidence:g}: the intervals of this sketch come from {self.n_rows} rows.{more}"
            )
        widths, confidences = np.empty(outputs.shape), np.array(CONFIDENCES[: self.n_confidences]) / 100
        for c, column in enumerate(outputs.T):
            bins = np.searchsorted(self.borders[c], column, side="right")
            widths[:, c] = self.scales[c, bins] * np.interp(confidence, confidences, self.quantiles[c])
        return widths


def n_confidences_of(n_rows: int) -> int:
    """How many of ``CONFIDENCES`` can be estimated from ``n_rows`` rows.

    >>> n_confidences_of(1), n_confidences_of(19), n_confidences_of(99)
    (1, 12, 16)
    """
    return sum(_rank(confidence, n_rows) <= n_rows for confidence in CONFIDENCES)


def _rank(confidence: int, n_rows: int) -> int:
    """Rank of the residual, from the smallest, that covers a further row with ``confidence`` per cent probability."""
    return -(-(n_rows + 1) * confidence // 100)


def _borders(outputs: np.ndarray) -> np.ndarray:
    """Borders (C, B - 1) between bins of equally many outputs; as many bins as have enough outputs each."""
    for n_bins in range(MAX_BINS_MADE, 1, -1):
        borders = np.quantile(outputs, np.arange(1, n_bins) / n_bins, axis=0).T.astype(np.float32)
        n_above = np.sum(outputs.T[:, :, None] >= borders[:, None], axis=1)  # outputs above each border
        counts = -np.diff(n_above, axis=1, prepend=len(outputs), append=0)
        if counts.min() >= MIN_ROWS_PER_BIN:
            return borders
    return np.empty((outputs.shape[1], 0), np.float32)


def _scaled(residuals: np.ndarray, bins: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean residual of each bin, and each residual in units of the mean of all others in its bin.

    Without itself, since the scale of a new row does not include its residual either.
    """
    if n_bins == 1:
        return np.ones(1), residuals
    counts, totals = np.bincount(bins, minlength=n_bins), np.bincount(bins, residuals, n_bins)
    smallest = max(_SMALLEST_SHARE * residuals.mean(), _SMALLEST_SCALE)
    others = np.maximum((totals[bins] - residuals) / (counts[bins] - 1), smallest)
    return np.maximum(totals / counts, smallest), residuals / others
