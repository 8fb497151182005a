"""Feature selection: which columns of a raw table are not used, and which labels of text columns are.

Takes the table in numbers; hands on the columns that cannot generalise (identifiers, time stamps, free text,
constants), and for columns of many labels the few that are most informative about the target.
"""

import logging
from collections.abc import Collection, Mapping

import numpy as np

from ..data.frames import Columns
from ..errors import InputError
from ..progress import notify
from .training_data import TrainingData

MAX_LABELS = 64  # of a column; all others become one category, "other"
MAX_VALUES = 512  # labels of all categorical columns together
MIN_LABELS = 4
MIN_ROWS = 40  # with fewer rows, unique labels do not prove an identifier
MAX_UNIQUE_SHARE = 0.95  # text with a larger share of different labels identifies rows

MAX_LABEL_NBYTES = 1_024  # the most that a file holds; a longer label becomes "other"

CONSTANT = "has one value only"
logger = logging.getLogger(__name__)


def unused_columns(columns: Columns) -> dict[int, str]:
    """Columns of a frame that are not used, by index, and why.

    These are text that differs in (nearly) every row, and integers that number the rows or are time stamps or serial
    numbers. Columns of a categorical dtype and of floats are always used: users convert a column to force its use.
    """
    found = {}
    for place, kind in enumerate(columns.kinds):
        if kind == "time":
            found[place] = "holds dates or times"
        elif place in columns.categories and len(columns.categories[place]) < 2:
            found[place] = CONSTANT
        elif place in columns.categories and sum(map(_can_be_stored, columns.categories[place])) < 2:
            found[place] = f"holds text of over {MAX_LABEL_NBYTES} bytes, or with a NUL"
        elif kind == "identifier":
            found[place] = "numbers the rows"
        elif kind == "text":
            n_found = int((~np.isnan(columns.numbers[:, place])).sum())
            if n_found >= MIN_ROWS and len(columns.categories[place]) >= MAX_UNIQUE_SHARE * n_found:
                found[place] = "differs in every row"
    return found


def left_out(columns: Columns, progress: bool) -> dict[int, str]:
    """``unused_columns``, with a message that names them; at least one column stays."""
    unused = unused_columns(columns)
    if len(unused) == columns.numbers.shape[1]:
        shown = "; ".join(f"{name_of(columns, place)} {why}" for place, why in list(unused.items())[:8])
        raise InputError(
            f"no column of X can be used: {shown}. Give a column that repeats across rows; to force "
            "the use of one, make it a categorical dtype, or float for numbers."
        )
    reasons = [f"{name_of(columns, place)} {why}" for place, why in unused.items() if why != CONSTANT]
    if reasons:
        how = "to use one, make it a categorical dtype, or float; --use does on the command line"
        notify(logger, f"not used: {'; '.join(reasons)} ({how})", enabled=progress)
    return unused


def name_of(columns: Columns, place: int) -> str:
    """A column in messages: its name, or its number."""
    return repr(columns.names[place]) if columns.names else f"column {place}"


def label_counts(columns: Columns, unused: Collection[int]) -> dict[int, int]:
    """Number of labels of each categorical column in use."""
    return {place: len(labels) for place, labels in columns.categories.items() if place not in unused}


def informative_labels(data: TrainingData, categories: Mapping[int, tuple[str, ...]]) -> dict[int, np.ndarray]:
    """The indices (m,), rising, of the most informative labels, for each column with more labels than are used.

    A label is as informative as a Newton step for its training rows alone gains on the best constant. Labels that a
    file cannot hold, too long or with a NUL, are not used.
    """
    n_many = sum(len(labels) > MIN_LABELS for labels in categories.values())
    max_labels = min(MAX_LABELS, max(MIN_LABELS, MAX_VALUES // max(1, n_many)))
    fit = {place: np.array([_can_be_stored(label) for label in labels]) for place, labels in categories.items()}
    many = {
        place: len(labels) for place, labels in categories.items() if len(labels) > max_labels or not fit[place].all()
    }
    if not many:
        return {}
    rows = data.train_rows
    objective = data.objective(rows, 0.0)
    slope, curvature = objective.slopes(np.repeat(objective.start()[None], len(rows), axis=0))
    chosen = {}
    for place, n_labels in many.items():
        cells = data.X[rows, place]
        is_label = cells >= 0
        gains = np.zeros(n_labels)
        for c in range(data.n_outputs):
            totals, weights = (
                np.bincount(cells[is_label].astype(np.int64), numbers[is_label, c], n_labels)
                for numbers in (slope, curvature)
            )
            gains += totals**2 / (weights + 1.0)
        gains[~fit[place]] = -1.0
        order = np.argsort(-gains, kind="stable")[:max_labels]
        chosen[place] = np.sort(order[gains[order] >= 0])
    return chosen


def _can_be_stored(label: str) -> bool:
    return len(label.encode()) <= MAX_LABEL_NBYTES and "\0" not in label
