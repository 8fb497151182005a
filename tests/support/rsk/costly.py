"""Small good files that cost as much as the totals of the format allow.

A draft of a file is drawn at random: hash, directions, projection or stages, decode, groups, precision. Then its sizes
grow, one after the other, as long as the file stays small and the two totals stay within their limits. What comes out
is close to a limit in one of very many ways. Run as a program it measures, so many files from a seed:
``PYTHONPATH=tests python -m support.rsk.costly 10000 1``

"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

from repsketch.io import Status
from repsketch.io.framing import pack
from repsketch.io.packing import pack_bits
from repsketch.io.records import MODEL, ROW_GROUP, ROW_GROUP_STRIDE, STAGE, STAGE_STRIDE, Section
from repsketch.io.row_group_reader import RowGroupReader
from repsketch.io.totals import MEMORY_CAP, WORK_CAP, totals_of
from repsketch.io.write import SOFTWARE
from repsketch.model.numbers import index_bits, packed_nbytes
from support.rsk.build import python_status

LARGEST_FILE = 65_536
RAISED = {"max_memory": 2**63, "max_work": 2**63}
HASHES = {"L2": 0, "angular": 1, "MinHash": 2, "L1": 3, "ternary": 16, "sparse": 17, "threshold": 18}
GROWTH = (4.0, 1.5, 1.1, 1.01)  # steps of a size, from coarse to fine


@dataclass(frozen=True)
class Draft:
    """A file before it is written: choices, and sizes that may grow."""

    is_integer: bool
    projection: int
    linear: int
    kinds: int
    groups: tuple[dict[str, Any], ...]
    sizes: dict[str, int] = field(
        default_factory=lambda: {"n_columns": 1, "n_components": 1, "n_outputs": 1, "unused": 0, "n_hidden": 1}
    )

    def records(self) -> tuple[SimpleNamespace, list[SimpleNamespace], list[SimpleNamespace]]:
        """The fields of MODEL, of every ROW_GROUP and of every STAGE."""
        s, is_integer = self.sizes, self.is_integer
        m = SimpleNamespace(**dict.fromkeys(MODEL.names, 0))
        m.precision, m.generator, m.n_row_groups, m.projection = int(is_integer), 1, len(self.groups), self.projection
        m.n_columns, m.n_features = s["n_columns"], min(s["n_columns"] + s["unused"], 1 << 20)
        m.n_values, m.n_outputs, m.kinds = m.n_columns, s["n_outputs"], self.kinds
        m.is_integer, m.has_matrix, m.has_stages = is_integer, 2 <= self.projection <= 4, self.projection == 5
        m.n_components = s["n_components"] if self.projection >= 2 else m.n_values
        m.n_stages = 2 * m.has_stages
        m.flags = int(m.n_features > m.n_columns) | 4 * (self.projection == 1)
        m.low, m.high, m.limit = (-1, 1, int(m.has_matrix)) if is_integer else (0, 0, 0)
        m.linear = self.linear and (3 if is_integer else 1)
        m.n_linear_gains = int(m.linear == 3)
        return m, [self._group(m, group) for group in self.groups], self._stages(m)

    def _stages(self, m: SimpleNamespace) -> list[SimpleNamespace]:
        """Two sparse stages without entries, the first with tables and a linear term."""
        if not m.has_stages:
            return []
        first, last = (SimpleNamespace(**(dict.fromkeys(STAGE.names, 0) | {"limit": 1, "matrix": 2})) for _ in range(2))
        first.activation, first.n_levels, first.width_bits, first.n_gains = 1, 16, 8, 1
        first.n_components, last.n_components = self.sizes["n_hidden"], m.n_components
        return [first, last]

    def _group(self, m: SimpleNamespace, choices: dict[str, Any]) -> SimpleNamespace:
        f = SimpleNamespace(**(dict.fromkeys(ROW_GROUP.names, 0) | choices | {"n_gains": 1}))
        is_pool, has_bits = f.hash >= 16, f.hash == 1 or (f.hash >= 16 and not f.flags & 16)
        f.source = 0 if f.source == 0 and m.projection else 1
        f.n_parameters, f.width = int(f.hash in (0, 3)), float(f.hash in (0, 3))
        f.counter_type = max(f.counter_type, int(m.is_integer))
        f.width_bits = 1 if m.is_integer and is_pool and not has_bits else 0
        if f.fold:
            f.n_levels = 2 if has_bits or f.n_concat > 1 else max(f.n_buckets, 2)
            f.n_concat = min(f.n_concat, 16)
            f.n_buckets = f.n_levels**f.n_concat
        f.n_numbers = {0: m.n_outputs, 1: f.n_numbers, 2: 1}[f.decode]
        f.n_groups = min(f.n_groups, f.n_rows) if f.aggregate == 2 else 1
        while m.is_integer and f.n_rows % f.n_groups:
            f.n_groups -= 1
        if not f.flags & 1:
            f.n_codes = f.n_rows * f.n_concat
        f.n_nonzeros = 3 if f.hash == 17 else 0
        f.threshold_nbytes = (1 if m.is_integer else 4) if f.hash == 18 else 0
        return f

    def lengths(self) -> dict[int, int]:
        """Bytes of every section."""
        m, groups, stages = self.records()
        matrix = {2: 32, 3: 8, 4: 2}.get(m.projection, 0)
        lengths = {
            Section.COLUMNS: packed_nbytes(m.n_columns, index_bits(m.n_features)) if m.flags & 1 else 0,
            Section.KINDS: 2 * m.n_columns if m.kinds == 2 else 0,
            Section.PROJECTION: packed_nbytes(m.n_values * m.n_components, matrix),
            Section.SHIFT: 4 * m.n_components if m.flags & 4 else 0,
            Section.PROJECTION_SCALES: 4 * m.n_components if m.projection > 2 and not m.is_integer else 0,
            Section.LINEAR: {0: 0, 1: 4, 3: 1}[m.linear] * m.n_components * m.n_outputs,
            Section.LINEAR_GAIN: 4 * m.n_linear_gains,
            Section.OFFSET: 4 * m.n_outputs,
        }
        for i, f in enumerate(groups):
            n_inputs = m.n_components if f.source else m.n_values
            rows = {0: 0, 1: f.n_numbers, 2: f.n_rows}[f.decode]
            own = {
                Section.INDICES: packed_nbytes(f.n_rows * f.n_concat, index_bits(f.n_codes)) if f.flags & 1 else 0,
                Section.CODE_COLUMNS: packed_nbytes(f.n_codes, index_bits(n_inputs)) if f.hash == 18 else 0,
                Section.THRESHOLDS: f.n_codes * f.threshold_nbytes,
                Section.COUNTERS: packed_nbytes(f.n_rows * f.n_buckets * f.n_numbers, 32 >> f.counter_type),
                Section.DECODE: rows * m.n_outputs * (1 if m.is_integer else 4),
                Section.GAIN: 4,
            }
            lengths |= {kind + ROW_GROUP_STRIDE * i: n for kind, n in own.items()}
        n_inputs = m.n_values
        for i, f in enumerate(stages):
            own = {
                Section.STAGE_MATRIX: packed_nbytes(n_inputs * f.n_components, 1),
                Section.STAGE_COORDINATES: f.n_components * (2 + f.n_levels),
                Section.STAGE_LINEAR: 4 + f.n_components * m.n_outputs if f.n_gains else 0,
            }
            lengths |= {kind + STAGE_STRIDE * i: n for kind, n in own.items()}
            n_inputs = f.n_components
        return {kind: n for kind, n in lengths.items() if n}

    def is_allowed(self) -> bool:
        """Small enough, and within all caps and both limits."""
        m, groups, stages = self.records()
        capped = [m.n_outputs, *(size for f in groups for size in (f.n_rows, f.n_buckets, f.n_numbers))]
        capped += [f.n_codes for f in groups if f.hash >= 16] + [f.n_components for f in stages]
        if (
            max(capped) > 65_536
            or max(m.n_features, m.n_components) > 1 << 20
            or max(f.n_concat for f in groups) > 4096
        ):
            return False
        if (
            any(f.flags & 8 and f.n_concat > 1 for f in groups)
            or len(self.lengths()) + 1 + len(groups) + len(stages) > 32
        ):
            return False
        totals = totals_of(m, groups, stages)
        return totals.memory <= MEMORY_CAP and totals.work <= WORK_CAP and sum(self.lengths().values()) <= LARGEST_FILE

    def free_sizes(self) -> list[tuple[str, int | None]]:
        """Names of the sizes that do not follow from others, with the group of rows they belong to."""
        smallest = {"n_components": 2, "n_hidden": 5}  # the kinds of projection that have them
        names = [(name, None) for name in self.sizes if self.projection >= smallest.get(name, 0)]
        for i, group in enumerate(self.groups):
            free = ["n_rows", "n_concat", "n_buckets"]
            free += ["n_codes"] * (group["flags"] & 1) + ["n_numbers"] * (group["decode"] == 1)
            names += [(name, i) for name in (*free, *["n_groups"] * (group["aggregate"] == 2))]
        return names

    def grown(self, name: str, index: int | None, factor: float) -> "Draft":
        """The draft with one size larger."""
        if index is None:
            return replace(self, sizes=self.sizes | {name: int(self.sizes[name] * factor) + 1})
        group = self.groups[index] | {name: int(self.groups[index][name] * factor) + 1}
        return replace(self, groups=(*self.groups[:index], group, *self.groups[index + 1 :]))

    def file(self) -> bytes:
        """The bytes of a file with arrays of zeros, gains of 1 and the digests of its fields."""
        m, groups, stages = self.records()
        contents = {kind: bytes(n) for kind, n in self.lengths().items()}
        ones = [
            Section.PROJECTION_SCALES,
            Section.LINEAR_GAIN,
            *(Section.GAIN + ROW_GROUP_STRIDE * i for i in range(4)),
        ]
        for kind in ones:
            if kind in contents:
                contents[kind] = np.ones(len(contents[kind]) // 4, "<f4").tobytes()
        if m.flags & 1:
            contents[Section.COLUMNS] = pack_bits(np.arange(m.n_columns), index_bits(m.n_features))
        if m.kinds == 2:
            contents[Section.KINDS] = np.ones(m.n_columns, "<u2").tobytes()
        for i, f in enumerate(groups):
            if f.flags & 1 and f.n_codes > 1:
                named = np.arange(f.n_rows * f.n_concat) % f.n_codes
                contents[Section.INDICES + ROW_GROUP_STRIDE * i] = pack_bits(named, index_bits(f.n_codes))
        for i, f in enumerate(stages):
            kind = Section.STAGE + STAGE_STRIDE * i
            contents[kind] = STAGE.pack(**{name: getattr(f, name) for name in STAGE.names})
            ones = bytes([1]) * f.n_components
            contents[kind + 2] = ones + contents[kind + 2][f.n_components :]
            if f.n_gains:
                contents[kind + 3] = np.ones(1, "<f4").tobytes() + contents[kind + 3][4:]
        contents[Section.MODEL] = MODEL.pack(**{name: getattr(m, name) for name in MODEL.names})
        for digests in (None, []):
            if digests is not None:
                self._listen(pack(contents, SOFTWARE), digests)
            for i, f in enumerate(groups):
                f.digest = digests[i] if digests else 0
                fields = {name: getattr(f, name) for name in ROW_GROUP.names}
                contents[Section.ROW_GROUP + ROW_GROUP_STRIDE * i] = ROW_GROUP.pack(**fields)
        return pack(contents, SOFTWARE)

    @staticmethod
    def _listen(data: bytes, digests: list[int]) -> None:
        """The digests that a reader finds, which takes them for right."""
        real = RowGroupReader._digest

        def listen(group: RowGroupReader) -> int:
            digests.append(real(group))
            return group.fields.digest

        with patch.object(RowGroupReader, "_digest", listen):
            status = python_status(data, **RAISED)
        assert status == Status.OK, status


def draw(rng: np.random.Generator) -> Draft:
    """A draft of the smallest sizes."""

    def pick(*options: Any) -> Any:
        return options[int(rng.integers(len(options)))]

    is_integer = pick(False, True)
    groups = []
    for _ in range(pick(1, 1, 1, 2, 4)):
        name = pick(*HASHES)
        number = HASHES[name]
        is_pool, decode = number >= 16, pick(0, 0, 1, 2)
        flags = pick(0, 1) | (pick(0, 2, 16, 18, 28) if number in (16, 17) else 0) if is_pool else 0
        groups.append(
            {
                "hash": number,
                "directions": pick(0, 1) if number < 2 else 0,
                "fold": 1 if is_pool else 0 if number > 1 else pick(0, 1),
                "flags": flags,
                "source": pick(0, 1),
                "counter_type": pick(0, 1, 2, 3, 3, 3),
                "decode": decode,
                "aggregate": pick(0, 1) if decode else pick(0, 1, 2),
                "seed": int(rng.integers(2**32)),
            }
            | {"n_rows": 1, "n_concat": 1, "n_buckets": 2, "n_codes": 1, "n_numbers": 1, "n_groups": 1}
        )
    if rng.random() < 1 / 16:
        # Elsewhere memory is met first: only seeded bits, which look up the kinds of columns, come close to the work.
        seeded = groups[0] | {
            "hash": 17,
            "directions": 0,
            "fold": 1,
            "flags": 2,
            "counter_type": 3,
            "decode": 0,
            "aggregate": 0,
        }
        return Draft(is_integer, 0, 0, 2, (seeded,))
    projection = pick(0, 0, 3, 4, 5) if is_integer else pick(0, 0, 1, 2, 3, 4)
    return Draft(is_integer, projection, pick(0, 0, 1), pick(0, 0, 1, 2), tuple(groups))


def costly_drafts(seed: int, n: int) -> Iterator[Draft]:
    """N drafts, each grown until nothing grows any more."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        draft = draw(rng)
        assert draft.is_allowed()
        names = draft.free_sizes()
        weights = rng.dirichlet(np.full(len(names), rng.choice([0.3, 3.0])))  # one size grows, or several do
        for factor in GROWTH:
            failures = 0
            while failures < 2 * len(names):
                name, index = names[int(rng.choice(len(names), p=weights))]
                larger = draft.grown(name, index, factor)
                if larger.records() != draft.records() and larger.is_allowed():
                    draft, failures = larger, 0
                else:
                    failures += 1
        yield draft


def main(n: int, seed: int) -> None:
    """Measure n files: memory, operations, and for the most expensive ones the time of a first and a further row."""
    from repsketch import _native

    found = []
    for draft in costly_drafts(seed, n):
        data = draft.file()
        assert _native.File(data).status == Status.OK  # the Python reader has been through it when it was made
        memory, work, taken = _native.file_totals(data)
        totals = totals_of(*draft.records())
        assert (memory, work) == (totals.memory, totals.work)
        assert taken <= memory <= MEMORY_CAP
        assert work <= WORK_CAP
        found.append((taken, work, draft))
    costliest = {*np.argsort([-taken for taken, _, _ in found])[:60], *np.argsort([-work for _, work, _ in found])[:60]}
    costliest |= set(range(0, n, max(1, n // 200)))
    first, further = [], []
    for i in sorted(int(i) for i in costliest):
        data = found[i][2].file()
        start = time.process_time()
        model = _native.Model(data, len(data), 0)
        X, y = np.zeros((1, model.n_features), np.float32), np.zeros((1, model.n_outputs), np.float32)
        model.predict(X, y)
        first.append((time.process_time() - start, i))
        start = time.process_time()
        model.predict_row(X[0], y[0])
        further.append((time.process_time() - start, i))
        assert not y.any()
    print(f"{n} files of at most {LARGEST_FILE:,} bytes, seed {seed}, all accepted by both readers")
    print(f"largest plan and scratch {max(taken for taken, _, _ in found):,} bytes of {MEMORY_CAP:,}")
    print(f"most operations a row {max(work for _, work, _ in found):,} of {WORK_CAP:,}")
    for name, times in (("first prediction", first), ("further row", further)):
        seconds, i = max(times)
        taken, work, draft = found[i]
        print(f"longest {name} of {len(times)}: {seconds:.2f} s; {taken:,} bytes, {work:,} operations: {draft}")


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]), int(sys.argv[2]))
