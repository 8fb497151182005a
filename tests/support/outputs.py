"""The expected outputs of teachers, written out a second time, and a teacher in small blocks."""

from dataclasses import replace

import numpy as np

from repsketch.teacher import PROBABILITY_FLOOR, as_teacher

LIMIT = np.log((1 - PROBABILITY_FLOOR) / PROBABILITY_FLOOR)


def by_sevens(model, **options):
    """A teacher that works on 7 rows at a time: several blocks, and the last one not full."""
    return replace(as_teacher(model, **options), _block_rows=7)


def log_odds(p):
    p = np.clip(p, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR)
    return np.log(p / (1 - p))


def centred_logs(p):
    logs = np.log(np.clip(p, PROBABILITY_FLOOR, 1 - PROBABILITY_FLOOR))
    return logs - logs.mean(axis=1, keepdims=True)


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
