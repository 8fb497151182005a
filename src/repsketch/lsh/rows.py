"""A row of a sketch hashes a point to one bucket: K codes of a family, folded.

This is h_l of the paper's Algorithms 1 and 2, for all rows l. Everything here is a function of the
family, the sizes and the seed.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..checks import check_choice, check_count
from ..errors import InputError
from .family import Family, HashFunctions, check_family
from .fold import MAX_BUCKETS, draw_multipliers, fold_collision_rate, fold_direct, fold_universal, levels_for
from .generator import MAX_CONCAT, MAX_FEATURES, MAX_ROWS

FOLDS = ("universal", "direct")
MAX_WIDTH_BITS = 15


@dataclass(frozen=True)
class RowHashes:
    """The hash functions h_1 ... h_L from p coordinates to R buckets.

    >>> from repsketch import lsh
    >>> hashes = RowHashes(lsh.L2(bandwidth=1.0), n_rows=4, n_buckets=8, n_features=3, n_concat=2, seed=0)
    >>> hashes.buckets(np.zeros((3, 5), np.float32), row=2).shape
    (5,)
    """

    family: Family
    n_rows: int
    n_buckets: int
    n_features: int
    n_concat: int = 1
    seed: int = 0
    fold: str = "universal"
    width_bits: int | None = None  #: int precision: integer coordinates, bucket width 2**width_bits

    def __post_init__(self) -> None:
        check_family(self.family)
        check_count("n_rows", self.n_rows, MAX_ROWS)
        check_count("n_buckets", self.n_buckets, MAX_BUCKETS, smallest=2)
        check_count("n_features", self.n_features, MAX_FEATURES)
        check_count("n_concat", self.n_concat, MAX_CONCAT)
        check_choice("fold", self.fold, FOLDS)
        if self.width_bits is not None:
            check_count("width_bits", self.width_bits, MAX_WIDTH_BITS, smallest=0)
        if self.fold == "direct":
            n_levels = levels_for(self.n_buckets, self.n_concat)
            if not self.family.has_ordered_codes:
                raise InputError(
                    f"fold='direct' with family {self.family.name!r}, whose codes have no order; use fold='universal'."
                )
            if self.family.is_binary and n_levels != 2:
                raise InputError(
                    f"n_buckets={self.n_buckets}, n_concat={self.n_concat} and fold='direct' with sign bits; "
                    f"they fill exactly 2**n_concat = {2**self.n_concat} buckets."
                )

    @cached_property
    def functions(self) -> HashFunctions:
        """The family's drawn functions, regenerated from the seed when first needed."""
        return self.family.sample(self.n_features, self.n_rows, self.n_concat, self.seed)

    @cached_property
    def _multipliers(self) -> tuple[np.ndarray, np.ndarray]:
        return draw_multipliers(self.seed, self.n_rows, self.n_concat)

    @property
    def collision_rate(self) -> float:
        """Probability that two different code tuples share a bucket: what debiasing takes out (erratum 2)."""
        return fold_collision_rate(self.n_buckets) if self.fold == "universal" else 0.0

    def buckets(self, scaled: np.ndarray, row: int) -> np.ndarray:
        """Bucket of every point in one row, int64 (n,), for float32 ``scaled`` (p, n) in the family's units.

        In the int precision ``scaled`` are integers, 2**width_bits of them a bucket width.
        """
        if self.width_bits is None:
            codes = self.family.row_codes(scaled, self.functions, row)
        else:
            wraps = self.fold == "universal"
            codes = self.family.integer_codes(scaled, self.functions, row, self.width_bits, wraps)
        if self.fold == "universal":
            addends, multipliers = self._multipliers
            return fold_universal(codes, addends[row], multipliers[row], self.n_buckets)
        return fold_direct(codes, self.n_levels, lowest=0 if self.family.is_binary else -(self.n_levels // 2))

    @property
    def n_levels(self) -> int:
        """Levels of each code of the direct fold."""
        return levels_for(self.n_buckets, self.n_concat)

    def __getstate__(self) -> dict:
        """Only the definition: drawn functions come back from the seed."""
        return {key: value for key, value in self.__dict__.items() if key not in ("functions", "_multipliers")}
