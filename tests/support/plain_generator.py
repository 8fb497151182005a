"""``docs/spec/generator.md`` once more, word by word, in plain Python; ``plain.py`` is the other page."""

from functools import lru_cache
from math import copysign, frexp, sqrt

import numpy as np

F = np.float32
TERNARY, GAUSSIAN, OFFSET, FOLD, PITCH, CELL, MINHASH, SPARSE, BIAS = range(1, 10)
WORD = 0xFFFFFFFF


@lru_cache(maxsize=200_000)
def _threefry(k0, k1, c0, c1):
    keys = (k0, k1, k0 ^ k1 ^ 0x1BD11BDA)
    x0, x1 = (c0 + k0) & WORD, (c1 + k1) & WORD
    for group in range(5):
        for rotation in (13, 15, 26, 6) if group % 2 == 0 else (17, 29, 16, 24):
            x0 = (x0 + x1) & WORD
            x1 = (((x1 << rotation) | (x1 >> (32 - rotation))) & WORD) ^ x0
        x0 = (x0 + keys[(group + 1) % 3]) & WORD
        x1 = (x1 + keys[(group + 2) % 3] + group + 1) & WORD
    return x0, x1


def word_at(seed, stream, row, code, index):
    """One word of the generator."""
    return _threefry(seed, stream, row, (code * 2**20 + index // 2) & WORD)[index % 2]


def ternary_at(seed, row, code, coordinate):
    """Entry of a ternary direction: digit ``coordinate mod 8`` in base 6 of its word."""
    w = word_at(seed, TERNARY, row, code, coordinate // 8)
    for _ in range(coordinate % 8 + 1):
        digit, w = divmod(6 * w, 2**32)
    return {0: -1, 5: 1}.get(digit, 0)


def offset_of(word):
    return F((word >> 8) * 2.0**-24)


def logarithm(x):
    m, e = frexp(x)  # m in [0.5, 1)
    if m < 0.7071067811865476:
        m, e = 2.0 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    y, series = s * s, 1.0 / 23.0
    for power in (21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1):
        series = series * y + 1.0 / power
    return e * 0.6931471805599453 + 2.0 * s * series


# Wichura's AS 241 as published, lowest power first; the page names it and does not list it.
_CENTRE = (
    (3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
     45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    (1.0, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077,
     21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610),
)  # fmt: skip
_OUTER = (
    (1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
     1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550,
     0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9),
)  # fmt: skip


def _polynomial(coefficients, x):
    value = 0.0
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def gaussian_of(word):
    q = (word + 0.5) * 2.0**-32 - 0.5
    if abs(q) <= 0.425:
        r = 0.180625 - q * q
        return F(q * (_polynomial(_CENTRE[0], r) / _polynomial(_CENTRE[1], r)))
    r = sqrt(-logarithm(0.5 - abs(q))) - 1.6
    return F(copysign(_polynomial(_OUTER[0], r) / _polynomial(_OUTER[1], r), q))


def inverse_pitch_at(seed, row, code, axis):
    u, v = ((word_at(seed, PITCH, row, code, 2 * axis + i) + 0.5) * 2.0**-32 for i in (0, 1))
    return F(1.0 / -(logarithm(u) + logarithm(v)))
