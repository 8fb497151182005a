"""Training kernels: values against the families, gradients against finite differences, bits against threads."""

from collections.abc import Iterator

import numpy as np
import pytest

from repsketch import lsh
from repsketch.paper.pairs import _CHUNK, CLOSED_FORMS, AsHashed, Pairs
from repsketch.paper.student import pair_kernel
from repsketch.parallel import Workers

N_QUERIES, N_POINTS = 2 * _CHUNK + 5, 37  # neither fills a chunk, a tile or a SIMD block
BANDWIDTH = 1.7
MOVING = {"l2": lsh.L2(BANDWIDTH), "l1": lsh.L1(BANDWIDTH), "angular": lsh.Angular()}


@pytest.fixture
def workers() -> Iterator[Workers]:
    with Workers(2) as workers:
        yield workers


def sides(p=3, n_queries=N_QUERIES, n_points=N_POINTS, dtype=np.float32):
    rng = np.random.default_rng(0)
    return tuple(rng.normal(size=(n, p)).astype(dtype) for n in (n_queries, n_points))


def in_units(family, *points):
    """Coordinates as kernels of bandwidth 1 take them."""
    return tuple(side / np.asarray(getattr(family, "bandwidth", 1.0), side.dtype) for side in points)


def closed_form(name, n_concat, workers):
    return Pairs(CLOSED_FORMS[name](n_concat), workers)


class TestValues:
    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    @pytest.mark.parametrize("directions", ["ternary", "gaussian"])
    @pytest.mark.parametrize("sizes", [(N_QUERIES, N_POINTS), (1, 1), (_CHUNK, 1), (3, 300)])
    def test_as_hashed_is_the_row_kernel(self, workers, n_concat, directions, sizes):
        family = lsh.L2(BANDWIDTH, directions)
        z, points = sides(3, *sizes)
        kernel = pair_kernel(lsh.L2(99.0, directions), "as_hashed", 32, n_concat, 3, seed=5)
        values, _ = Pairs(kernel, workers)(*in_units(family, z, points))
        expected = family.row_kernel(z, points, family.sample(3, 32, n_concat, 5))
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, expected, atol=2e-6)

    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    @pytest.mark.parametrize("name", MOVING)
    def test_closed_forms(self, workers, name, n_concat):
        family, (z, points) = MOVING[name], sides()
        kernel = pair_kernel(family, "closed_form", 0, n_concat, 3, seed=0)
        values, _ = Pairs(kernel, workers)(*in_units(family, z, points))
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, family.closed_form(z, points, n_concat), atol=5e-6)

    @pytest.mark.parametrize("n_concat", [1, 2])
    def test_jaccard(self, workers, n_concat):
        z, points = ((side > 0.3).astype(np.float32) for side in sides(p=4))
        assert not points.any(axis=1).all()  # empty sets are among them
        values, gradient = closed_form("minhash", n_concat, workers)(z, points)
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, lsh.MinHash().closed_form(z, points, n_concat), atol=1e-6)
        assert not any(grad.any() for grad in gradient(np.ones_like(values)))

    def test_set_members_count_whatever_their_values(self, workers):
        members = np.array([[3.0, -1.0, 0.0], [0.5, 0.0, 0.0]], np.float32)
        assert closed_form("minhash", 1, workers)(members, members)[0].tolist() == [[1.0, 0.5], [0.5, 1.0]]

    @pytest.mark.parametrize("name", MOVING)
    def test_coinciding_points(self, workers, name):
        points = sides(n_points=20)[1]
        values, gradient = closed_form(name, 1, workers)(points, points)
        # Distances come from a float32 product: 1e-3 of a bandwidth, the angle's limit is at 1.4e-3.
        np.testing.assert_allclose(np.diag(values), 1.0, atol=2e-3)
        assert all(np.isfinite(grad).all() for grad in gradient(np.ones_like(values)))

    @pytest.mark.parametrize("name", ["l2", "l1", "angular"])
    def test_far_points_and_the_origin(self, workers, name):
        """Without a warning of NumPy's, which would be an error here."""
        far = np.array([[1e6, -1e6], [0.0, 0.0], [1e-9, 0.0]], np.float32)
        values, gradient = closed_form(name, 2, workers)(far, far)
        assert np.isfinite(values).all()
        assert all(np.isfinite(grad).all() for grad in gradient(np.ones_like(values)))
        if name != "angular":
            assert values[0, 1] < 1e-6

    def test_every_family_has_a_closed_form(self):
        assert set(CLOSED_FORMS) == {"l2", "l1", "angular", "minhash"}


def by_differences(function, points, step):
    """Gradient (n, p) of a number by every coordinate, from differences to both sides."""
    gradient = np.empty(points.shape)
    for index in np.ndindex(points.shape):
        moved = [points.copy(), points.copy()]
        moved[0][index] -= step
        moved[1][index] += step
        low, high = map(function, moved)
        gradient[index] = (high - low) / (2 * step)
    return gradient


class TestGradients:
    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    @pytest.mark.parametrize("name", MOVING)
    def test_closed_forms(self, workers, name, n_concat):
        """Against differences of the family's kernel, which is another implementation."""
        family = MOVING[name].with_bandwidth(1.0)
        z, points = sides(3, n_queries=6, n_points=4, dtype=np.float64)
        upstream = np.random.default_rng(4).normal(size=(6, 4))
        values, gradient = closed_form(name, n_concat, workers)(z, points)
        assert values.dtype == np.float64

        def loss(z, points):
            return (family.closed_form(z, points, n_concat) * upstream).sum()

        expected = [
            by_differences(lambda z: loss(z, points), z, 1e-5),
            by_differences(lambda points: loss(z, points), points, 1e-5),
        ]
        for ours, theirs in zip(gradient(upstream), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-6)

    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    @pytest.mark.parametrize("directions", ["ternary", "gaussian"])
    def test_as_hashed(self, workers, directions, n_concat):
        family = lsh.L2(1.0, directions)
        functions = family.sample(3, 32, n_concat, random_state=3)
        z, points = sides(3, n_queries=6, n_points=4, dtype=np.float64)
        upstream = np.random.default_rng(4).normal(size=(6, 4))

        def loss(z, points):
            return (family.row_kernel(z, points, functions) * upstream).sum()

        kernel = Pairs(AsHashed(functions.parameters["directions"], family.unit_scale), workers)
        _, gradient = kernel(z.astype(np.float32), points.astype(np.float32))
        expected = [
            by_differences(lambda z: loss(z, points), z, 1e-6),  # a kink of a triangle is nowhere so near
            by_differences(lambda points: loss(z, points), points, 1e-6),
        ]
        for ours, theirs in zip(gradient(upstream), expected, strict=True):
            assert ours.dtype == np.float32
            assert np.abs(theirs).max() > 1e-2
            np.testing.assert_allclose(ours, theirs, atol=1e-5)

    @pytest.mark.parametrize("name", [*MOVING, "as hashed"])
    def test_all_chunks_count(self, workers, name):
        """The points' gradient is the sum over the queries, however they are cut."""
        kernel = Pairs(_as_hashed(2) if name == "as hashed" else CLOSED_FORMS[name](2), workers)
        z, points = sides()
        upstream = np.random.default_rng(4).normal(size=(N_QUERIES, N_POINTS)).astype(np.float32)
        _, gradient = kernel(z, points)
        grad_z, grad_points = gradient(upstream)
        cuts = [slice(0, 7), slice(7, 200), slice(200, N_QUERIES)]
        parts = [kernel(z[cut], points)[1](upstream[cut]) for cut in cuts]
        np.testing.assert_allclose(np.concatenate([own for own, _ in parts]), grad_z, atol=1e-4)
        np.testing.assert_allclose(sum(to for _, to in parts), grad_points, atol=1e-4)

    def test_equal_coordinates_of_l1_do_not_move(self, workers):
        z, points = np.array([[1.0, 2.0]], np.float32), np.array([[1.0, 0.0]], np.float32)
        _, gradient = closed_form("l1", 1, workers)(z, points)
        grad_z, grad_points = gradient(np.ones((1, 1), np.float32))
        assert grad_z[0, 0] == grad_points[0, 0] == 0.0
        assert grad_z[0, 1] == -grad_points[0, 1] == pytest.approx(-np.exp(-2.0), rel=1e-5)


def _as_hashed(n_concat, n_directions=64):
    family = lsh.L2(1.0)
    functions = family.sample(3, n_directions, n_concat, random_state=3)
    return AsHashed(functions.parameters["directions"], unit=1.0)


class TestDeterminism:
    @pytest.mark.parametrize("n_concat", [1, 3])
    @pytest.mark.parametrize("name", [*MOVING, "as hashed"])
    def test_the_same_bits_for_any_number_of_threads(self, name, n_concat):
        kernel = _as_hashed(n_concat) if name == "as hashed" else CLOSED_FORMS[name](n_concat)
        z, points = sides()
        upstream = np.random.default_rng(4).normal(size=(N_QUERIES, N_POINTS)).astype(np.float32)
        results = []
        for n_threads in (1, 2, 3, 2):
            with Workers(n_threads) as workers:
                values, gradient = Pairs(kernel, workers)(z, points)
                results.append(b"".join(array.tobytes() for array in (values, *gradient(upstream))))
        assert len(set(results)) == 1

    def test_a_query_does_not_depend_on_its_batch(self, workers):
        kernel = Pairs(_as_hashed(2), workers)
        # Coordinates without rounding: the matrix product in front is a BLAS's and may differ by batch.
        z, points = (np.round(side * 8) / 8 for side in sides())
        together, _ = kernel(z, points)
        for index in (0, 1, _CHUNK - 1, _CHUNK, N_QUERIES - 1):
            alone, _ = kernel(z[index : index + 1], points)
            assert alone.tobytes() == together[index : index + 1].tobytes()
