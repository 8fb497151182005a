"""Accuracy instead of bytes: the smallest model that loses at most so much of the teacher's score.

Takes what ``prepare`` made and a tolerance; hands on the model that bisection over sizes found.
"""

import logging
from collections.abc import Callable

from .compare.scores import ACCURACY, metric_of, sign_of
from .errors import InputError
from .preparation import Prepared
from .progress import notify
from .sizes import Found, Searches, teacher_score

STEPS_PER_DOUBLING = 4
#: Bytes that are tried, from 64 B to 64 KB: first every fourth, then those between the last two.
SIZES = tuple(round(64 * 2 ** (step / STEPS_PER_DOUBLING)) for step in range(10 * STEPS_PER_DOUBLING + 1))
ROUNDING = 1e-9  # of a score: 0.97 - 0.965 is a little more than 0.005
logger = logging.getLogger(__name__)


def loses_at_most(tolerance: float, score: float, reference: float, metric: str) -> bool:
    """True if a score is worse than the reference by at most ``tolerance``, in units of the score.

    >>> loses_at_most(0.005, 0.965, 0.97, "accuracy"), loses_at_most(0.5, 13.6, 13.0, "MAE")
    (True, False)
    """
    return sign_of(metric) * (reference - score) <= tolerance + ROUNDING


def smallest_within(prepared: Prepared, tolerance: float) -> tuple[Found, str | None]:
    """The smallest model that loses at most ``tolerance`` of the teacher's score.

    Returns
    -------
    The model, and None; or the best model, and a sentence that says so, if none of up to 64 KB loses so little
    """
    metric, reference = metric_of(prepared.data), reference_score(prepared, tolerance)

    def is_enough(new: Found) -> bool:
        return loses_at_most(tolerance, new.score, reference, metric)

    found = bisect(Searches(prepared), is_enough)
    enough = list(filter(is_enough, found))
    if enough:
        return min(enough, key=lambda new: (new.nbytes, new.trial.loss)), None
    best = found[0]
    for new in found[1:]:
        best = new if new.is_better(best, sign_of(metric)) else best
    return best, (
        f"No sketch was found that loses at most {tolerance:g} of the teacher's {metric} of {reference:.4f}: the best "
        f"one has {best.score:.4f} in {best.nbytes} bytes. Raise the tolerance, the effort, or a time limit."
    )


def reference_score(prepared: Prepared, tolerance: float) -> float:
    """The teacher's score, which a tolerance needs; a message if it is too good."""
    metric, reference = metric_of(prepared.data), teacher_score(prepared)
    if reference is None:
        raise InputError(
            f"tolerance={tolerance:g} is a loss of the teacher's score, but there is no teacher, as none is trained "
            "for y of several columns. Give a model, or a budget."
        )
    if metric == ACCURACY and tolerance >= 1:
        raise InputError(f"tolerance={tolerance:g} of the accuracy; allowed is a number below 1, such as 0.005.")
    if not prepared.is_unseen:
        seen = f"the teacher's {metric} of {reference:.4f} is for rows that it was trained on"
        notify(logger, f"{seen}, as copies of it could not be trained: it is too good", enabled=prepared.progress)
    return reference


def bisect(searches: Searches, is_enough: Callable[[Found], bool]) -> list[Found]:
    """The models found on the way to the smallest of ``SIZES`` that is enough, by halving what is left of them.

    First one size of each doubling is tried, then those between the last two. A model that is enough and smaller than
    its budget saves the sizes between. Once the time is over, no more are tried.
    """
    found: list[Found] = []
    refusal: InputError | None = None
    low, high = -STEPS_PER_DOUBLING, len(SIZES) - 1 + STEPS_PER_DOUBLING  # places before and behind the sizes
    for step in (STEPS_PER_DOUBLING, 1):
        if step == 1 and (low < 0 or high >= len(SIZES)):  # the smallest size is enough, or none is
            break
        while high - low > step and (not found or searches.clock.seconds_left > 0):
            middle = (low + high) // (2 * step) * step
            try:
                new = searches.at(SIZES[middle], n_left=(high - low - 1).bit_length())
            except InputError as error:  # no model is so small
                low, refusal = middle, error
                continue
            found.append(new)
            if not is_enough(new):
                low = middle
                continue
            high = middle
            while high - step > low and SIZES[high - step] >= new.nbytes:
                high -= step
    if not found:
        assert refusal is not None
        raise refusal
    return found
