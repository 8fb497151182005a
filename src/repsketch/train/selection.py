"""Which columns and labels of a raw table a sketch is made of.

Takes the table in numbers; hands on the columns that say nothing about other rows (identifiers, time stamps, comments,
constants), and for text of many labels the few that tell most about the target.
"""

from collections.abc import Mapping

import numpy as np

from ..data.frames import Columns
from .training_data import TrainingData

MOST_LABELS = 64  # of a column; further ones count as one, "other"
MOST_VALUES = 512  # of all categorical columns together
FEWEST_LABELS = 4
FEWEST_ROWS = 40  # of fewer rows, a different label in each is no sign
UNIQUE = 0.95  # from this share of different labels on, text tells rows apart, not kinds of rows

LONGEST_LABEL = 1_024  # bytes that a file holds; a longer one is "other"

CONSTANT = "has one value only"


def unused_columns(columns: Columns) -> dict[int, str]:
    """Columns of a frame that no sketch should be made of, by place, and why.

    Text of which (nearly) every row has its own, and whole numbers that count rows or are time stamps or serial
    numbers, are left out. A column of a categorical dtype, or of floats, is used whatever it holds: this is how to ask
    for it.
    """
    found = {}
    for place, kind in enumerate(columns.kinds):
        if kind == "time":
            found[place] = "holds dates or times"
        elif place in columns.categories and len(columns.categories[place]) < 2:
            found[place] = CONSTANT
        elif place in columns.categories and sum(map(_can_be_stored, columns.categories[place])) < 2:
            found[place] = f"holds text of over {LONGEST_LABEL} bytes, or with a NUL"
        elif kind == "identifier":
            found[place] = "numbers the rows"
        elif kind == "text":
            n_found = int((~np.isnan(columns.numbers[:, place])).sum())
            if n_found >= FEWEST_ROWS and len(columns.categories[place]) >= UNIQUE * n_found:
                found[place] = "differs in every row"
    return found


def telling_labels(problem: TrainingData, categories: Mapping[int, tuple[str, ...]]) -> dict[int, np.ndarray]:
    """For each column of more labels than are used the places (m,), rising, of those that tell most about the target.

    A label tells as much as a Newton step for its training rows alone gains on the best constant. Labels that a file
    cannot hold, too long or with a NUL, are not used.
    """
    n_many = sum(len(labels) > FEWEST_LABELS for labels in categories.values())
    most = min(MOST_LABELS, max(FEWEST_LABELS, MOST_VALUES // max(1, n_many)))
    fit = {place: np.array([_can_be_stored(label) for label in labels]) for place, labels in categories.items()}
    many = {place: len(labels) for place, labels in categories.items() if len(labels) > most or not fit[place].all()}
    if not many:
        return {}
    rows = problem.kept
    objective = problem.objective(rows, 0.0)
    slope, curvature = objective.slopes(np.repeat(objective.start()[None], len(rows), axis=0))
    chosen = {}
    for place, n_labels in many.items():
        cells = problem.X[rows, place]
        is_label = cells >= 0
        gains = np.zeros(n_labels)
        for c in range(problem.n_outputs):
            totals, weights = (
                np.bincount(cells[is_label].astype(np.int64), numbers[is_label, c], n_labels)
                for numbers in (slope, curvature)
            )
            gains += totals**2 / (weights + 1.0)
        gains[~fit[place]] = -1.0
        order = np.argsort(-gains, kind="stable")[:most]
        chosen[place] = np.sort(order[gains[order] >= 0])
    return chosen


def _can_be_stored(label: str) -> bool:
    return len(label.encode()) <= LONGEST_LABEL and "\0" not in label
