"""The judge of the judge: ``docs/spec/inference.md`` once more, number by number, in plain Python.

Written from the page alone, as ``plain_generator.py`` is from ``generator.md``. Nothing of the package is called: a
model is read as a record of numbers, and every step is a loop over scalars, slow and hard to get wrong. Integers
are Python's, float32 ones NumPy's scalars.
"""

from functools import cache
from math import floor, ldexp

import numpy as np

from support.plain_generator import (
    BIAS,
    CELL,
    FOLD,
    GAUSSIAN,
    MINHASH,
    OFFSET,
    SPARSE,
    WORD,
    F,
    gaussian_of,
    inverse_pitch_at,
    offset_of,
    ternary_at,
    word_at,
)  # fmt: skip
from support.plain_stages import clamp, run_stages

# -- small steps --------------------------------------------------------------------------------


def clamp16(x):
    return clamp(x, -32768, 32767)


def saturate(v):
    return clamp(v, F(-(2.0**64)), F(2.0**64))


def top_bits(word, n):
    """``word >> (32 - n)``; a shift by 32 gives 0."""
    return word >> (32 - n) if n else 0


def near_even(x):
    """Nearest integer, halves to the even one."""
    below = floor(x)
    rest = float(x) - below
    return below + (rest > 0.5 or (rest == 0.5 and below % 2 == 1))


# -- 1. values ----------------------------------------------------------------------------------


def values_of(inputs, row):
    """Values of one row of floats, in order: floats, or integers in the int precision."""
    columns = range(inputs.n_features) if inputs.columns is None else inputs.columns
    kinds = [0] * len(columns) if inputs.kinds is None else inputs.kinds
    is_integer = inputs.limits is not None
    one = int if is_integer else F
    values, n_numeric = [], 0
    for column, kind in zip(columns, kinds, strict=True):
        x = F(row[column])
        is_missing = bool(np.isnan(x))
        if kind == 1:
            values.append(one(x != 0 and not is_missing))
        elif kind >= 2:
            values += [one(x == i) for i in range(kind)]
        else:
            values.append(_number_of(inputs, x, is_missing, n_numeric))
            n_numeric += 1
    return values


def _number_of(inputs, x, is_missing, place):
    if is_missing:
        return F(-(2.0**64)) if inputs.limits is None else inputs.limits[0] - 1
    if inputs.centers is not None:
        x = x - F(inputs.centers[place if len(inputs.centers) > 1 else 0])
    if inputs.scales is not None:
        x = x * F(inputs.scales[place if len(inputs.scales) > 1 else 0])
    return saturate(x) if inputs.limits is None else near_even(clamp(x, *map(F, inputs.limits)))


def booleans_of(inputs):
    """Which values come from boolean or categorical columns."""
    n_columns = inputs.n_features if inputs.columns is None else len(inputs.columns)
    kinds = [0] * n_columns if inputs.kinds is None else inputs.kinds
    return [kind > 0 for kind in kinds for _ in range(max(kind, 1))]


# -- 2. projection ------------------------------------------------------------------------------


def project(projection, values):
    if projection is None:
        return values
    shift, matrix = projection.shift, projection.matrix
    if projection.kind == "shift":
        return [saturate(v + F(s)) for v, s in zip(values, shift, strict=True)]
    if projection.limit is not None:
        return [_project_integers(projection, values, j) for j in range(projection.n_components)]
    z = []
    for j in range(projection.n_components):
        is_float = projection.kind == "float32"
        total = F(shift[j]) if is_float and shift is not None else F(0.0)
        for i, v in enumerate(values):
            total = total + F(matrix[i, j]) * v
        if not is_float:
            total = total * F(projection.scales[j])
            if shift is not None:
                total = total + F(shift[j])
        z.append(saturate(total))
    return z


def _project_integers(projection, values, j):
    total = 0 if projection.shift is None else int(projection.shift[j])
    for i, v in enumerate(values):
        total += int(projection.matrix[i, j]) * v
    total *= 1 if projection.multipliers is None else int(projection.multipliers[j])
    return clamp(total >> projection.right_shift, -projection.limit, projection.limit)


# -- 3. codes of a family -----------------------------------------------------------------------


class OwnRows:
    """Rows that own their codes."""

    def __init__(self, hashes):
        self.hashes, self.seed, self.width = hashes, hashes.seed, hashes.width_bits
        self.name = hashes.family.name
        self.kind = getattr(hashes.family, "directions", None)
        self.n_levels = next((n for n in range(2, 65_537) if n**hashes.n_concat == hashes.n_buckets), 0)

    @cache  # noqa: B019 (one object a test)
    def entry(self, row, k, j):
        """Entry j of a direction: -1, 0, +1, a float32, or 64 times that rounded."""
        if self.kind == "ternary":
            return ternary_at(self.seed, row, k, j)
        a = gaussian_of(word_at(self.seed, GAUSSIAN, row, k, j))
        return a if self.width is None else near_even(64.0 * float(a))

    def _sum(self, start, row, k, z):
        t = start
        for j, z_j in enumerate(z):
            a = self.entry(row, k, j)
            if self.kind == "ternary":
                t = t + z_j if a == 1 else t - z_j if a == -1 else t
            else:
                t = t + z_j * a
        return t

    def code(self, row, k, z):
        if self.name == "minhash":
            drawn = [word_at(self.seed, MINHASH, row, k, j) for j in range(len(z)) if z[j] != 0]
            return min([WORD, *drawn]) & 0xFFFF
        if self.name == "l1":
            return self._cell_code(row, k, z)
        if self.name == "angular":
            return int(self._sum(F(0.0) if self.width is None else 0, row, k, z) >= 0)
        word = word_at(self.seed, OFFSET, row, k, 0)
        if self.width is None:
            return clamp16(floor(self._sum(offset_of(word), row, k, z)))
        if self.kind == "gaussian":
            return clamp16(self._sum(top_bits(word, self.width + 6), row, k, z) >> (self.width + 6))
        t = self._sum(top_bits(word, self.width), row, k, z)
        if self.hashes.fold == "universal":
            t = (t + 2**15) % 2**16 - 2**15
        return clamp16(t >> self.width)

    @cache  # noqa: B019
    def inverse_pitch(self, row, k, j):
        return inverse_pitch_at(self.seed, row, k, j)

    def _cell_code(self, row, k, z):
        total = word_at(self.seed, CELL, row, k, 0)
        for j, z_j in enumerate(z):
            word, inverse = word_at(self.seed, OFFSET, row, k, j), self.inverse_pitch(row, k, j)
            if self.width is None:
                cell = clamp16(floor(z_j * inverse + offset_of(word)))
            else:
                step = min(near_even(256.0 * float(inverse)), 32767)
                cell = clamp16((z_j * step + (word >> (24 - self.width))) >> (self.width + 8))
            total += word_at(self.seed, CELL, row, k, j + 1) * (cell % 2**16)
        return (total & WORD) >> 16

    def bucket(self, row, z):
        codes = [self.code(row, k, z) for k in range(self.hashes.n_concat)]
        if self.hashes.fold == "universal":
            total = word_at(self.seed, FOLD, row, 0, 1)
            for k, code in enumerate(codes):
                total += word_at(self.seed, FOLD, row, k, 0) * (code % 2**16)
            return (((total & WORD) >> 16) * self.hashes.n_buckets) >> 16
        half = 0 if self.name == "angular" else self.n_levels // 2
        digits = [clamp(code + half, 0, self.n_levels - 1) for code in codes]
        return sum(digit * self.n_levels**k for k, digit in enumerate(digits))


# -- 3. codes of a pool -------------------------------------------------------------------------


class Pool:
    """Rows that name codes of a pool. ``booleans``: which coordinates are boolean or categorical values."""

    def __init__(self, rows, booleans):
        self.rows, self.pool, self.booleans = rows, rows.pool, booleans
        self.width, self.n_levels = rows.pool.width_bits, rows.pool.n_levels

    @cache  # noqa: B019
    def direction(self, c):
        """Coordinates of the non-zeros with their signs, in rising order."""
        pool, p = self.pool, self.pool.n_features
        if pool.kind == "threshold":
            return [(int(pool.columns[c]), 1)]
        if c < pool.n_axes:
            return [(c, 1)]
        if pool.kind == "ternary":
            entries = [(j, ternary_at(pool.seed, c, 0, j)) for j in range(p)]
            return [(j, sign) for j, sign in entries if sign]
        n = 1 + ((word_at(pool.seed, SPARSE, c, 0, 0) >> 16) * min(pool.n_nonzeros, p) >> 16)
        left, entries = list(range(p)), []
        for i in range(n):
            word = word_at(pool.seed, SPARSE, c, 0, i + 1)
            entries.append((left.pop(((word >> 1) * (p - i)) >> 31), -1 if word % 2 else 1))
        return sorted(entries)

    @cache  # noqa: B019
    def bias(self, c):
        pool, zero = self.pool, F(0.0) if self.width is None else 0
        if pool.kind == "threshold":
            return F(pool.thresholds[c]) if self.width is None else int(pool.thresholds[c])
        if not pool.is_seeded:
            return zero
        entries = self.direction(c)
        if all(self.booleans[j] for j, _ in entries):
            n_minus = sum(sign < 0 for _, sign in entries)
            return 1 - n_minus + ((word_at(pool.seed, BIAS, c, 0, 0) >> 16) * len(entries) >> 16)
        bias = zero
        for i, (j, sign) in enumerate(entries):
            if self.booleans[j]:
                continue
            word = word_at(pool.seed, BIAS, c, 0, i)
            g = sum(word >> shift & 255 for shift in (0, 8, 16, 24)) - 510
            step = F(g) * F(pool.bias_scale) if self.width is None else g * pool.bias_scale >> 8
            bias = bias + step if sign > 0 else bias - step
        return bias

    def sum_of(self, c, z):
        t = F(0.0) if self.width is None else 0
        for j, sign in self.direction(c):
            t = t + z[j] if sign > 0 else t - z[j]
        return t

    def position(self, c, z):
        """The page's u."""
        pool, n = self.pool, self.n_levels
        k = len(self.direction(c)).bit_length() >> 1 if pool.is_normalised else 0
        word = word_at(pool.seed, OFFSET, c, 0, 0)
        if self.width is None:
            centre = F((n - 1) / 2 if self.rows.interpolate else n / 2)
            start = F(n // 2) + offset_of(word) if pool.is_seeded else centre
            return self.sum_of(c, z) * F(ldexp(1.0, -k)) + start
        if pool.is_seeded:
            start = (n // 2) * 2**self.width + top_bits(word, self.width)
        else:
            start = (n - 1 if self.rows.interpolate else n) * 2**self.width // 2
        return (self.sum_of(c, z) >> k) + start

    def digit(self, c, z):
        if not self.n_levels:
            return int(self.sum_of(c, z) >= self.bias(c))
        u = self.position(c, z)
        return clamp(floor(u) if self.width is None else u >> self.width, 0, self.n_levels - 1)

    def codes_of(self, row):
        k = self.rows.n_concat
        return range(row * k, row * k + k) if self.rows.indices is None else [int(c) for c in self.rows.indices[row]]

    def bucket(self, row, z):
        if self.rows.interpolate:
            return self.between(row, z)[0]
        n_levels = self.n_levels or 2
        return sum(self.digit(c, z) * n_levels**k for k, c in enumerate(self.codes_of(row)))

    def between(self, row, z):
        """The page's i and f."""
        u, n = self.position(self.codes_of(row)[0], z), self.n_levels
        if self.width is None:
            u = clamp(u, F(0.0), F(n - 1))
            i = min(floor(u), n - 2)
            return i, u - F(i)
        u = clamp(u, 0, (n - 1) << self.width)
        i = min(u >> self.width, n - 2)
        return i, u - (i << self.width)


# -- 3. look-up and accumulators ----------------------------------------------------------------


class PlainRowGroup:
    """One group of rows of a model."""

    def __init__(self, group, booleans):
        self.group, self.is_integer = group, group.hashes.width_bits is not None
        self.rows = Pool(group.hashes, booleans) if hasattr(group.hashes, "pool") else OwnRows(group.hashes)
        self.number = int if self.is_integer else F

    def buckets(self, z):
        return [self.rows.bucket(row, z) for row in range(self.group.hashes.n_rows)]

    def read(self, row, z):
        """s_l."""
        group, number = self.group, self.number
        if getattr(group.hashes, "interpolate", False):
            i, f = self.rows.between(row, z)
            pairs = zip(*([number(s) for s in group.counters[row, at]] for at in (i, i + 1)), strict=True)
            width = 2**group.hashes.width_bits if self.is_integer else F(1.0)
            s = [below * width + (above - below) * f for below, above in pairs]
        else:
            s = [number(s) for s in group.counters[row, self.rows.bucket(row, z)]]
        return s if group.row_decode is None else [s[0] * number(d) for d in group.row_decode[row]]

    def accumulate(self, z):
        group, n_rows = self.group, self.group.hashes.n_rows
        s = [self.read(row, z) for row in range(n_rows)]
        n_groups = group.n_groups if group.aggregate == "median_of_means" else 1
        sums = []
        for g in range(n_groups):
            members = s[g * n_rows // n_groups : (g + 1) * n_rows // n_groups]
            sums.append([self._sum(column, len(members)) for column in zip(*members, strict=True)])
        a = [self._middle(sorted(column)) for column in zip(*sums, strict=True)]
        return a if group.shared_decode is None else self._decode(a)

    def _sum(self, column, size):
        total = self.number(0)
        for s in column:
            total = total + s
        return total if self.is_integer or self.group.aggregate == "sum" else total / F(size)

    def _middle(self, means):
        half = len(means) // 2
        if len(means) % 2:
            return means[half]
        both = means[half - 1] + means[half]
        return both if self.is_integer else both * F(0.5)

    def _decode(self, a):
        matrix, outputs = self.group.shared_decode, []
        for c in range(matrix.shape[1]):
            total = self.number(0)
            for k, a_k in enumerate(a):
                total = total + (a_k >> self.group.decode_shift if self.is_integer else a_k) * self.number(matrix[k, c])
            outputs.append(total)
        return outputs


# -- 4. outputs ---------------------------------------------------------------------------------


class PlainModel:
    """A model, evaluated by the page."""

    def __init__(self, model):
        self.model = model
        self.is_integer = model.inputs.limits is not None
        booleans = booleans_of(model.inputs)
        n_z = len(booleans) if model.projection is None else model.projection.n_components
        self.groups = []
        for group in model.row_groups:
            reads_values = model.projection is None or group.source == "values"
            self.groups.append(PlainRowGroup(group, booleans if reads_values else [False] * n_z))

    def evaluate(self, row):
        """Buckets of all groups of rows in one list, accumulators of each group, outputs."""
        model = self.model
        with np.errstate(over="ignore"):
            values = values_of(model.inputs, row)
            if getattr(model.projection, "stages", None):
                of_stages, z = run_stages(model.projection, values)
            else:
                of_stages, z = [], project(model.projection, values)
            given = [values if group.source == "values" else z for group in model.row_groups]
            buckets = [b for group, x in zip(self.groups, given, strict=True) for b in group.buckets(x)]
            accumulators = [group.accumulate(x) for group, x in zip(self.groups, given, strict=True)]
            outputs = [self._output(z, accumulators, c) for c in range(len(model.offset))]
            for z_of_stage, stage in zip(of_stages, model.projection.stages if of_stages else (), strict=True):
                if stage.linear is not None:
                    outputs = self._with_stage(outputs, stage, z_of_stage)
            return buckets, accumulators, outputs

    def _with_stage(self, outputs, stage, z):
        """The outputs with the linear term of a stage added."""
        found = []
        for c, y in enumerate(outputs):
            total = sum(z_j * int(slope) for z_j, slope in zip(z, stage.linear[:, c], strict=True))
            found.append(y + F(total) * F(stage.linear_gain[c if len(stage.linear_gain) > 1 else 0]))
        return found

    def _output(self, z, accumulators, c):
        model = self.model
        y = F(model.offset[c])
        for group, a in zip(model.row_groups, accumulators, strict=True):
            y = y + F(a[c]) * F(group.gain[c if len(group.gain) > 1 else 0])
        if model.linear is None:
            return y
        if self.is_integer:
            total = sum(z_j * int(slope) for z_j, slope in zip(z, model.linear[:, c], strict=True))
            return y + F(total) * F(model.linear_gain[c if len(model.linear_gain) > 1 else 0])
        for z_j, slope in zip(z, model.linear[:, c], strict=True):
            y = y + z_j * F(slope)
        return y
