"""The oracle against the specification's pages, read by someone else (``plain.py``): bits against bits."""

import json
from pathlib import Path

import numpy as np
import pytest

from repsketch.lsh.generator import Stream, to_gaussian, words
from repsketch.model.oracle import accumulators, buckets, query
from support import plain, plain_generator
from support.models import THEMES, random_inputs, random_model

N_MODELS, N_FAST = 6 * len(THEMES), 2 * len(THEMES)  # random models; those that the fast tests run
VECTORS = json.loads((Path(__file__).parents[2] / "docs/spec/vectors.json").read_text())


@pytest.mark.parametrize(
    "seed", [seed if seed < N_FAST else pytest.param(seed, marks=pytest.mark.slow) for seed in range(N_MODELS)]
)
def test_model(seed):
    model = random_model(20_000 + seed)
    X = random_inputs(model, 4, seed)
    by_page = plain.PlainModel(model)
    found = buckets(model, X), accumulators(model, X), query(model, X)
    for i, row in enumerate(X):
        bucket, accumulated, output = by_page.evaluate(row)
        assert found[0][i].tolist() == bucket
        wanted = np.array(accumulated, found[1].dtype)
        assert found[1][:, i].view(np.int32).tolist() == wanted.view(np.int32).tolist()
        assert found[2][i].view(np.int32).tolist() == np.array(output, np.float32).view(np.int32).tolist()


def test_words_of_every_stream():
    rng = np.random.default_rng(0)
    for stream in Stream:
        assert stream.value == getattr(plain_generator, stream.name)
        seed, row = int(rng.integers(2**32)), int(rng.integers(65_536))
        drawn = words(seed, stream, 1, 3, 5, first_row=row)[0]
        assert drawn.tolist() == [
            [plain_generator.word_at(seed, stream.value, row, code, i) for i in range(5)] for code in range(3)
        ]


def test_gaussian_numbers():
    """AS 241 as it was published: the package's copy differs from it in the 13th digit of one coefficient."""
    drawn = np.random.default_rng(0).integers(0, 2**32, 20_000, np.uint32)
    drawn[:4] = 0, 1, 2**31, 2**32 - 1
    wanted = np.array([plain_generator.gaussian_of(int(word)) for word in drawn], np.float32)
    np.testing.assert_array_equal(to_gaussian(drawn).view(np.int32), wanted.view(np.int32))


def bits_of(number) -> str:
    return f"{int(np.float32(number).view(np.uint32)):08x}"


def test_the_vectors_of_the_page():
    for v in VECTORS["words"]:
        assert f"{plain_generator.word_at(v['seed'], v['stream'], v['row'], v['code'], v['index']):08x}" == v["word"]
    for v in VECTORS["ternary"]:
        places = range(len(v["directions"]))
        assert [plain_generator.ternary_at(v["seed"], v["row"], v["code"], j) for j in places] == v["directions"]
    for v in VECTORS["quantile"]:
        assert bits_of(plain_generator.gaussian_of(int(v["word"], 16))) == v["bits"]
    for v in VECTORS["l1_grid"]:
        places = range(len(v["inverse_pitches"]))
        drawn = [plain_generator.inverse_pitch_at(v["seed"], v["row"], v["code"], j) for j in places]
        assert [bits_of(number) for number in drawn] == v["inverse_pitches"]
