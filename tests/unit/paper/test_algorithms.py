"""Algorithms 1 and 2 as scalar.py writes them out, against the sketch, bit for bit.

Buckets are compared first, then counters, then outputs. Inputs lie on bucket edges, at zero, among
the denormals and beyond the last code, as well as anywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from repsketch import KernelModel, Sketch, build_sketch, lsh
from repsketch.sketch import KernelSketch
from support.scalar import F, bucket_of, clamped_floor, code_of, count, drawn_for, project, query

FAMILIES = {
    "l2": lsh.L2(bandwidth=1.5),
    "l2 gaussian": lsh.L2(bandwidth=1.5, directions="gaussian"),
    "angular": lsh.Angular(),
    "angular ternary": lsh.Angular(directions="ternary"),
    "l1": lsh.L1(bandwidth=1.5),
    "minhash": lsh.MinHash(),
}


def inputs(family, d: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    if family.name == "minhash":
        return np.vstack([(rng.random((14, d)) < 0.4) * rng.normal(size=(14, d)), np.zeros((1, d))]).astype(F)
    rows = [
        rng.normal(size=(10, d)) * 2,
        np.zeros((1, d)),
        np.full((1, d), -0.0),
        np.full((1, d), 1e-42),  # denormal
        rng.normal(size=(2, d)) * 1e5,  # beyond the last code
        rng.choice([-1e30, 3e38, -3e38], size=(4, d)),  # beyond what a sum may hold
        np.eye(d)[:2] * 1.5,
    ]
    return np.vstack(rows).astype(F)


@dataclass
class Case:
    family: str
    n_concat: int
    n_buckets: int
    fold: str = "universal"
    n_rows: int = 7
    n_groups: int | None = None
    projected: bool = True
    shift: bool = False
    linear: bool = False
    n_outputs: int = 2
    debias: bool = True

    def __str__(self):
        marks = [name for name in ("shift", "linear") if getattr(self, name)]
        groups = f"g{self.n_groups}" if self.n_groups else "mean"
        bare = [] if self.projected else ["bare"]
        return " ".join([self.family, f"K{self.n_concat} R{self.n_buckets}", self.fold, groups, *marks, *bare])

    def kernel(self) -> KernelModel:
        rng = np.random.default_rng(4)
        family, d, p = FAMILIES[self.family], 4, 3
        if family.name == "minhash" or not self.projected:
            p = d
        points = rng.normal(size=(9, p)) * 2
        if family.name == "minhash":
            points = (rng.random((9, p)) < 0.5) * 1.0
        draw = lambda *shape: rng.normal(size=shape).astype(F)  # noqa: E731
        return KernelModel(
            points=points.astype(F),
            weights=draw(9, self.n_outputs),
            bias=draw(self.n_outputs),
            family=family,
            n_concat=self.n_concat,
            projection=draw(d, p) if self.projected else None,
            shift=draw(p) if self.shift else None,
            linear=draw(p, self.n_outputs) if self.linear else None,
        )

    def sketch(self, kernel: KernelModel) -> Sketch:
        return build_sketch(
            kernel,
            n_rows=self.n_rows,
            n_buckets=self.n_buckets,
            aggregate="median_of_means" if self.n_groups else "mean",
            n_groups=self.n_groups,
            random_state=21,
            fold=self.fold,
            debias=self.debias,
            progress=False,
        )


CASES = [
    *(Case(name, 1, 5) for name in FAMILIES if name != "minhash"),
    *(Case(name, 3, 16, n_outputs=1) for name in FAMILIES if name != "minhash"),
    *(Case(name, 2, 16, projected=False) for name in FAMILIES),
    *(Case(name, 1, 4, "direct") for name in ("l2", "l2 gaussian")),
    *(Case(name, 2, 9, "direct", shift=True, linear=True) for name in ("l2", "l2 gaussian")),
    *(Case(name, k, 2**k, "direct", shift=True) for name in ("angular", "angular ternary") for k in (1, 3)),
    *(Case("l2", 1, 5, n_groups=g) for g in (1, 2, 3, 4, 7)),  # 7 rows: most of these do not divide them
    *(Case("l1", 2, 8, n_groups=g, n_rows=10) for g in (3, 6)),
    Case("l2", 2, 8, shift=True, linear=True, n_groups=3),
    Case("l1", 1, 3, linear=True),
    Case("angular", 2, 65_536, shift=True, n_rows=3),
    Case("l2", 1, 5, debias=False),
]
every_case = pytest.mark.parametrize("case", CASES, ids=str)


@every_case
def test_buckets(case):
    kernel = case.kernel()
    sketch = case.sketch(kernel)
    X = inputs(kernel.family, kernel.n_features)
    expected = [[bucket_of(sketch.hashes, row, project(sketch, x)) for row in range(case.n_rows)] for x in X]
    assert sketch.buckets(X).tolist() == expected


@every_case
def test_counters(case):
    kernel = case.kernel()
    sketch = case.sketch(kernel)
    size = float(np.abs(kernel.weights.astype(float)).sum(axis=0).max())
    step = sketch.sums.step
    assert 2.0**39 <= size / step <= 2.0**40
    points = kernel.points
    if case.fold == "direct" and kernel.family.name == "l2":
        points = points - np.median(points, axis=0)  # levels are counted from the middle of the points
    expected = count(sketch, points, kernel.weights, step)
    assert sketch.sums.sums.tolist() == expected.tolist()
    assert sketch.sums.total.tolist() == expected[0].sum(axis=0).tolist()
    assert sketch.counters.tobytes() == (expected.astype(float) * step).astype(F).tobytes()
    # Whatever the row, all weight is somewhere in it.
    np.testing.assert_allclose(
        sketch.counters.sum(axis=1), np.tile(kernel.weights.sum(axis=0), (case.n_rows, 1)), atol=1e-5
    )


@every_case
def test_outputs(case):
    kernel = case.kernel()
    sketch = case.sketch(kernel)
    X = inputs(kernel.family, kernel.n_features)
    expected = np.array([query(sketch, x) for x in X], F)
    outputs = sketch.outputs(X)
    assert outputs.dtype == F
    assert outputs.tobytes() == expected.tobytes()


@every_case
def test_refitted_and_calibrated_outputs(case):
    kernel = case.kernel()
    X = inputs(kernel.family, kernel.n_features)
    targets = np.random.default_rng(5).normal(size=(len(X), case.n_outputs))
    if case.n_rows * case.n_buckets > 1_000:
        X, targets = X[:5], targets[:5]
    for change in (KernelSketch.calibrate, lambda sketch, *data: sketch.refit(*data, strengths=[0.1])):
        sketch = change(case.sketch(kernel), X, targets)
        expected = np.array([query(sketch, x) for x in X], F)
        assert sketch.outputs(X).tobytes() == expected.tobytes()


def test_points_on_the_edges_of_buckets():
    """Positions that are integers exactly: the floor decides, and both sides must agree on it."""
    hashes = lsh.RowHashes(lsh.L2(), n_rows=12, n_buckets=65_536, n_features=2, seed=2)
    drawn = hashes.functions.parameters
    for row in range(12):
        offset = drawn["offsets"][row, 0]
        z = np.array([[F(k) - offset for k in range(-3, 4)], [F(0)] * 7], F)
        beside = np.nextafter(z, F(-np.inf))
        for block in (z, -z, beside):
            expected = [bucket_of(hashes, row, list(column)) for column in block.T]
            assert hashes.buckets(block, row).tolist() == expected


def cancelling(directions, start, rng) -> np.ndarray:
    """Points (p, 30) that cancel along ``directions``: from sums of a million and more they end on an edge.

    The edges are the integers for a floor, with its offset ``start``, and 0 for a sign.
    """
    z = rng.normal(size=(len(directions), 30)) * 1e6
    active = np.flatnonzero(directions)
    if len(active):
        last = active[-1]
        z[last] = 0
        edges = 0 if start is None else rng.integers(-2, 3, size=30) - start
        z[last] = (edges - directions @ z) / directions[last]
    return z.astype(F)


@pytest.mark.parametrize("name", ["l2", "l2 gaussian", "angular", "angular ternary"])
def test_the_order_of_additions_decides(name):
    """Added in another order than the rising one, coordinates that cancel give other codes."""
    family, rng = FAMILIES[name], np.random.default_rng(8)
    hashes = lsh.RowHashes(family, n_rows=20, n_buckets=65_536, n_features=6, seed=2)
    others = 0
    for row in range(20):
        parameters = {key: array[row, 0] for key, array in drawn_for(hashes).items()}
        falling = {**parameters, "directions": parameters["directions"][::-1]}
        z = cancelling(parameters["directions"].astype(float), parameters.get("offsets"), rng)
        assert hashes.buckets(z, row).tolist() == [bucket_of(hashes, row, list(column)) for column in z.T]
        for column in z.T:
            rising, fallen = code_of(family, parameters, list(column)), code_of(family, falling, list(column[::-1]))
            others += rising != fallen
    assert others > 10  # or the points above would not tell


class TestPieces:
    """What the sketch keeps of a kernel model."""

    def test_gain_and_offset_undo_the_fold(self):
        case = Case("l2", 1, 5)
        kernel = case.kernel()
        sketch, raw = case.sketch(kernel), Case("l2", 1, 5, debias=False).sketch(kernel)
        total = kernel.weights.astype(float).sum(axis=0)
        # Erratum 2: of 5 buckets, E[mean] = f + (total - f) / 5, so that f = 5/4 E[mean] - total / 4.
        np.testing.assert_allclose(sketch.gain, 1.25, rtol=1e-6)
        np.testing.assert_allclose(sketch.offset, kernel.bias - total / 4, rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(raw.gain, 1.0)
        np.testing.assert_array_equal(raw.offset, kernel.bias)

    def test_the_projection_is_in_the_units_of_the_family(self):
        case = Case("l2", 2, 8, shift=True, linear=True)
        kernel = case.kernel()
        sketch = case.sketch(kernel)
        unit = np.sqrt(3.0) / 1.5
        np.testing.assert_allclose(sketch.projection, kernel.projection * unit, rtol=1e-6)
        np.testing.assert_allclose(sketch.shift, kernel.shift * unit, rtol=1e-6)
        np.testing.assert_allclose(sketch.linear, kernel.linear / unit, rtol=1e-6)

    def test_signs_that_fill_the_buckets_are_not_hashed_again(self):
        for n_concat, n_buckets, fold in ((1, 2, "direct"), (2, 4, "direct"), (2, 8, "universal"), (3, 8, "direct")):
            case = Case("angular", n_concat, n_buckets, "auto")
            assert case.sketch(case.kernel()).hashes.fold == fold
        assert Case("l2", 1, 2, "auto").sketch(Case("l2", 1, 2).kernel()).hashes.fold == "universal"

    def test_task_and_classes_are_handed_on(self):
        kernel = KernelModel(
            np.zeros((1, 2), F),
            np.ones((1, 1), F),
            np.zeros(1, F),
            lsh.L2(),
            task="classification",
            classes=np.array(["a", "b"]),
        )
        sketch = build_sketch(kernel, n_rows=2)
        assert sketch.task == "classification"
        assert sketch.classes is kernel.classes


class TestAgreement:
    """With many rows a sketch is its kernel model, for each family, fold and option.

    One row reads a number between -W and W, W the sum of absolute weights; debiasing stretches it by
    1 / (1 - 1/R). By Hoeffding the mean of L rows is off by more than gain W sqrt(2 ln(2 / delta) / L)
    with probability delta at most.
    """

    DELTA = 1e-6

    def check(self, kernel: KernelModel, X, fold: str, n_buckets: int, n_rows: int = 1_500) -> None:
        sketch = build_sketch(kernel, n_rows=n_rows, n_buckets=n_buckets, fold=fold, progress=False)
        z = kernel.transform(X).astype(float)
        k = kernel.family.collision_probability(z[:, None], kernel.points[None].astype(float), kernel.n_concat)
        expected = k @ kernel.weights.astype(float) + kernel.bias
        if kernel.linear is not None:
            expected = expected + z @ kernel.linear
        gain = 1 / (1 - sketch.hashes.collision_rate)
        mass = np.abs(kernel.weights.astype(float)).sum(axis=0)
        bound = gain * mass * np.sqrt(2 * np.log(2 / self.DELTA) / n_rows)
        assert (np.abs(sketch.outputs(X) - expected) < bound).all()

    @pytest.mark.parametrize("projected", [True, False])
    @pytest.mark.parametrize("linear", [True, False])
    @pytest.mark.parametrize("shift", [True, False])
    @pytest.mark.parametrize(
        ("name", "fold", "n_buckets"),
        [("l2", "universal", 16), ("l2", "direct", 64), ("l1", "universal", 16), ("angular", "direct", 2)],
    )
    def test_every_option(self, name, fold, n_buckets, shift, linear, projected):
        """The direct fold has levels enough here that no point is clamped."""
        rng = np.random.default_rng(6)
        # Far from the origin, and moved sideways: an offset that is lost shows in distances and in angles.
        middle, away, p = np.array([10, -10], F), np.array([-10, -10], F), 2
        draw = lambda *shape: rng.normal(size=shape).astype(F)  # noqa: E731
        kernel = KernelModel(
            points=draw(6, p) + middle,
            weights=np.abs(draw(6, 1)),
            bias=draw(1),
            family=FAMILIES[name],
            projection=np.eye(p, dtype=F) if projected else None,
            shift=draw(p) + away if shift else None,
            linear=draw(p, 1) if linear else None,
        )
        self.check(kernel, draw(8, p) + middle - (away if shift else 0), fold, n_buckets)


def test_many_outputs_share_the_hashes():
    """A sketch of C outputs holds, column by column, the sketches of one output."""
    case = Case("l2", 2, 8, n_outputs=3)
    kernel = case.kernel()
    together = case.sketch(kernel)
    X = inputs(kernel.family, kernel.n_features)
    for c in range(3):
        one_output = KernelModel(
            kernel.points, kernel.weights[:, c : c + 1], kernel.bias[c : c + 1], kernel.family, 2, kernel.projection
        )
        alone = case.sketch(one_output)
        assert alone.hashes == together.hashes
        np.testing.assert_allclose(alone.counters[..., 0], together.counters[..., c], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(alone.outputs(X)[:, 0], together.outputs(X)[:, c], rtol=1e-4, atol=1e-5)


def test_the_reference_is_no_copy_of_the_library():
    """The functions of scalar.py must not call what they check."""
    functions: list[Callable] = [code_of, bucket_of, project, query, count, clamped_floor]
    names = {name for function in functions for name in function.__code__.co_names}
    assert not names & {"row_codes", "buckets", "fold_universal", "fold_direct", "floor_code", "group_bounds", "median"}
