"""The expected outputs of teachers, by scipy, and a teacher in small blocks."""

from dataclasses import replace

import numpy as np
from scipy import special, stats

from repsketch.teacher import as_teacher

#: Probabilities are clipped to 0.001 and 0.999 before their logarithms are taken: log-odds to those of 999 to 1.
FLOOR = 0.001
LIMIT = np.log(999.0)


def by_sevens(model, **options):
    """A teacher that works on 7 rows at a time: several blocks, and the last one not full."""
    return replace(as_teacher(model, **options), _block_rows=7)


def log_odds(p):
    """Of the probability of one class."""
    return special.logit(np.clip(p, FLOOR, 1 - FLOOR))


def centred_logs(p):
    """Logarithms of probabilities (n, C) relative to their geometric mean: those of a row sum up to 0."""
    p = np.clip(p, FLOOR, 1 - FLOOR)
    return np.log(p / stats.gmean(p, axis=1)[:, None])


def softmax(z):
    """Probabilities (n, C) of logits."""
    return special.softmax(z, axis=1)
