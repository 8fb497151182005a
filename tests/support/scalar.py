"""Algorithms 1 and 2 written out as docs/spec says them, one scalar at a time in float32: slow, and easy to read."""

from functools import cache
from math import floor

import numpy as np

from repsketch import Sketch, _native
from repsketch.lsh.generator import Stream

F = np.float32

# -- one hash -----------------------------------------------------------------------------------


def clamped_floor(value) -> int:
    return int(max(-32768, min(32767, floor(float(value)))))


def code_of(family, parameters: dict, z: list) -> int:
    """One code of the point z, whose coordinates are in the family's units."""
    if family.name == "minhash":
        members = [int(w) for w, coordinate in zip(parameters["words"], z, strict=True) if coordinate != 0]
        return min(members, default=0xFFFFFFFF) & 0xFFFF
    if family.name == "l1":
        total = int(parameters["addends"])
        axes = (parameters[name] for name in ("inverse_pitches", "offsets", "multipliers"))
        for coordinate, inverse, offset, multiplier in zip(z, *axes, strict=True):
            cell = clamped_floor(coordinate * inverse + offset)
            total += (cell % 2**16) * int(multiplier)
        return (total % 2**32) >> 16
    total = parameters["offsets"] if family.name == "l2" else F(0)
    for coordinate, direction in zip(z, parameters["directions"], strict=True):
        if direction == 1:
            total = total + coordinate
        elif direction == -1:
            total = total - coordinate
        elif direction != 0:
            total = total + coordinate * direction
    return clamped_floor(total) if family.name == "l2" else int(total >= 0)


@cache
def drawn_for(hashes) -> dict:
    return hashes.family.sample(hashes.n_features, hashes.n_rows, hashes.n_concat, hashes.seed).parameters


def bucket_of(hashes, row: int, z: list) -> int:
    """h_row(z): K codes, folded."""
    drawn = drawn_for(hashes)
    codes = [
        code_of(hashes.family, {name: array[row, k] for name, array in drawn.items()}, z)
        for k in range(hashes.n_concat)
    ]
    if hashes.fold == "universal":
        total = _native.word(hashes.seed, Stream.FOLD, row, 0, 1)
        for k, code in enumerate(codes):
            total += (code % 2**16) * _native.word(hashes.seed, Stream.FOLD, row, k, 0)
        return (((total % 2**32) >> 16) * hashes.n_buckets) >> 16
    n_levels = round(hashes.n_buckets ** (1 / hashes.n_concat))
    lowest = 0 if hashes.family.is_binary else -(n_levels // 2)
    return sum(min(max(code - lowest, 0), n_levels - 1) * n_levels**k for k, code in enumerate(codes))


def saturated(value):
    return min(max(F(value), F(-(2.0**64))), F(2.0**64))


def in_units(family, x) -> list:
    with np.errstate(over="ignore"):
        return [saturated(F(value) * F(family.unit_scale)) for value in x]


def project(sketch: Sketch, x) -> list:
    """The coordinates of x that are hashed."""
    if sketch.projection is None:
        return in_units(sketch.hashes.family, x)
    z = [F(0)] * sketch.hashes.n_features
    if sketch.shift is not None:
        z = [a + b for a, b in zip(z, sketch.shift, strict=True)]
    for value, column in zip(x, sketch.projection, strict=True):
        z = [a + b * saturated(value) for a, b in zip(z, column, strict=True)]
    return [saturated(coordinate) for coordinate in z]


# -- Algorithm 2 --------------------------------------------------------------------------------


def query(sketch: Sketch, x) -> list:
    """Every output for one input, in the order of additions of the specification."""
    z = project(sketch, x)
    buckets = [bucket_of(sketch.hashes, row, z) for row in range(sketch.n_rows)]
    outputs = []
    for c in range(sketch.n_outputs):
        means = []
        for group in range(sketch.n_groups):
            first = group * sketch.n_rows // sketch.n_groups
            end = (group + 1) * sketch.n_rows // sketch.n_groups
            total = F(0)
            for row in range(first, end):
                total = total + sketch.counters[row, buckets[row], c]
            means.append(total / F(end - first))
        means.sort()
        middle = means[len(means) // 2]
        if len(means) % 2 == 0:
            middle = (means[len(means) // 2 - 1] + middle) * F(0.5)
        output = middle * sketch.gain[c] + sketch.offset[c]
        if sketch.linear is not None:
            for coordinate, slopes in zip(z, sketch.linear, strict=True):
                output = output + coordinate * slopes[c]
        outputs.append(output)
    return outputs


# -- Algorithm 1 --------------------------------------------------------------------------------


def count(sketch: Sketch, points, weights, step: float) -> np.ndarray:
    """Counters as numbers of steps, Python integers (L, R, C)."""
    counters = np.zeros((sketch.n_rows, sketch.n_buckets, weights.shape[1]), object)
    for point, weight in zip(points, weights, strict=True):
        z = in_units(sketch.hashes.family, point)
        for row in range(sketch.n_rows):
            bucket = bucket_of(sketch.hashes, row, z)
            for c, value in enumerate(weight):
                counters[row, bucket, c] += round(float(value) / step)
    return counters
