"""A student in standardised units and the kernel model made of it are one function, with the gradients of its loss."""

from math import log

import numpy as np
import pytest

from repsketch import lsh
from repsketch.paper.distill import distill
from repsketch.paper.student import Student
from repsketch.parallel import Workers

FAMILIES = {
    "l2": (lsh.L2(), "as_hashed"),
    "l2 closed": (lsh.L2(), "closed_form"),
    "l2 gaussian": (lsh.L2(directions="gaussian"), "as_hashed"),
    "l1": (lsh.L1(), "closed_form"),
    "angular": (lsh.Angular(), "closed_form"),
    "angular ternary": (lsh.Angular(directions="ternary"), "closed_form"),
    "minhash": (lsh.MinHash(), "closed_form"),
}


@pytest.fixture(scope="module")
def workers():
    with Workers(1) as workers:
        yield workers


def start(name, workers, *, linear=False, n_concat=2, keep_bandwidth=False, family=None):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 2.0, size=(80, 5)) * [1, 10, 0.1, 1, 1]
    if name == "minhash":
        X = (rng.random((80, 5)) < 0.5) * 1.0
    targets = np.stack([X[:, 0] * 100 + 7, X[:, 1] - 40], axis=1)
    student = Student.start(
        X.astype(np.float32),
        targets,
        family=family or FAMILIES[name][0],
        keep_bandwidth=keep_bandwidth,
        kernel=FAMILIES[name][1],
        n_directions=32,
        n_concat=n_concat,
        n_points=9,
        n_components=3,
        linear=linear,
        seed=4,
        workers=workers,
    )
    return student, X.astype(np.float32), targets


def moved(student):
    """The student's parameters somewhere else than at the start, where bias and linear term are 0."""
    rng = np.random.default_rng(1)
    for name, value in student.trained.items():
        if name != "projection":
            value += 0.3 * rng.normal(size=value.shape)
    return student.parameters


@pytest.mark.parametrize("n_concat", [1, 2])
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_finished_model_is_the_student_in_raw_units(workers, name, linear, n_concat):
    student, X, _ = start(name, workers, linear=linear, n_concat=n_concat)
    best = moved(student)
    expected = student(student.inputs.apply(X)).outputs * student.output_scale + student.output_mean
    model = student.finish(best, "regression", None)
    np.testing.assert_allclose(model.outputs(X), expected, atol=2e-3 * student.output_scale.max())
    assert (model.linear is not None) is linear
    # Only where the kernel sees absolute positions does the model carry the inputs' mean.
    assert (model.shift is not None) is name.startswith("angular")


@pytest.mark.parametrize(("apart", "norm"), [(0.0, 4.0), (log(2) / 2, 12.0), (100.0, 20.0)])
def test_the_norm_by_hand(workers, apart, norm):
    """Weights 4 and -2 on points with the kernel k have the norm 4**2 + 2**2 - 16 k, here with k = 1, 1/2 and 0.

    The kernel is exp(-2 apart / bandwidth). A second output has the weight 1 on one point, and the mean is taken.
    """
    student, X, _ = start("l1", workers, n_concat=2)
    for name in ("points", "weights", "log_bandwidth"):
        student.parameters[name][...] = 0.0
    student.parameters["points"][1, 2] = apart
    student.parameters["weights"][:2] = [[4.0, 1.0], [-2.0, 0.0]]
    assert student(student.inputs.apply(X)).norm == pytest.approx((norm + 1.0) / 2.0, rel=1e-4)


def test_outputs_are_standardised(workers):
    student, _, targets = start("l2", workers)
    wanted = student.standardise(targets)
    assert wanted.dtype == np.float32
    np.testing.assert_allclose(wanted.mean(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(wanted.std(axis=0), 1.0, rtol=1e-5)


def test_the_bandwidth_starts_from_the_data_or_as_given(workers):
    from_data = start("l2", workers, family=lsh.L2(bandwidth=50.0))[0].parameters["log_bandwidth"]
    given = start("l2", workers, family=lsh.L2(bandwidth=50.0), keep_bandwidth=True)[0].parameters["log_bandwidth"]
    assert np.exp(given) == pytest.approx(50.0, rel=1e-5)
    assert np.exp(from_data) < 20.0


def test_a_bandwidth_is_the_same_for_the_student_and_its_model(workers):
    student, _, _ = start("l2", workers, family=lsh.L2(bandwidth=5.0), keep_bandwidth=True)
    model = student.finish(moved(student), "regression", None)
    assert model.family.bandwidth == pytest.approx(np.exp(student.parameters["log_bandwidth"]), rel=1e-6)
    assert model.family.bandwidth != 5.0


def test_sets_do_not_move(workers):
    student, X, _ = start("minhash", workers)
    assert set(student.parameters) - set(student.trained) == {"points", "log_bandwidth"}
    rows = {row.tobytes() for row in X}
    assert all(point.tobytes() in rows for point in student.parameters["points"])


def loss_of(student, parameters, X, wanted, norm_penalty):
    """The loss in float64, from the families' own kernels."""
    p = parameters
    family = student.family.with_bandwidth(np.exp(p["log_bandwidth"]).item())
    z = X @ p["projection"] if "projection" in p else X
    z = z + p.get("shift", 0.0)
    functions = family.sample(z.shape[1], student.n_directions, student.n_concat, student.seed)

    def kernel(queries):
        if student.kernel == "as_hashed":
            return family.row_kernel(queries, p["points"], functions)
        return family.closed_form(queries, p["points"], student.n_concat)

    outputs = kernel(z) @ p["weights"] + p["bias"] + (z @ p["linear"] if "linear" in p else 0.0)
    norm = (p["weights"] * (kernel(p["points"]) @ p["weights"])).sum(axis=0).mean()
    return ((outputs - wanted) ** 2).mean() + norm_penalty * norm


@pytest.mark.parametrize("n_concat", [1, 2])
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_gradients_against_differences(workers, name, linear, n_concat):
    student, X, targets = start(name, workers, linear=linear, n_concat=n_concat)
    moved(student)
    X, wanted = student.inputs.apply(X), student.standardise(targets)
    gradients = student.gradients(X, wanted, norm_penalty=0.05)
    assert set(gradients) == set(student.trained)
    parameters = {key: value.astype(np.float64) for key, value in student.parameters.items()}
    for key, gradient in gradients.items():
        expected = np.empty(gradient.shape)
        for index in np.ndindex(expected.shape):
            losses = []
            for step in (-1e-6, 1e-6):
                changed = {**parameters, key: parameters[key].copy()}
                changed[key][index] += step
                losses.append(loss_of(student, changed, X.astype(np.float64), wanted, 0.05))
            expected[index] = (losses[1] - losses[0]) / 2e-6
        assert gradient.dtype == np.float32
        assert np.abs(expected).max() > 1e-4, key
        # L2 and angular closed forms see a point at a thousandth of a bandwidth from itself: float32 products.
        tolerance = 2e-4 if name in ("l2", "l2 gaussian", "l1", "minhash") else 2e-3
        np.testing.assert_allclose(gradient, expected, atol=tolerance * np.abs(expected).max(), err_msg=key)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_penalty_of_zero_leaves_the_error(workers, name):
    student, X, targets = start(name, workers)
    moved(student)
    X, wanted = student.inputs.apply(X), student.standardise(targets)
    without, some, more = (student.gradients(X, wanted, at)["weights"] for at in (0.0, 0.1, 0.2))
    np.testing.assert_allclose(more - some, some - without, atol=1e-5)
    assert np.abs(some - without).max() > 1e-3


def test_the_origin_of_angles_is_learned():
    """Values that depend on how far out a point lies: angles about the data's middle could not tell."""
    X = np.random.default_rng(0).normal(size=(2000, 2)).astype(np.float32)
    wanted = (X**2).sum(axis=1)
    options = {"family": "angular", "n_components": 3, "n_points": 64, "norm_penalty": 1e-4, "progress": False}
    f_K = distill(lambda X: (X**2).sum(axis=1), X, **options)
    assert np.corrcoef(f_K.outputs(X)[:, 0], wanted)[0, 1] > 0.9
