"""Minwise hashing for the Jaccard similarity of sets: a point is the set of its non-zero coordinates.

Paper: Section 2.2 names the family; the hash is Broder's (1997), 16 bits of it stored as Li and König
(2010) do.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .family import Family, HashFunctions
from .generator import Stream, words

_NOTHING = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True)
class MinHash(Family):
    """MinHash: the low 16 bits of the smallest random word among a set's members.

    Two sets collide with probability J + (1 - J) / 65536, J being their Jaccard similarity; two
    empty sets always do.

    >>> MinHash().collision_probability([1, 1, 0], [1, 0, 0]).round(4)
    np.float64(0.5)
    """

    name: ClassVar[str] = "minhash"
    has_ordered_codes: ClassVar[bool] = False
    is_differentiable: ClassVar[bool] = False
    takes_sets: ClassVar[bool] = True

    def _draw(self, seed: int, n_rows: int, n_concat: int, n_features: int) -> dict[str, np.ndarray]:
        return {"words": words(seed, Stream.MINHASH, n_rows, n_concat, n_features)}

    def row_codes(self, scaled: np.ndarray, functions: HashFunctions, row: int) -> np.ndarray:
        """Code = low 16 bits of the smallest word over the coordinates that are not 0."""
        members = scaled != 0
        codes = []
        for word in functions.parameters["words"][row]:
            smallest = np.where(members, word[:, None], _NOTHING).min(axis=0, initial=_NOTHING)
            codes.append((smallest & np.uint32(0xFFFF)).astype(np.int32))
        return np.stack(codes)

    def integer_codes(
        self, z: np.ndarray, functions: HashFunctions, row: int, width_bits: int, wraps: bool
    ) -> np.ndarray:
        """The same as in float32: only which coordinates are 0 matters."""
        return self.row_codes(z, functions, row)

    @classmethod
    def largest_sum(cls, directions: str, n_features: int, largest: int, width: int) -> int:
        """Nothing is added up."""
        return 0

    def most_terms(self, functions: HashFunctions) -> int:
        """A coordinate is a member or not."""
        return 1

    def entry_words(self, n: int) -> tuple[int, int]:
        """A word a coordinate."""
        return Stream.MINHASH, n

    def entry_bytes(self, word: np.ndarray, n: int) -> bytes:
        """The words themselves."""
        return word.astype("<u4").tobytes()

    def _kernel(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        jaccard = self._textbook(x, y)
        return jaccard + (1.0 - jaccard) / 65_536.0

    def _textbook(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return jaccard_similarity(x, y)


def jaccard_similarity(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """|x and y| / |x or y| of the non-zero coordinates along the last axis; 1 for two empty sets.

    >>> jaccard_similarity(np.array([1, 1, 0]), np.array([0, 1, 1])).round(3)
    np.float64(0.333)
    """
    x, y = x != 0, y != 0
    union = (x | y).sum(-1)
    return np.where(union == 0, 1.0, (x & y).sum(-1) / np.maximum(union, 1))
