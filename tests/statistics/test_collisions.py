"""Points collide as often as ``collision_probability`` says: every family, one code and several."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from repsketch import lsh
from repsketch.lsh.generator import Stream, to_unit, words

pytestmark = pytest.mark.slow

N_ROWS = 20_000
N_CONCAT = 3
# Coordinates without a common divisor: sums of few of them do not coincide, as with measured data.
RATIOS = np.array([1.0, -0.83, 0.57, 1.31, -0.29, 0.71, 1.13, -0.97, 0.43, 1.07, -0.61, 0.89, -1.19, 0.37, 0.53, 0.79])


@dataclass(frozen=True)
class Case:
    """A family, a point, and others ever farther from it."""

    name: str
    family: lsh.Family
    point: np.ndarray  # (p,)
    others: np.ndarray  # (m, p)


def _apart(name, family, n_features, distances, norm=2):
    """Others at ``distances`` from a point, along one direction."""
    direction = RATIOS[:n_features] / np.linalg.norm(RATIOS[:n_features], norm)
    point = 0.4 * RATIOS[::-1][:n_features]
    return Case(name, family, point, point + np.outer(distances, direction))


def _turned(name, family, n_features, angles):
    """Others at ``angles`` from a point, in one plane."""
    plane, _ = np.linalg.qr(np.stack([RATIOS[:n_features], RATIOS[::-1][:n_features] ** 2], axis=1))
    return Case(name, family, plane[:, 0], np.stack([np.cos(angles), np.sin(angles)], axis=1) @ plane.T)


def _sets(name, family):
    members = np.tri(11, 10, k=-1) * RATIOS[:10]  # row m is the set of the first m coordinates
    return Case(name, family, members[10], members[[9, 5, 2, 0]])


DISTANCES = [0.15, 0.6, 1.0, 2.0]
CASES = [
    *(_apart(f"l2-ternary-{p}", lsh.L2(1.0), p, DISTANCES) for p in (1, 2, 3, 8, 16)),
    _apart("l2-gaussian", lsh.L2(0.7, directions="gaussian"), 3, [0.1, 0.5, 0.7, 1.4]),
    _turned("angular-gaussian", lsh.Angular(), 4, [0.3, 1.0, 2.0, 3.0]),
    _turned("angular-ternary-2", lsh.Angular(directions="ternary"), 2, [0.3, 1.0, 2.0, 3.0]),
    _turned("angular-ternary-8", lsh.Angular(directions="ternary"), 8, [0.3, 1.0, 2.0, 3.0]),
    _sets("minhash", lsh.MinHash()),
    _apart("l1", lsh.L1(bandwidth=0.8), 3, [0.1, 0.5, 1.0, 2.0], norm=1),
]


@dataclass(frozen=True)
class Draws:
    case: Case
    agreements: np.ndarray  # (m, N_ROWS, N_CONCAT) whether the point and each other share a code

    def count(self, n_concat):
        """Collisions of ``n_concat`` codes with each other point, and how many were possible."""
        if n_concat == 1:  # all codes are independent: use every one
            return self.agreements.sum(axis=(1, 2)), N_ROWS * N_CONCAT
        return self.agreements[..., :n_concat].all(axis=-1).sum(axis=1), N_ROWS


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def draws(request):
    case = request.param
    functions = case.family.sample(len(case.point), N_ROWS, N_CONCAT, random_state=11)
    codes = case.family.hash(np.vstack([case.point, case.others]), functions)
    return Draws(case, codes[1:] == codes[0])


@pytest.mark.parametrize("n_concat", [1, 2, 3])
def test_collision_rate_is_the_kernel(draws, n_concat, rate_agrees):
    case = draws.case
    hits, trials = draws.count(n_concat)
    expected = case.family.collision_probability(case.point, case.others, n_concat)
    assert [rate_agrees(*pair) for pair in zip(hits, [trials] * len(hits), expected, strict=True)] == [True] * len(hits)


@pytest.mark.parametrize("n_concat", [1, 2, 3])
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_twin_kernel_off_by_five_per_cent_is_caught(draws, n_concat, factor, rate_agrees):
    case = draws.case
    hits, trials = draws.count(n_concat)
    nearest = case.family.collision_probability(case.point, case.others[0], n_concat)
    assert not rate_agrees(hits[0], trials, min(1.0, factor * nearest))


@pytest.mark.parametrize("family", [lsh.L2(1.0), lsh.Angular(), lsh.MinHash(), lsh.L1(1.0)], ids=lambda f: f.name)
def test_equal_points_always_collide(family):
    twice = np.tile(RATIOS[:5], (2, 1))
    codes = family.hash(twice, family.sample(5, n_rows=500, n_concat=2, random_state=3))
    np.testing.assert_array_equal(codes[0], codes[1])
    assert family.collision_probability(*twice, n_concat=2) == pytest.approx(1.0, abs=1e-12)


def test_eight_ternary_coordinates_are_not_gaussian(rate_agrees):
    """Erratum 3, at c = 2 r: the closed form is measurably too small."""
    family = lsh.L2(1.0)
    pair = np.stack([np.zeros(8), np.full(8, 2.0 / np.sqrt(8.0))])
    codes = family.hash(pair, family.sample(8, N_ROWS, random_state=5))
    hits = (codes[0] == codes[1]).sum()
    assert rate_agrees(hits, N_ROWS, family.collision_probability(*pair))
    closed_form = family.closed_form(pair[:1], pair[1:])[0, 0]
    assert closed_form == pytest.approx(0.1954, abs=1e-4)
    assert hits / N_ROWS > closed_form
    assert not rate_agrees(hits, N_ROWS, closed_form)


@pytest.mark.parametrize("difference", [(0.2, 0.5), (0.3, 0.3), (1.0, -0.4), (0.0, 0.9), (3.0, 2.5)])
def test_two_ternary_coordinates_by_enumeration(difference):
    """Sum over the nine pairs (a, b) of P(a) P(b) max(0, 1 - |a u + b v|), (u, v) in units of r / sqrt 3."""
    u, v = np.sqrt(3.0) * np.array(difference)
    p = {-1: 1 / 6, 0: 2 / 3, 1: 1 / 6}
    expected = sum(p[a] * p[b] * max(0.0, 1.0 - abs(a * u + b * v)) for a in p for b in p)
    assert lsh.L2(1.0).collision_probability([0.0, 0.0], difference) == pytest.approx(expected, abs=1e-12)


def test_row_kernel_is_the_rate_over_offsets(rate_agrees):
    """The kernel "as hashed": one direction is fixed, only the offsets vary."""
    family = lsh.L2(1.0)
    pair = np.stack([np.zeros(8), 0.9 * RATIOS[:8] / np.linalg.norm(RATIOS[:8])])
    drawn = family.sample(8, n_rows=6, random_state=2)
    row = int(np.argmin(np.abs(family_rates(family, pair, drawn) - 0.5)))  # neither sure nor impossible
    fixed = {"directions": np.repeat(drawn.parameters["directions"][row : row + 1], N_ROWS, axis=0)}
    offsets = to_unit(words(77, Stream.OFFSET, N_ROWS, 1, 1)[..., 0])
    functions = replace(drawn, n_rows=N_ROWS, parameters=fixed | {"offsets": offsets})
    codes = family.hash(pair, functions)
    hits = (codes[0] == codes[1]).sum()
    rate = family.row_kernel(pair[:1], pair[1:], functions)[0, 0]
    assert 0.1 < rate < 0.9
    assert rate_agrees(hits, N_ROWS, rate)
    assert not rate_agrees(hits, N_ROWS, 1.05 * rate)


def family_rates(family, pair, functions):
    """``row_kernel`` of each row alone, (n_rows,)."""
    directions = functions.parameters["directions"]
    single = [replace(functions, n_rows=1, parameters={"directions": directions[row : row + 1]}) for row in range(6)]
    return np.array([family.row_kernel(pair[:1], pair[1:], function)[0, 0] for function in single])


@pytest.mark.parametrize(
    "difference",
    [np.full(9, 4.0 / 3.0), np.full(16, 0.5), np.full(64, 0.25), np.repeat([1.0, 0.1], 10)],
    ids=["9 x 4/3", "16 x 1/2", "64 x 1/4", "two sizes"],
)
def test_ternary_on_a_lattice_beyond_eight_coordinates(difference):
    """Equal differences (indicator data) keep a lattice that no Gaussian describes; 5 standard errors."""
    family = lsh.L2(bandwidth=1.0)
    functions = family.sample(len(difference), n_rows=60_000, random_state=5)
    codes = family.hash(np.stack([np.zeros_like(difference), difference]), functions)[:, :, 0]
    rate = (codes[0] == codes[1]).mean()
    probability = float(family.collision_probability(np.zeros_like(difference), difference))
    tolerance = 5.0 * np.sqrt(probability * (1.0 - probability) / 60_000)
    assert abs(rate - probability) < tolerance
    assert abs(rate - 1.1 * probability) > tolerance


def test_ternary_signs_of_sparse_points_are_exact():
    family = lsh.Angular("ternary")
    axes = np.eye(16)
    assert family.collision_probability(axes[0], -axes[0]) == pytest.approx(2.0 / 3.0)
    assert family.collision_probability(axes[0], axes[1]) == pytest.approx(1.0 - 2.0 * (1 / 6) * (5 / 6))
