"""Training kernels: values against the NumPy families, gradients against plain torch, bits against threads."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch

from repsketch import lsh
from repsketch.paper.pairs import _CHUNK, CLOSED_FORMS, AsHashed
from repsketch.paper.student import _pair_kernel

N_QUERIES, N_POINTS = 2 * _CHUNK + 5, 37  # neither fills a chunk, a tile or a SIMD block
BANDWIDTH = 1.7


@pytest.fixture
def threads() -> Iterator[None]:
    """Puts the number of torch's threads back."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def tensors(*arrays, grad=False, dtype=torch.float32):
    return [torch.tensor(array, dtype=dtype, requires_grad=grad) for array in arrays]


def sides(p=3, n_queries=N_QUERIES, n_points=N_POINTS):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_queries, p)), rng.normal(size=(n_points, p))


class TestValues:
    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    @pytest.mark.parametrize("directions", ["ternary", "gaussian"])
    @pytest.mark.parametrize("sizes", [(N_QUERIES, N_POINTS), (1, 1), (_CHUNK, 1), (3, 300)])
    def test_as_hashed_is_the_row_kernel(self, n_concat, directions, sizes):
        family = lsh.L2(BANDWIDTH, directions)
        z, points = sides(3, *sizes)
        kernel = _pair_kernel(lsh.L2(99.0, directions), "as_hashed", 32, n_concat, 3, seed=5)
        values = kernel(*tensors(z, points, BANDWIDTH)).numpy()
        expected = family.row_kernel(z, points, family.sample(3, 32, n_concat, 5))
        assert values.dtype == np.float32
        np.testing.assert_allclose(values, expected, atol=2e-6)

    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    @pytest.mark.parametrize("family", [lsh.L2(BANDWIDTH), lsh.L1(BANDWIDTH), lsh.Angular()], ids=lambda f: f.name)
    def test_closed_forms(self, family, n_concat):
        z, points = sides()
        kernel = _pair_kernel(family, "closed_form", 0, n_concat, 3, seed=0)
        values = kernel(*tensors(z, points, BANDWIDTH)).numpy()
        np.testing.assert_allclose(values, family.closed_form(z, points, n_concat), atol=5e-6)

    @pytest.mark.parametrize("n_concat", [1, 2])
    def test_jaccard(self, n_concat):
        z, points = (side > 0.3 for side in sides(p=4))
        assert not points.any(axis=1).all()  # empty sets are among them
        kernel = _pair_kernel(lsh.MinHash(), "closed_form", 0, n_concat, 4, seed=0)
        values = kernel(*tensors(z, points, 1.0)).numpy()
        np.testing.assert_allclose(values, lsh.MinHash().closed_form(z, points, n_concat), atol=1e-6)

    @pytest.mark.parametrize("name", ["l2", "l1", "angular"])
    def test_coinciding_points(self, name):
        points = np.random.default_rng(1).normal(size=(20, 3))
        z, same, bandwidth = tensors(points, points, BANDWIDTH, grad=True)
        values = CLOSED_FORMS[name](z, same, bandwidth)
        # Distances come from a float32 product: 1e-3 of a bandwidth, the angle's clamp is at 1.4e-3.
        np.testing.assert_allclose(np.diag(values.detach()), 1.0, atol=2e-3)
        values.sum().backward()
        assert torch.isfinite(z.grad).all()
        assert torch.isfinite(same.grad).all()

    def test_every_family_has_a_closed_form(self):
        assert set(CLOSED_FORMS) == {"l2", "l1", "angular", "minhash"}


def away_from_kinks(p=3):
    """Queries and points whose gap along any ternary direction is 0.01 or more from a multiple of 1/4."""
    rng = np.random.default_rng(2)
    z = rng.integers(-6, 7, size=(N_QUERIES, p)) / 4 + 0.02 * 3.0 ** np.arange(p)
    return z, rng.integers(-6, 7, size=(N_POINTS, p)) / 4


class TestGradients:
    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    @pytest.mark.parametrize("name", ["l2", "l1", "angular"])
    def test_closed_forms_against_finite_differences(self, name, n_concat):
        z, points = sides(p=3, n_queries=6, n_points=4)
        arguments = tensors(z, points, BANDWIDTH, grad=True, dtype=torch.float64)
        assert torch.autograd.gradcheck(CLOSED_FORMS[name], (*arguments, n_concat), eps=1e-6, atol=1e-6)

    @pytest.mark.parametrize("n_concat", [1, 2, 3])
    def test_as_hashed_against_plain_torch(self, n_concat):
        directions = lsh.L2(1.0).sample(3, 32, n_concat, random_state=3).parameters["directions"]
        z, points = away_from_kinks()
        upstream = torch.tensor(np.random.default_rng(4).normal(size=(N_QUERIES, N_POINTS)), dtype=torch.float32)

        def plain(z, points, bandwidth):
            rows = torch.tensor(directions / 1.0, dtype=z.dtype) / bandwidth  # (rows, K, p)
            u, v = (torch.einsum("np,rkp->nrk", side, rows) for side in (z, points))
            gaps = (u[:, None] - v[None, :]).abs()
            return (1 - gaps).clamp_min(0).prod(dim=3).mean(dim=2)

        results = []
        for kernel in (AsHashed(directions, unit=1.0), plain):
            arguments = tensors(z, points, 1.0, grad=True)
            values = kernel(*arguments)
            values.backward(upstream)
            results.append([values.detach(), *(argument.grad for argument in arguments)])
        for name, ours, expected in zip(("kernel", "z", "points", "bandwidth"), *results, strict=True):
            scale = expected.abs().max()
            assert scale > 1e-3, name
            assert (ours - expected).abs().max() < 1e-5 * scale, name

    def test_as_hashed_against_finite_differences(self):
        """Full steps between kinks: the kernel is linear there for K = 1, so a difference is exact."""
        directions = lsh.L2(1.0).sample(3, 16, 1, random_state=3).parameters["directions"]
        kernel = AsHashed(directions, unit=1.0)
        z, points = (side[:4] for side in away_from_kinks())
        upstream = torch.tensor(np.random.default_rng(4).normal(size=(4, 4)), dtype=torch.float32)
        z_tensor, points_tensor, bandwidth = tensors(z, points, 1.0, grad=True)
        (kernel(z_tensor, points_tensor, bandwidth) * upstream).sum().backward()
        step = 2.0**-8
        for i in range(4):
            for j in range(3):
                moved = [z.copy(), z.copy()]
                moved[0][i, j] -= step
                moved[1][i, j] += step
                low, high = ((kernel(*tensors(side, points, 1.0)) * upstream).sum().item() for side in moved)
                assert z_tensor.grad[i, j].item() == pytest.approx((high - low) / (2 * step), abs=1e-3)

    def test_one_side_may_be_both(self):
        """A student passes its points as queries too: gradients of both sides add up."""
        directions = lsh.L2(1.0).sample(3, 16, 2, random_state=3).parameters["directions"]
        kernel = AsHashed(directions, unit=1.0)
        z, points = (side[:5] for side in away_from_kinks())
        both, bandwidth = tensors(np.concatenate([z, points]), 1.0, grad=True)
        kernel(both[:5], both[5:], bandwidth).sum().backward()
        left, right, other = tensors(z, points, 1.0, grad=True)
        kernel(left, right, other).sum().backward()
        assert torch.equal(both.grad, torch.cat([left.grad, right.grad]))


class TestDeterminism:
    @pytest.mark.parametrize("n_concat", [1, 3])
    @pytest.mark.usefixtures("threads")
    def test_as_hashed_gives_the_same_bits_for_any_number_of_threads(self, n_concat):
        directions = lsh.L2(1.0).sample(3, 64, n_concat, random_state=3).parameters["directions"]
        z, points = sides()
        upstream = torch.tensor(np.random.default_rng(4).normal(size=(N_QUERIES, N_POINTS)), dtype=torch.float32)
        results = []
        for n_threads in (1, 2, 1, 2):
            torch.set_num_threads(n_threads)
            arguments = tensors(z, points, BANDWIDTH, grad=True)
            values = AsHashed(directions, unit=1.0)(*arguments)
            values.backward(upstream)
            results.append(b"".join(t.detach().numpy().tobytes() for t in (values, *(a.grad for a in arguments))))
        assert len(set(results)) == 1

    def test_a_query_does_not_depend_on_its_batch(self):
        directions = lsh.L2(1.0).sample(3, 32, 2, random_state=3).parameters["directions"]
        kernel = AsHashed(directions, unit=1.0)
        # Along axes without rounding: the matrix product in front is torch's and may differ by batch.
        z, points = (np.round(side * 8) / 8 for side in sides())
        together = kernel(*tensors(z, points, 1.0)).numpy()
        for index in (0, 1, _CHUNK - 1, _CHUNK, N_QUERIES - 1):
            alone = kernel(*tensors(z[index : index + 1], points, 1.0)).numpy()
            assert alone.tobytes() == together[index : index + 1].tobytes()
