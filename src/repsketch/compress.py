"""The one call: a teacher, data and a budget in bytes, or a tolerance in place of one, become a sketch.

Takes a trained model or none, a raw table and labels or none; hands on the best sketch that was found within the
budget, or the smallest one within the tolerance, in the int precision.
"""

import logging
from dataclasses import replace
from typing import Any

from .checks import check_number
from .errors import InputError, require
from .preparation import prepare
from .progress import notify
from .sizes import Searches, sketch_of
from .sketch import CompiledSketch
from .train.budget import parse_budget

DEFAULT_BUDGET = "4KB"
LARGEST_SIZE = "64KB"  # that a tolerance may lead to
logger = logging.getLogger(__name__)


def compress(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budget: int | str | None = None,
    tolerance: float | None = None,
    task: str | None = None,
    loss: str | None = None,
    quantile: float | None = None,
    metric: str | None = None,
    sample_weight: Any = None,
    class_weight: Any = None,
    effort: str = "normal",
    random_state: Any = None,
    time_limit: float | None = None,
    progress: bool = True,
) -> CompiledSketch:
    """The best sketch of at most ``budget`` bytes that imitates ``model`` on data like ``X``.

    Parameters
    ----------
    model : a trained model as for ``distill``; or an array (n,) or (n, C) of the outputs of one for the rows of X, such
        as out-of-fold probabilities; None to train one on ``y``, gradient-boosted trees. With effort="fast" and
        without a tolerance none is trained, the sketch learns from ``y`` alone
    X : (n, d) array, scipy sparse matrix or data frame; text columns are categories, NaN and null are missing values
    y : (n,) true labels or values, worth giving: a teacher is overconfident on the rows it was trained on
    budget : bytes a device may hold, such as 700, "512B", "4KB" (the default), "1MB"
    tolerance : instead of a budget: the smallest sketch, of 64 KB at most, that loses at most so much of the teacher's
        score. It is a difference in units of the score that ``summary`` shows, not a share of it: 0.005 of an accuracy
        of 0.970 allows 0.965, 0.5 of a mean absolute error of 13.0 allows 13.5. Both scores are of validation rows,
        the teacher's is that of copies which were not trained on these rows, where copies can be trained; without
        ``y`` it is the best possible score. If no sketch loses so little, the best one is returned, and a message and
        ``summary.conclusion`` say so
    task : "classification" or "regression", where it cannot be inferred
    loss : of a regression: "squared_error" (the default), "absolute_error", or "quantile" with its level ``quantile``
    metric : name of a scorer of scikit-learn by which sketches are chosen, such as "roc_auc" or "average_precision";
        None for the loss
    sample_weight : (n,) weights of the rows, from 0 up, in the loss and in scores; in small arrays and sparse matrices
        a row of weight 2 is the same as two rows, and the order of rows has no meaning
    class_weight : "balanced", or a dictionary from labels to weights; scores do not count them
    effort : "fast", "normal" or "thorough": how many models to train, and for how long
    random_state : seed of everything random; the same seed gives the same bytes
    time_limit : seconds that the call may take, about; fits are then cut short or given up

    Returns
    -------
    CompiledSketch
        ``summary`` compares it with boosted trees, an int8 network and a linear model of the same bytes on the same
        validation rows; unless ``progress`` is off, a peer that is better, or as good in fewer bytes, is also named
        on the standard error

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> sketch = compress(lambda X: np.sin(X[:, 0]), X, budget="256B", task="regression", progress=False)
    >>> sketch.nbytes <= 256, bool(np.abs(sketch.predict(X) - np.sin(X[:, 0])).mean() < 0.2)
    (True, True)
    """
    return compress_with_effort(
        model, X, y, budget=budget, tolerance=tolerance, task=task, loss=loss, quantile=quantile, metric=metric,
        sample_weight=sample_weight, class_weight=class_weight, effort=effort, random_state=random_state,
        time_limit=time_limit, progress=progress,
    )  # fmt: skip


def compress_with_effort(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    budget: int | str | None = None,
    tolerance: float | None = None,
    **options: Any,
) -> CompiledSketch:
    """``compress``, to which the effort of its search may be given as data; options as for ``prepare``."""
    require("sklearn", "train")
    from .compare.compare import compare
    from .tolerance import smallest_within

    check_size(budget, tolerance)
    prepared = prepare(model, X, y, needs_teacher=tolerance is not None, **options)
    if tolerance is None:
        nbytes = parse_budget(DEFAULT_BUDGET if budget is None else budget)
        trial, shortfall = Searches(prepared).at(nbytes).trial, None
    else:
        found, shortfall = smallest_within(prepared, float(tolerance))
        nbytes, trial = found.nbytes, found.trial
    summary = compare(prepared.data, trial, nbytes, prepared.seed, prepared.clock.seconds_left)
    for sentence in filter(None, (shortfall, summary.conclusion)):
        notify(logger, sentence, enabled=prepared.progress)
    if shortfall is not None:
        summary = replace(summary, conclusion=" ".join(filter(None, (shortfall, summary.conclusion))))
    return sketch_of(prepared, trial, summary)


def check_size(budget: Any, tolerance: Any) -> None:
    """Refuse a budget or a tolerance that means nothing, and both together."""
    if tolerance is not None and budget is not None:
        raise InputError(
            f"budget={budget!r} and tolerance={tolerance!r}; allowed is one of them: the best sketch within so many "
            "bytes, or the smallest one that loses at most so much of the teacher's score."
        )
    if tolerance is not None:
        check_number("tolerance", tolerance, 0.0)
    elif budget is not None:
        parse_budget(budget)
