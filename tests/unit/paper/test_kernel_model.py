"""f_K is the formula: a weighted sum of kernels of the projected input, a linear term and a bias."""

from math import acos, erf, exp, pi, sqrt

import numpy as np
import pytest
import scipy.sparse as sp

from repsketch import KernelModel, lsh
from repsketch.errors import InputError

D, P, M, C = 5, 3, 7, 2
FAMILIES = {
    "l2": lsh.L2(bandwidth=2.0),
    "l2 gaussian": lsh.L2(bandwidth=2.0, directions="gaussian"),
    "l1": lsh.L1(bandwidth=2.0),
    "angular": lsh.Angular(),
}


def textbook(name, x, y, r=2.0):
    gap = [float(a) - float(b) for a, b in zip(x, y, strict=True)]
    if name == "l1":
        return exp(-sum(map(abs, gap)) / r)
    if name == "angular":
        x, y = x.astype(float), y.astype(float)
        return 1 - acos((x @ y) / sqrt((x @ x) * (y @ y))) / pi
    u = r / sqrt(sum(g * g for g in gap))
    return erf(u / sqrt(2)) - 2 / (sqrt(2 * pi) * u) * (1 - exp(-u * u / 2))


def as_hashed(directions, scale, x, y):
    total = 0.0
    for row in directions.astype(float):
        product = 1.0
        for direction in row:
            product *= max(0.0, 1 - abs(float(direction @ (x - y))) * scale)
        total += product
    return total / len(directions)


@pytest.fixture(scope="module")
def arrays():
    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    return {
        "points": draw(M, P),
        "weights": draw(M, C),
        "bias": draw(C),
        "projection": draw(D, P),
        "shift": draw(P),
        "linear": draw(P, C),
    }


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(1).normal(size=(9, D)).astype(np.float32)


def write_out(arrays, X, kernel, n_concat):
    """sum_j weight_j kernel(z, x_j)**K + z linear + bias, loop by loop."""
    rows = []
    for x in X.astype(float):
        z = x @ arrays["projection"] if arrays.get("projection") is not None else x
        z = z + arrays["shift"] if arrays.get("shift") is not None else z
        row = arrays["bias"].astype(float).copy()
        for point, weight in zip(arrays["points"].astype(float), arrays["weights"], strict=True):
            row += weight * kernel(z, point) ** n_concat
        if arrays.get("linear") is not None:
            row += z @ arrays["linear"]
        rows.append(row)
    return np.array(rows)


OPTIONS = {
    "plain": ("projection",),
    "shift": ("projection", "shift"),
    "linear": ("projection", "linear"),
    "all": ("projection", "shift", "linear"),
}


@pytest.mark.parametrize("n_concat", [1, 2, 3])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("name", FAMILIES)
def test_closed_form_written_out(arrays, X, name, options, n_concat):
    chosen = {key: arrays[key] for key in ("points", "weights", "bias", *options)}
    model = KernelModel(**chosen, family=FAMILIES[name], n_concat=n_concat)
    expected = write_out(chosen, X, lambda z, x: textbook(FAMILIES[name].name, z, x), n_concat)
    outputs = model.outputs(X)
    assert (outputs.dtype, outputs.shape) == (np.float32, (9, C))
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_concat", [1, 2, 3])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("directions", ["ternary", "gaussian"])
def test_as_hashed_written_out(arrays, X, directions, options, n_concat):
    family = lsh.L2(bandwidth=2.0, directions=directions)
    chosen = {key: arrays[key] for key in ("points", "weights", "bias", *options)}
    model = KernelModel(**chosen, family=family, n_concat=n_concat, kernel="as_hashed", n_directions=48, seed=3)
    drawn = family.sample(P, 48, n_concat, 3).parameters["directions"]
    scale = 0.5 * (sqrt(3) if directions == "ternary" else 1.0)
    expected = write_out(chosen, X, lambda z, x: as_hashed(drawn, scale, z, x), 1)
    np.testing.assert_allclose(model.outputs(X), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_concat", [1, 2])
def test_minhash_written_out(n_concat):
    rng = np.random.default_rng(2)
    points, X = (rng.random((n, 6)) < 0.4 for n in (M, 9))
    arrays = {
        "points": points.astype(np.float32),
        "weights": rng.normal(size=(M, C)).astype(np.float32),
        "bias": np.ones(C, np.float32),
    }

    def jaccard(z, x):
        either = sum(a != 0 or b != 0 for a, b in zip(z, x, strict=True))
        return sum(a != 0 and b != 0 for a, b in zip(z, x, strict=True)) / either if either else 1.0

    model = KernelModel(**arrays, family=lsh.MinHash(), n_concat=n_concat)
    np.testing.assert_allclose(model.outputs(X), write_out(arrays, X, jaccard, n_concat), rtol=1e-5, atol=1e-5)


def test_kernel_matrix_and_transform(arrays, X):
    model = KernelModel(**arrays, family=FAMILIES["l1"])
    z = X.astype(float) @ arrays["projection"] + arrays["shift"]
    np.testing.assert_allclose(model.transform(X), z, rtol=1e-5, atol=1e-5)
    expected = [[textbook("l1", row, point) for point in arrays["points"]] for row in z]
    np.testing.assert_allclose(model.kernel_matrix(X), expected, rtol=1e-4, atol=1e-6)


def test_sparse_is_dense(arrays, X):
    X = np.where(X > 0, X, 0)
    model = KernelModel(**arrays, family=FAMILIES["l2"])
    assert model.outputs(sp.csr_matrix(X)).tobytes() == model.outputs(X).tobytes()


def test_sizes(arrays):
    model = KernelModel(**arrays, family=FAMILIES["l2"])
    assert (model.n_features, model.n_outputs) == (D, C)
    assert model.n_parameters == M * P + M * C + C + D * P + P + P * C
    bare = KernelModel(arrays["points"], arrays["weights"], arrays["bias"], FAMILIES["l2"])
    assert (bare.n_features, bare.n_parameters) == (P, M * P + M * C + C)


def test_unknown_kernel(arrays):
    with pytest.raises(InputError, match="kernel='exact'; allowed are 'as_hashed', 'closed_form'"):
        KernelModel(**arrays, family=FAMILIES["l2"], kernel="exact")


def test_as_hashed_only_where_the_c_core_offers_it(arrays):
    for family, n_concat in ((lsh.L1(1.0), 1), (lsh.Angular("ternary"), 1), (lsh.L2(1.0), 17)):
        with pytest.raises(InputError, match=r"kernel='as_hashed' with family .* Use kernel='closed_form'"):
            KernelModel(**arrays, family=family, n_concat=n_concat, kernel="as_hashed")
    with pytest.raises(InputError, match="n_directions=100; allowed is a multiple of 16"):
        KernelModel(**arrays, family=lsh.L2(1.0), kernel="as_hashed", n_directions=100)
