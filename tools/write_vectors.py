"""Write docs/spec/vectors.json: what every implementation of the generator and the fold must reproduce.

Run it once when the specification changes, and look at the difference; a test never writes goldens.

    python tools/write_vectors.py
"""

import json
from pathlib import Path

import numpy as np

from repsketch import lsh
from repsketch.lsh.directions import draw_directions
from repsketch.lsh.fold import draw_multipliers, fold_universal
from repsketch.lsh.generator import MAX_CONCAT, MAX_FEATURES, MAX_ROWS, Stream, to_gaussian, words

PATH = Path(__file__).parents[1] / "docs" / "spec" / "vectors.json"
LARGEST_SEED = 2**32 - 1

# (seed, stream, row, code, index): every stream, both halves of a block, and each limit once.
PLACES = [
    *((7, stream, 2, 1, 3) for stream in Stream),
    (0, Stream.TERNARY, 0, 0, 0),
    (0, Stream.TERNARY, 0, 0, 1),
    (LARGEST_SEED, Stream.OFFSET, 0, 0, 2),
    (12_345, Stream.FOLD, MAX_ROWS - 1, 0, 1),
    (12_345, Stream.FOLD, 0, MAX_CONCAT - 1, 0),
    (1, Stream.PITCH, 0, 0, 2 * MAX_FEATURES - 1),
]
# (seed, row, code, number of coordinates): 21 digits end inside the third word.
CODES = [(0, 0, 0, 21), (12_345, 3, 2, 8), (LARGEST_SEED, 40, 0, 8)]
# Ends, middle, and both sides of the places where AS 241 changes its polynomials, probability 0.075 and 0.925.
QUANTILES = [0, 1, 322122546, 322122547, 2**31 - 1, 2**31, 3972844748, 3972844749, LARGEST_SEED]
# (seed, row, codes, buckets)
FOLDS = [
    (0, 0, [0], 2),
    (0, 1, [-1], 2),
    (12_345, 2, [3, -4], 7),
    (12_345, 2, [3, -3], 7),
    (LARGEST_SEED, 5, [-32_768, 32_767, 0, 12], 1000),
    (9, 100, [1, 2, 3], 65_536),
]


def main() -> None:
    """Write the table, one vector a line."""
    tables = {
        "words": [_word(*place) for place in PLACES],
        "ternary": [_ternary(*code) for code in CODES],
        "gaussian": [_gaussian(*code) for code in CODES],
        "quantile": [{"word": _hexadecimal(word), "bits": _bits(to_gaussian(np.uint32(word)))} for word in QUANTILES],
        "l2_offset": [_l2_offset(*code) for code in CODES],
        "l1_grid": [_l1_grid(*code[:3]) for code in CODES],
        "fold": [_fold(*fold) for fold in FOLDS],
    }
    lines = [f'"{name}": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]" for name, rows in tables.items()]
    PATH.parent.mkdir(parents=True, exist_ok=True)
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _word(seed: int, stream: Stream, row: int, code: int, index: int) -> dict:
    word = words(seed, stream, row + 1, code + 1, index + 1)[row, code, index]
    place = {"seed": seed, "stream": int(stream), "row": row, "code": code, "index": index}
    return place | {"word": _hexadecimal(word)}


def _ternary(seed: int, row: int, code: int, n_features: int) -> dict:
    drawn = draw_directions("ternary", seed, row + 1, code + 1, n_features)[row, code]
    return {"seed": seed, "row": row, "code": code, "directions": drawn.tolist()}


def _gaussian(seed: int, row: int, code: int, n_features: int) -> dict:
    drawn = draw_directions("gaussian", seed, row + 1, code + 1, n_features)[row, code]
    return {"seed": seed, "row": row, "code": code, "bits": [_bits(value) for value in drawn]}


def _l2_offset(seed: int, row: int, code: int, n_features: int) -> dict:
    drawn = lsh.L2().sample(n_features, row + 1, code + 1, seed).parameters["offsets"][row, code]
    return {"seed": seed, "row": row, "code": code, "bits": _bits(drawn)}


def _l1_grid(seed: int, row: int, code: int) -> dict:
    drawn = {name: array[row, code] for name, array in lsh.L1().sample(4, row + 1, code + 1, seed).parameters.items()}
    return {
        "seed": seed,
        "row": row,
        "code": code,
        "inverse_pitches": [_bits(value) for value in drawn["inverse_pitches"]],
        "offsets": [_bits(value) for value in drawn["offsets"]],
        "addend": _hexadecimal(drawn["addends"]),
        "multipliers": [_hexadecimal(word) for word in drawn["multipliers"]],
    }


def _fold(seed: int, row: int, codes: list[int], n_buckets: int) -> dict:
    addends, multipliers = draw_multipliers(seed, row + 1, len(codes))
    column = np.array(codes, np.int32)[:, None]
    bucket = fold_universal(column, addends[row], multipliers[row], n_buckets)[0]
    return {"seed": seed, "row": row, "codes": codes, "n_buckets": n_buckets, "bucket": int(bucket)}


def _bits(value: np.ndarray) -> str:
    """The bit pattern of a float32, as eight hexadecimal digits."""
    return _hexadecimal(np.asarray(value, np.float32).view(np.uint32))


def _hexadecimal(word: np.ndarray | int) -> str:
    return f"{int(word):08x}"


if __name__ == "__main__":
    main()
