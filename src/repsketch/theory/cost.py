"""What one prediction costs: numbers stored, operations, and energy by the figures the paper cites.

Energy: 45 nm, 0.9 V, from Horowitz, *Computing's energy problem (and what we can do about it)*, ISSCC
2014: float32 addition 0.9 pJ, float32 multiplication 3.7 pJ, 64-bit read of a 32 KB cache 20 pJ, DRAM
access 1.3 to 2.6 nJ (the paper quotes the last two and the fourfold price of a multiplication).
"""

from dataclasses import dataclass
from itertools import pairwise

from ..errors import InputError

ADD_PICOJOULE = 0.9
MULTIPLY_PICOJOULE = 3.7
CACHE_READ_PICOJOULE = 20.0
DRAM_READ_PICOJOULE = 1300.0


@dataclass(frozen=True)
class Cost:
    """Cost of one prediction.

    >>> cost = Cost.of_sketch(n_features=123, n_components=8, n_rows=500, n_buckets=2, n_concat=1)
    >>> cost.parameters, round(cost.paper_flops), cost.nbytes(64)
    (1984, 3801, 15872)
    """

    parameters: int  #: numbers stored, as the paper counts: d*p + L*R (times C outputs), and shift and linear term
    paper_flops: float  #: the paper's formula 2dp + pKL/3 + L
    adds: float  #: additions and subtractions, expected over the random directions
    multiplies: float  #: multiplications
    lookups: int  #: counters read
    reads: int  #: stored numbers touched: the projection and the looked-up counters, not all counters
    others: float = 0.0  #: floors, shifts, clamps, comparisons, and what joins the codes of a row to a bucket

    @classmethod
    def of_sketch(
        cls,
        n_features: int,
        n_components: int,
        n_rows: int,
        n_buckets: int,
        n_concat: int = 1,
        n_outputs: int = 1,
        *,
        projected: bool = True,
        dense_directions: bool = False,
        universal_fold: bool = True,
        has_shift: bool = False,
        has_linear: bool = False,
    ) -> "Cost":
        """Cost of a sketch with ternary directions (a third of the coordinates count) or dense ones.

        Multiplications: the projection (or the scaling of each coordinate without one), the universal
        fold (one a code) and the output's scale. The paper's formula leaves out the fold and charges
        two operations for a multiply-add of the projection.
        """
        projection = n_features * n_components if projected else 0
        shift = n_components if has_shift else 0
        active = n_components * n_concat * n_rows * (1.0 if dense_directions else 1.0 / 3.0)
        linear = n_components * n_outputs if has_linear else 0
        codes = n_concat * n_rows
        return cls(
            parameters=projection + shift + n_rows * n_buckets * n_outputs + linear,
            paper_flops=2 * projection + n_components * n_concat * n_rows / 3 + n_rows * n_outputs,
            adds=projection + shift + active + codes + n_rows * n_outputs + linear,
            multiplies=(projection or n_components)
            + (active if dense_directions else 0)
            + (codes if universal_fold else 0)
            + n_outputs
            + linear,
            lookups=n_rows * n_outputs,
            reads=projection + shift + n_rows * n_outputs + linear,
            others=2 * n_components + codes + fold_operations(n_rows, n_concat, universal_fold),
        )

    @classmethod
    def of_mlp(cls, widths: list[int]) -> "Cost":
        """Cost of a multilayer perceptron with the given layer widths, inputs and outputs included.

        Paper: parameters as torchinfo counts them, FLOPs as fvcore does (one a multiply-add).

        >>> Cost.of_mlp([8, 256, 128, 1]).parameters
        35329
        """
        products = sum(a * b for a, b in pairwise(widths))
        biases = sum(widths[1:])
        return cls(
            parameters=products + biases,
            paper_flops=products,
            adds=products + biases,
            multiplies=products,
            lookups=0,
            reads=products + biases,
        )

    @property
    def operations(self) -> float:
        """All operations of one prediction, look-ups included."""
        return self.adds + self.multiplies + self.lookups + self.others

    def nbytes(self, bits: int = 32) -> int:
        """Bytes of the stored numbers at ``bits`` each (the paper: 64)."""
        if bits < 1:
            raise InputError(f"bits={bits!r}; allowed is an integer from 1 up.")
        return -(-self.parameters * bits // 8)

    def energy_picojoule(self, read_picojoule: float = CACHE_READ_PICOJOULE) -> float:
        """Energy of the arithmetic in float32 plus one memory read for each stored number touched.

        Pass ``DRAM_READ_PICOJOULE`` for a model too large for the cache.

        >>> sketch = Cost.of_sketch(n_features=123, n_components=8, n_rows=500, n_buckets=2)
        >>> network = Cost.of_mlp([123, 512, 256, 128, 1])
        >>> network.energy_picojoule(DRAM_READ_PICOJOULE) > 1000 * sketch.energy_picojoule()
        True
        """
        return self.adds * ADD_PICOJOULE + self.multiplies * MULTIPLY_PICOJOULE + self.reads * read_picojoule


def fold_operations(n_rows: int, n_concat: int, is_universal: bool) -> int:
    """Operations that join codes to buckets, beside the multiplications of codes.

    The universal fold adds up its products, takes the upper half, multiplies by the number of buckets and takes the
    upper half again; the direct one multiplies by the number of levels and adds the next code.

    >>> fold_operations(n_rows=10, n_concat=2, is_universal=True), fold_operations(10, 2, is_universal=False)
    (50, 20)
    """
    return n_rows * (n_concat + 3 if is_universal else 2 * (n_concat - 1))
