"""Budgets: what "4KB" means."""

import re
from decimal import Decimal
from typing import Any

import numpy as np

from ..errors import InputError

_UNITS = {"": 1, "B": 1, "BYTE": 1, "BYTES": 1}
_UNITS |= {
    unit: 1024**power for power, letter in ((1, "K"), (2, "M")) for unit in (letter, f"{letter}B", f"{letter}IB")
}
_AMOUNT = re.compile(r"\s*([0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})\s*([A-Za-z]*)\s*")


def parse_budget(budget: Any) -> int:
    """Bytes in ``budget``: an integer, or text of a number and a unit.

    Units are B, KB and MB, of 1024 each, in upper or lower case, also written K, KiB, byte, bytes, M or MiB; a space
    may stand before them. Without a unit the number counts bytes. Fractions such as "1.5KB" are rounded down to full
    bytes, of which there must be at least one.

    >>> parse_budget("4KB"), parse_budget(700), parse_budget("1.5 kb"), parse_budget("512 bytes")
    (4096, 700, 1536, 512)
    """
    amount = 0
    if isinstance(budget, (int, np.integer)) and not isinstance(budget, bool):
        amount = int(budget)
    elif isinstance(budget, str) and (match := _AMOUNT.fullmatch(budget)) and match[2].upper() in _UNITS:
        amount = int(Decimal(match[1]) * _UNITS[match[2].upper()])
    if amount < 1:
        raise InputError(
            f"budget={budget!r}; allowed is a number of bytes above 0, or text such as '512B', '4KB', '1.5 KB', '1MB'."
        )
    return amount
