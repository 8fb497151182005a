"""The real data of the benchmark scripts; a script without its data ends with one line."""

import sys

from repsketch.benchmarks.datasets import Split
from repsketch.benchmarks.datasets import load_split as load
from repsketch.errors import InputError

__all__ = ["Split", "load_split"]


def load_split(name: str, seed: int) -> Split:
    """The dataset called ``name``, split by ``seed``."""
    try:
        return load(name, seed)
    except InputError as error:
        sys.exit(str(error))
