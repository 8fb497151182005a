"""The real data of the benchmark scripts; a script without its data ends with one line."""

import sys

from repsketch.errors import InputError
from repsketch_bench.datasets import Split
from repsketch_bench.datasets import load_split as load

__all__ = ["Split", "load_split"]


def load_split(name: str, seed: int) -> Split:
    """The dataset called ``name``, split by ``seed``."""
    try:
        return load(name, seed)
    except InputError as error:
        sys.exit(str(error))
