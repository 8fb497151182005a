"""The generator: published test vectors, the distributions drawn from it, and their independence."""

from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from scipy import special, stats

from repsketch import lsh
from repsketch.lsh.directions import draw_directions
from repsketch.lsh.generator import Stream, logarithm, threefry, to_gamma2, to_gaussian, to_ternary, to_unit, words

ONES = 0xFFFFFFFF
TERNARY = np.array([1 / 6, 2 / 3, 1 / 6])  # of -1, 0, +1
PAIRS_OF_TERNARY = np.outer(TERNARY, TERNARY)


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((ONES, ONES), (ONES, ONES), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
    ids=["zeros", "ones", "pi"],
)
def test_threefry_known_outputs(key, counter, expected):
    """Published with Random123 (kat_vectors, threefry2x32, 20 rounds)."""
    assert tuple(int(word) for word in threefry(key, counter)) == expected


def test_words_do_not_depend_on_how_many_are_drawn():
    many = words(9, Stream.GAUSSIAN, 7, 5, 9)
    for n_rows, n_codes, n_words in product((1, 7), (1, 5), (1, 2, 9)):
        few = words(9, Stream.GAUSSIAN, n_rows, n_codes, n_words)
        np.testing.assert_array_equal(few, many[:n_rows, :n_codes, :n_words])


def test_every_bit_is_fair(rate_agrees):
    word = words(1, Stream.FOLD, 65_536, 2, 2).ravel()
    ones = np.array([(word >> np.uint32(bit) & np.uint32(1)).sum() for bit in range(32)])
    assert all(rate_agrees(count, word.size, 0.5) for count in ones)
    assert not any(rate_agrees(count, word.size, 0.51) for count in ones)


def _counts_of_pairs(first, second, levels=3, lowest=-1):
    """How often each pair of values occurs, (levels, levels)."""
    joint = (first.astype(np.int64) - lowest) * levels + (second.astype(np.int64) - lowest)
    return np.bincount(joint.ravel(), minlength=levels**2).reshape(levels, levels)


@pytest.fixture(scope="module")
def ternary():
    return draw_directions("ternary", seed=4, n_rows=40_000, n_concat=2, n_features=17)


def test_ternary_frequencies_at_every_position(ternary, counts_agree):
    counts = np.array([(ternary == value).sum(axis=(0, 1)) for value in (-1, 0, 1)])
    assert all(counts_agree(at_position, TERNARY) for at_position in counts.T)
    assert not counts_agree(counts.sum(axis=1), np.array([0.97 / 6, 4.03 / 6, 1 / 6]))  # twin: one sign rarer


NEIGHBOURS = {
    "digits of a word": (np.s_[:, :, :7], np.s_[:, :, 1:8]),
    "words of a block": (np.s_[:, :, :8], np.s_[:, :, 8:16]),
    "blocks": (np.s_[:, :, 0], np.s_[:, :, 16]),
    "codes": (np.s_[:, 0], np.s_[:, 1]),
    "rows": (np.s_[0::2], np.s_[1::2]),
}


@pytest.mark.parametrize("pair", NEIGHBOURS.values(), ids=NEIGHBOURS)
def test_ternary_neighbours_are_independent(ternary, pair, counts_agree):
    first, second = (ternary[selection] for selection in pair)
    assert counts_agree(_counts_of_pairs(first, second), PAIRS_OF_TERNARY)
    # Twin: every 20th draw repeats its neighbour.
    copied = np.where(np.arange(first.size).reshape(first.shape) % 20 == 0, first, second)
    assert not counts_agree(_counts_of_pairs(first, copied), PAIRS_OF_TERNARY)


def test_neighbouring_seeds_and_streams_are_independent(counts_agree):
    """The two top bits of words that differ only in the seed, or only in the stream."""
    even = np.full((4, 4), 1 / 16)
    base, other_seed, other_stream = (
        words(seed, stream, 65_536, 1, 2) >> np.uint32(30)
        for seed, stream in ((5, Stream.OFFSET), (6, Stream.OFFSET), (5, Stream.FOLD))
    )
    for other in (other_seed, other_stream):
        assert counts_agree(_counts_of_pairs(base, other, levels=4, lowest=0), even)
    assert not counts_agree(_counts_of_pairs(base, base, levels=4, lowest=0), even)


def test_ternary_digits_are_base_six():
    """Against integer arithmetic: digit i is floor(word * 6**(i+1) / 2**32) mod 6."""
    word = words(3, Stream.TERNARY, 200, 1, 1).ravel()
    for value, drawn in zip(word, to_ternary(word), strict=True):
        digits = [int(value) * 6 ** (i + 1) // 2**32 % 6 for i in range(8)]
        assert drawn.tolist() == [(digit == 5) - (digit == 0) for digit in digits]


@pytest.fixture(scope="module")
def normal():
    return draw_directions("gaussian", seed=8, n_rows=50_000, n_concat=2, n_features=2).astype(np.float64)


def test_gaussian_moments(normal):
    """Moments 0, 1, 0, 3 within 5 standard errors sqrt((m_2j - m_j**2) / n): variances 1, 2, 15, 96."""
    powers, moments, variances = np.arange(1, 5), np.array([0, 1, 0, 3]), np.array([1, 2, 15, 96])

    def agrees(draws):
        errors = np.abs((draws.ravel()[:, None] ** powers).mean(axis=0) - moments)
        return errors < 5.0 * np.sqrt(variances / draws.size)

    assert agrees(normal).all()
    assert not agrees(1.02 * normal)[1::2].any()  # twin: 2 per cent wider
    assert not agrees(normal + 0.02)[0]  # twin: shifted


def test_gaussian_distribution(normal, distribution_agrees):
    assert distribution_agrees(normal, special.ndtr)
    assert not distribution_agrees(1.03 * normal, special.ndtr)
    assert not distribution_agrees(normal + 0.02, special.ndtr)


def test_gaussian_neighbours_are_independent(normal, counts_agree):
    """Signs and sizes (above the quartile or not) of neighbouring coordinates, codes and rows."""
    quarter = special.ndtri(0.75)
    outer = (np.abs(normal) > quarter).astype(np.int64) + 2 * (normal > 0)
    pairs = ((outer[..., 0], outer[..., 1]), (outer[:, 0], outer[:, 1]), (outer[::2], outer[1::2]))
    for first, second in pairs:
        assert counts_agree(_counts_of_pairs(first, second, levels=4, lowest=0), np.full((4, 4), 1 / 16))


def test_gaussian_is_the_quantile():
    """AS 241 is good to 1e-16; one rounding to float32 remains, 2**-24 relative."""
    ends = np.array([0, 1, 2, 2**31 - 1, 2**31, 2**31 + 1, ONES - 1, ONES], np.uint32)
    # Where AS 241 changes its polynomials.
    breaks = (np.array([0.075, 0.925]) * 2.0**32).astype(np.uint32)
    word = np.concatenate([ends, breaks, breaks + np.uint32(1), words(2, Stream.GAUSSIAN, 1, 1, 5_000).ravel()])
    with np.errstate(under="ignore"):
        expected = special.ndtri((word.astype(np.float64) + 0.5) * 2.0**-32)
    np.testing.assert_allclose(to_gaussian(word), expected, rtol=1.01 * 2.0**-24)
    np.testing.assert_array_equal(to_gaussian(word), -to_gaussian(~word))


def test_logarithm_is_as_accurate_as_it_says():
    """Against 40 digits: 1e-15 relative to max(1, |log x|)."""
    draws = (words(6, Stream.PITCH, 1, 1, 1_000).ravel() + 0.5) * 2.0**-32
    edges = [
        2.0**-33,
        np.nextafter(0.5**0.5, 0),
        0.5**0.5,
        0.5,
        1.0,
        np.nextafter(1.0, 2.0),
        2.0**0.5,
        2.0,
        10.0,
        1e300,
    ]
    values = np.concatenate([draws, edges, draws * 1e-9, draws * 1e9])
    with localcontext(prec=40):
        exact = [Decimal(float(value)).ln() for value in values]
        errors = [
            abs(Decimal(float(got)) - log) / max(1, abs(log)) for got, log in zip(logarithm(values), exact, strict=True)
        ]
    assert max(errors) < 1e-15


def test_gamma_two(mean_agrees, distribution_agrees):
    """Shape 2, scale 1: distribution 1 - (1 + x) exp(-x), moments 2, 6, 24."""
    pair = words(12, Stream.PITCH, 60_000, 1, 4)
    draws = to_gamma2(pair[..., ::2], pair[..., 1::2]).ravel()
    assert distribution_agrees(draws, stats.gamma(2.0).cdf)
    assert not distribution_agrees(1.03 * draws, stats.gamma(2.0).cdf)
    assert mean_agrees(draws[:, None] ** np.arange(1, 4), [2.0, 6.0, 24.0]).all()


def test_pitches_of_the_l1_family_are_gamma_two(distribution_agrees):
    drawn = lsh.L1(3.0).sample(n_features=3, n_rows=20_000, n_concat=2, random_state=5).parameters
    assert distribution_agrees(1.0 / drawn["inverse_pitches"].astype(np.float64), stats.gamma(2.0).cdf)


@pytest.mark.parametrize("family", [lsh.L2(1.0), lsh.L1(1.0)], ids=lambda family: family.name)
def test_offsets_are_uniform(family, distribution_agrees):
    offsets = family.sample(n_features=2, n_rows=50_000, n_concat=2, random_state=7).parameters["offsets"]
    assert offsets.min() >= 0.0
    assert offsets.max() < 1.0
    assert distribution_agrees(offsets, stats.uniform.cdf)
    assert not distribution_agrees(offsets**1.04, stats.uniform.cdf)


def test_unit_fractions_are_the_top_24_bits():
    np.testing.assert_array_equal(
        to_unit(np.array([0, 0xFF, 0x100, 1 << 31, ONES], np.uint32)), [0.0, 0.0, 2.0**-24, 0.5, 1.0 - 2.0**-24]
    )
