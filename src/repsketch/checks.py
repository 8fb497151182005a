"""Checks of parameters: counts, numbers and names, with messages that say what is allowed."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import InputError


def check_count(name: str, value: Any, largest: int, smallest: int = 1) -> int:
    """Return ``value`` if it is an integer from ``smallest`` to ``largest``.

    >>> check_count("n_rows", 0, largest=9)
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: n_rows=0; allowed is an integer from 1 to 9.
    """
    if not _is_integer(value) or not smallest <= value <= largest:
        raise InputError(f"{name}={value!r}; allowed is an integer from {smallest} to {largest}.")
    return int(value)


def check_at_least(name: str, value: Any, smallest: int) -> int:
    """Return ``value`` if it is an integer of at least ``smallest``.

    >>> check_at_least("n_threads", 0, 1)
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: n_threads=0; allowed is an integer of at least 1.
    """
    if not _is_integer(value) or value < smallest:
        raise InputError(f"{name}={value!r}; allowed is an integer of at least {smallest}.")
    return int(value)


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_number(
    name: str, value: Any, low: float = -np.inf, high: float = np.inf, *, open_ends: bool = False
) -> float:
    """Return ``value`` as a finite float from ``low`` to ``high``, the ends left out with ``open_ends``.

    >>> check_number("delta", 1.0, 0.0, 1.0, open_ends=True)
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: delta=1.0; allowed is a number between 0 and 1.
    """
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    number = float(value) if is_number else np.nan
    inside = low < number < high if open_ends else low <= number <= high
    if not (inside and np.isfinite(number)):
        raise InputError(f"{name}={value!r}; allowed is {_range(low, high, open_ends)}.")
    return number


def _range(low: float, high: float, open_ends: bool) -> str:
    if np.isinf(low) and np.isinf(high):
        return "a finite number"
    if np.isinf(high):
        return f"a finite number {'above' if open_ends else 'of at least'} {low:g}"
    return f"a number {'between' if open_ends else 'from'} {low:g} {'and' if open_ends else 'to'} {high:g}"


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of the names in ``choices``.

    >>> check_choice("fold", "origami", ("universal", "direct"))
    Traceback (most recent call last):
    ...
    repsketch.errors.InputError: fold='origami'; allowed are 'universal', 'direct'.
    """
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name}={value!r}; allowed are {', '.join(map(repr, known))}.")
    return value
