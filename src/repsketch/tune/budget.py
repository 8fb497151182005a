"""Budgets: what "4KB" means."""

import re
from typing import Any

import numpy as np

from ..errors import InputError

_UNITS = {"": 1, "B": 1, "KB": 1024, "MB": 1024**2}


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
