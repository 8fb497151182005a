"""Each family's kernel against its textbook formula, written out, and against enumeration of its hashes."""

import pickle
from itertools import product
from math import acos, erf, exp, pi, sqrt

import numpy as np
import pytest

from repsketch import lsh
from repsketch.errors import InputError
from repsketch.lsh.family import CODE_MAX, CODE_MIN, floor_code, sum_along_direction

FAMILIES = {
    "l2 ternary": lsh.L2(bandwidth=1.3),
    "l2 gaussian": lsh.L2(bandwidth=1.3, directions="gaussian"),
    "angular": lsh.Angular(),
    "angular ternary": lsh.Angular(directions="ternary"),
    "l1": lsh.L1(bandwidth=1.3),
    "minhash": lsh.MinHash(),
}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def l2(x, y, r):
    u = r / sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
    return erf(u / sqrt(2)) - 2 / (sqrt(2 * pi) * u) * (1 - exp(-u * u / 2))


def l1(x, y, r):
    return exp(-sum(abs(a - b) for a, b in zip(x, y, strict=True)) / r)


def angular(x, y, r):
    dot, xx, yy = (sum(a * b for a, b in zip(*pair, strict=True)) for pair in ((x, y), (x, x), (y, y)))
    return 1 - acos(dot / sqrt(xx * yy)) / pi


def jaccard(x, y, r):
    x, y = ({i for i, value in enumerate(point) if value} for point in (x, y))
    return len(x & y) / len(x | y)


TEXTBOOK = {"l2": l2, "l1": l1, "angular": angular, "minhash": jaccard}


def points(family, n, p=3, seed=0):
    values = np.random.default_rng(seed).normal(size=(n, p))
    if family.name != "minhash":
        return values
    values = (values > 0).astype(float)
    values[:, 0] = 1.0  # no empty set
    return values


@every_family
@pytest.mark.parametrize("n_concat", [1, 2, 3])
def test_closed_form_is_the_textbook_kernel(family, n_concat):
    x, y = points(family, 7), points(family, 5, seed=1)
    expected = [[TEXTBOOK[family.name](a, b, 1.3) ** n_concat for b in y] for a in x]
    np.testing.assert_allclose(family.closed_form(x, y, n_concat), expected, rtol=1e-9)


@every_family
def test_a_point_always_collides_with_itself(family):
    x = points(family, 6)
    np.testing.assert_allclose(family.collision_probability(x, x), 1.0, atol=1e-9)
    np.testing.assert_allclose(np.diag(family.closed_form(x, x)), 1.0, atol=1e-7)


@every_family
def test_collision_probability_broadcasts_and_takes_powers(family):
    x, y = points(family, 4), points(family, 4, seed=1)
    pairs = family.collision_probability(x[:, None, :], y[None, :, :], n_concat=2)
    assert pairs.shape == (4, 4)
    single = [[family.collision_probability(a, b) ** 2 for b in y] for a in x]
    np.testing.assert_allclose(pairs, single, rtol=1e-12)


@pytest.mark.parametrize("name", ["l2 gaussian", "angular", "l1", "minhash"])
def test_collision_probability_is_the_textbook_kernel_but_for_16_bits(name):
    family = FAMILIES[name]
    x, y = points(family, 5), points(family, 5, seed=1)
    np.testing.assert_allclose(family.collision_probability(x, y), np.diag(family.closed_form(x, y)), atol=2e-5)


def enumerate_ternary(p):
    for signs in product((-1, 0, 1), repeat=p):
        yield np.array(signs), np.prod([2 / 3 if sign == 0 else 1 / 6 for sign in signs])


def test_ternary_l2_is_the_mean_over_all_directions():
    family = FAMILIES["l2 ternary"]
    x, y = points(family, 3, p=4), points(family, 3, p=4, seed=1)
    for a, b in zip(x, y, strict=True):
        # Entries have variance 1/3: the family widens the projection by sqrt(3) to make up for it.
        gaps = ((abs(signs @ (a - b)) * sqrt(3) / 1.3, probability) for signs, probability in enumerate_ternary(4))
        expected = sum(probability * max(0.0, 1 - gap) for gap, probability in gaps)
        assert family.collision_probability(a, b) == pytest.approx(expected, rel=1e-12)


def test_ternary_l2_beyond_the_enumerated_coordinates_nears_the_textbook_kernel():
    family, rng = FAMILIES["l2 ternary"], np.random.default_rng(0)
    x, y = rng.normal(size=(2, 400)) * 0.05
    assert family.collision_probability(x, y) == pytest.approx(family.closed_form([x], [y])[0, 0], rel=5e-3)


def test_ternary_l2_at_small_width_is_above_the_textbook_kernel():
    """Erratum 3: at p = 8 and distance 2 r the formula says 0.195; ternary directions collide a tenth more often."""
    family, rng = lsh.L2(bandwidth=1.0), np.random.default_rng(0)
    gaps = rng.normal(size=(500, 8))
    gaps *= 2.0 / np.linalg.norm(gaps, axis=1, keepdims=True)
    textbook = family.closed_form(gaps, np.zeros((1, 8)))
    np.testing.assert_allclose(textbook, 0.1954, atol=1e-4)
    assert family.collision_probability(gaps, np.zeros(8)).mean() > 1.1 * textbook[0, 0]


def test_ternary_angular_is_the_mean_over_all_directions():
    family = FAMILIES["angular ternary"]
    x, y = points(family, 1, p=4)[0], points(family, 1, p=4, seed=1)[0]
    expected = sum(probability * ((signs @ x >= 0) == (signs @ y >= 0)) for signs, probability in enumerate_ternary(4))
    assert family.collision_probability(x, y) == pytest.approx(expected, rel=1e-12)


def test_the_zero_vector_meets_every_other_point_half_of_the_time():
    family = lsh.Angular()
    assert family.collision_probability([0.0, 0.0], [1.0, 2.0]) == 0.5
    assert family.collision_probability([0.0, 0.0], [0.0, 0.0]) == 1.0
    functions = family.sample(2, n_rows=400)
    zero, other = family.hash([[0.0, 0.0], [1.0, 2.0]], functions)
    assert abs((zero == other).mean() - 0.5) < 5 * 0.5 / sqrt(400)


def test_empty_sets():
    family = lsh.MinHash()
    assert family.collision_probability([0, 0], [0, 0]) == 1.0
    assert family.closed_form([[0, 0]], [[0, 1]])[0, 0] == 0.0
    codes = family.hash([[0, 0], [0, 0]], family.sample(2, n_rows=3))
    assert (codes == 0xFFFF).all()


@pytest.mark.parametrize("directions", ["ternary", "gaussian"])
@pytest.mark.parametrize("n_concat", [1, 2, 3])
def test_row_kernel_is_the_mean_over_the_drawn_rows(directions, n_concat):
    family = lsh.L2(bandwidth=1.3, directions=directions)
    functions = family.sample(3, n_rows=6, n_concat=n_concat, random_state=5)
    x, y = points(family, 4), points(family, 3, seed=1)
    scale = 1.3 * (sqrt(1 / 3) if directions == "ternary" else 1.0)
    for i, a in enumerate(x):
        for j, b in enumerate(y):
            rows = [
                np.prod([max(0.0, 1 - abs(float(d @ (a - b))) / scale) for d in row])
                for row in functions.parameters["directions"].astype(float)
            ]
            assert family.row_kernel(x, y, functions)[i, j] == pytest.approx(np.mean(rows), rel=1e-9, abs=1e-12)


@every_family
def test_functions_of_a_row_do_not_depend_on_how_many_are_drawn(family):
    """What lets a device compute one row at a time, and a kernel train on the first rows of a sketch."""
    few = family.sample(3, n_rows=4, n_concat=2, random_state=9)
    many = family.sample(5, n_rows=6, n_concat=3, random_state=9)
    for name, array in few.parameters.items():
        larger = many.parameters[name][:4, :2]
        np.testing.assert_array_equal(larger[(..., *map(slice, array.shape[2:]))], array)


@every_family
def test_functions_depend_on_the_seed_only(family):
    same = [family.sample(3, n_rows=4, random_state=seed).parameters for seed in (1, 1, 2)]
    for name in same[0]:
        assert same[0][name].tobytes() == same[1][name].tobytes()
        assert same[0][name].tobytes() != same[2][name].tobytes()


@every_family
def test_codes_fit_16_bits_and_do_not_depend_on_the_batch(family):
    functions = family.sample(3, n_rows=5, n_concat=2)
    x = np.vstack([points(family, 20), np.full((1, 3), 1e30), np.full((1, 3), -1e30), np.zeros((1, 3))])
    codes = family.hash(x, functions)
    assert (codes.dtype, codes.shape) == (np.int32, (23, 5, 2))
    assert codes.max() - codes.min() <= 0xFFFF
    alone = np.concatenate([family.hash(row[None], functions) for row in x])
    np.testing.assert_array_equal(alone, codes)


def test_l2_codes_change_at_the_edges_of_buckets():
    family = lsh.L2(bandwidth=1.0)
    functions = family.sample(1, n_rows=50)
    sign, offset = (functions.parameters[name].reshape(50).astype(float) for name in ("directions", "offsets"))
    x = np.linspace(-3, 3, 41)
    codes = family.hash(x[:, None], functions)[:, :, 0]
    position = offset + sign * x[:, None] * sqrt(3)
    inside = abs(position - np.round(position)) > 1e-5  # float32 rounds positions
    np.testing.assert_array_equal(codes[inside], np.floor(position)[inside])


@pytest.mark.parametrize("name", ["l2 ternary", "l2 gaussian", "l1"])
def test_scaling_the_points_and_the_bandwidth_together_changes_nothing(name):
    family = FAMILIES[name]
    wider = family.with_bandwidth(4 * family.bandwidth)
    assert (type(wider), wider.bandwidth) == (type(family), 5.2)
    assert getattr(wider, "directions", None) == getattr(family, "directions", None)
    x = points(family, 30)
    functions = family.sample(3, n_rows=8)
    np.testing.assert_array_equal(wider.hash(4 * x, functions), family.hash(x, functions))


def test_a_family_without_bandwidth_has_none_to_change():
    for family in (lsh.Angular(), lsh.MinHash()):
        assert family.with_bandwidth(4.0) is family


def test_codes_saturate():
    codes = floor_code(np.array([-1e30, -32768.5, -0.5, 0.0, 32767.5, 1e30, np.inf, -np.inf], np.float32))
    assert codes.tolist() == [CODE_MIN, CODE_MIN, -1, 0, CODE_MAX, CODE_MAX, CODE_MAX, CODE_MIN]
    assert (CODE_MIN, CODE_MAX) == (-(2**15), 2**15 - 1)


def test_sums_run_in_rising_order_with_one_rounding_each():
    # 1e8 + 1 - 1e8 is 0 in float32, where 1e8 - 1e8 + 1 would be 1.
    scaled = np.array([[1e8], [1.0], [-1e8], [7.0]], np.float32)
    assert sum_along_direction(scaled, np.array([1, 1, 1, 0], np.int8), np.float32(0))[0] == 0.0
    assert sum_along_direction(scaled[[0, 2, 1, 3]], np.array([1, 1, 1, 0], np.int8), np.float32(0))[0] == 1.0


@every_family
def test_families_are_values(family):
    copy = pickle.loads(pickle.dumps(family))
    assert copy == family
    assert hash(copy) == hash(family)
    assert type(family) is lsh.family_named(family.name)


def test_unknown_family():
    with pytest.raises(InputError, match="family='cosine'; allowed are 'l2', 'angular', 'minhash', 'l1'"):
        lsh.family_named("cosine")
