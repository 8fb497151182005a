"""Budgets: what "4KB" means, and sketch sizes that stay within it.

The sizes here are a rule of thumb for refitted float32 sketches, not a search.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..sketch import Form

_UNITS = {"": 1, "B": 1, "KB": 1024, "MB": 1024**2}
_COMPONENTS = (8, 6, 4, 3, 2, 1)
_LARGEST_N_ROWS = 500


def parse_budget(budget: Any) -> int:
    """Bytes meant by ``budget``: a whole number, or text such as "512B", "4KB", "1MB" (KB = 1024).

    >>> parse_budget("4KB"), parse_budget(700)
    (4096, 700)
    """
    amount = 0
    if isinstance(budget, (int, np.integer)) and not isinstance(budget, bool):
        amount = int(budget)
    elif isinstance(budget, str) and (match := re.fullmatch(r"(\d{1,12})(B|KB|MB|)", budget)):
        amount = int(match[1]) * _UNITS[match[2]]
    if amount < 1:
        raise InputError(
            f"budget={budget!r}; allowed is a number of bytes above 0, or text such as '512B', '4KB', '1MB'."
        )
    return amount


@dataclass(frozen=True)
class Plan:
    """Sizes of a sketch: p coordinates, L rows of R buckets."""

    n_components: int
    n_rows: int
    n_buckets: int


def plan_for(nbytes: int, n_features: int, n_outputs: int) -> Plan:
    """Sizes whose float32 sketch with a direct fold takes at most ``nbytes`` bytes.

    At most half of the budget goes to the projection; rows have 8 buckets, 4 where the budget is small.

    >>> plan_for(4096, n_features=20, n_outputs=1)
    Plan(n_components=8, n_rows=105, n_buckets=8)
    """
    numbers = (nbytes - Form.HEADER_NBYTES) // 4 - 2 * n_outputs
    smallest = n_features + 1 + 4 * n_outputs
    if numbers < smallest:
        least = Form.HEADER_NBYTES + 4 * (smallest + 2 * n_outputs)
        raise InputError(
            f"a budget of {nbytes} bytes for {n_features} features and {n_outputs} outputs; the smallest float32 "
            f"sketch takes {least} bytes. Raise the budget or drop features."
        )
    fitting = [p for p in _COMPONENTS if p <= n_features and p * (n_features + 1) <= numbers // 2]
    n_components = fitting[0] if fitting else 1
    left = numbers - n_components * (n_features + 1)
    n_buckets = 8 if left >= 16 * 8 * n_outputs else 4
    return Plan(n_components, min(_LARGEST_N_ROWS, left // (n_buckets * n_outputs)), n_buckets)
