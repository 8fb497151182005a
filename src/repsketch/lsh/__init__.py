"""Locality-sensitive hashing: families, directions, the fold, and the generator behind them."""

from ..checks import check_choice
from .angular import Angular
from .family import Family, HashFunctions
from .l1 import L1
from .l2 import L2
from .minhash import MinHash
from .pool import CodePool, PooledRows
from .rows import RowHashes

__all__ = [
    "L1",
    "L2",
    "Angular",
    "CodePool",
    "Family",
    "HashFunctions",
    "MinHash",
    "PooledRows",
    "RowHashes",
    "family_named",
]


_FAMILIES: dict[str, type[Family]] = {family.name: family for family in (L2, Angular, MinHash, L1)}


def family_named(name: str) -> type[Family]:
    """The family class called ``name``: "l2", "angular", "minhash" or "l1".

    >>> family_named("l2").__name__
    'L2'
    """
    return _FAMILIES[check_choice("family", name, _FAMILIES)]
