"""Random binning on the axes: a random grid whose cells are the codes, with the Laplacian kernel.

Not in the paper. Rahimi and Recht (*Random features for large-scale kernel machines*, 2007): on each
axis a grid of random pitch (Gamma of shape 2) and random offset; two points share their cell with
probability exp(-|x - y|_1 / r).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .directions import integer_offsets
from .family import Family, HashFunctions, check_bandwidth, clamp_code, floor_code
from .fold import mix
from .generator import Stream, to_gamma2, to_unit, words

_PITCH_BITS = 8  # of a pitch's reciprocal in the int precision, behind the point
_MOST_STEP = 32_767  # such a reciprocal at most


@dataclass(frozen=True)
class L1(Family):
    """Laplacian-kernel LSH: one code is the cell of a random grid over all axes, mixed down to 16 bits.

    Two points collide with probability k + (1 - k) / 65536, k = exp(-|x - y|_1 / bandwidth); the
    second term is the mixing of different cells.

    >>> L1(bandwidth=2.0).collision_probability([0.0], [1.0]).round(4)
    np.float64(0.6065)
    """

    bandwidth: float = 1.0
    name: ClassVar[str] = "l1"
    has_ordered_codes: ClassVar[bool] = False
    is_shift_invariant: ClassVar[bool] = True
    has_bandwidth: ClassVar[bool] = True
    entry_nbytes: ClassVar[int] = 12

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", check_bandwidth(self.bandwidth))

    @property
    def unit_scale(self) -> float:
        """1 / r: the pitches are drawn for bandwidth 1."""
        return 1.0 / self.bandwidth

    def _draw(self, seed: int, n_rows: int, n_concat: int, n_features: int) -> dict[str, np.ndarray]:
        pair = words(seed, Stream.PITCH, n_rows, n_concat, 2 * n_features)
        cell = words(seed, Stream.CELL, n_rows, n_concat, n_features + 1)
        return {
            "inverse_pitches": _inverse_pitches(pair),
            "offsets": to_unit(words(seed, Stream.OFFSET, n_rows, n_concat, n_features)),
            "addends": cell[..., 0],
            "multipliers": cell[..., 1:],
        }

    def row_codes(self, scaled: np.ndarray, functions: HashFunctions, row: int) -> np.ndarray:
        """Code = 16 bits mixed from floor(z_j / pitch_j + b_j) over all axes j."""
        drawn = {key: array[row] for key, array in functions.parameters.items()}
        codes = []
        for k in range(functions.n_concat):
            cells = floor_code(scaled * drawn["inverse_pitches"][k][:, None] + drawn["offsets"][k][:, None])
            codes.append(mix(cells, drawn["addends"][k], drawn["multipliers"][k]).astype(np.int32))
        return np.stack(codes)

    def integer_codes(
        self, z: np.ndarray, functions: HashFunctions, row: int, width_bits: int, wraps: bool
    ) -> np.ndarray:
        """The same with cell = (z_j * q_j + b_j) >> (width_bits + 8), q_j being 256 / pitch_j rounded."""
        drawn = {key: array[row] for key, array in functions.parameters.items()}
        bits = width_bits + _PITCH_BITS
        with np.errstate(over="ignore"):
            steps = np.minimum(np.rint(drawn["inverse_pitches"] * np.float32(2**_PITCH_BITS)), _MOST_STEP).astype(
                np.int64
            )
        offsets = integer_offsets(drawn["offsets"], bits)
        codes = []
        for k in range(functions.n_concat):
            cells = clamp_code((z.astype(np.int64) * steps[k][:, None] + offsets[k][:, None]) >> bits)
            codes.append(mix(cells, drawn["addends"][k], drawn["multipliers"][k]).astype(np.int32))
        return np.stack(codes)

    @classmethod
    def largest_sum(cls, directions: str, n_features: int, largest: int, width: int) -> int:
        """Of one axis: a coordinate times the largest step, and the offset."""
        return _MOST_STEP * largest + 2**_PITCH_BITS * width

    def most_terms(self, functions: HashFunctions) -> int:
        """The largest step: axes are not added up."""
        return _MOST_STEP

    def entry_words(self, n: int) -> tuple[int, int]:
        """Two words a pitch."""
        return Stream.PITCH, 2 * n

    def entry_bytes(self, word: np.ndarray, n: int) -> bytes:
        """Inverse pitches, float32."""
        return _inverse_pitches(word).astype("<f4").tobytes()

    def _kernel(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        k = self._textbook(x, y)
        return k + (1.0 - k) / 65_536.0

    def _textbook(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(x - y).sum(-1) / self.bandwidth)


def _inverse_pitches(word: np.ndarray) -> np.ndarray:
    """Reciprocals of the pitches from pairs of words (..., 2 p), float32 (..., p)."""
    return (1.0 / to_gamma2(word[..., ::2], word[..., 1::2])).astype(np.float32)
