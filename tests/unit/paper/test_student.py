"""A student in standardised units and the kernel model made of it are one function."""

from math import log

import numpy as np
import pytest
import torch

from repsketch import lsh
from repsketch.paper.distill import distill
from repsketch.paper.student import Student

FAMILIES = {
    "l2": (lsh.L2(), "as_hashed"),
    "l2 closed": (lsh.L2(), "closed_form"),
    "l2 gaussian": (lsh.L2(directions="gaussian"), "as_hashed"),
    "l1": (lsh.L1(), "closed_form"),
    "angular": (lsh.Angular(), "closed_form"),
    "angular ternary": (lsh.Angular(directions="ternary"), "closed_form"),
    "minhash": (lsh.MinHash(), "closed_form"),
}


def start(name, *, linear=False, n_concat=2, keep_bandwidth=False, family=None):
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
    )
    return student, X.astype(np.float32), targets


def moved(student):
    """The student's parameters somewhere else than at the start, where bias and linear term are 0."""
    rng = np.random.default_rng(1)
    with torch.no_grad():
        for name, value in student.parameters.items():
            if value.requires_grad and name != "projection":
                value.add_(torch.tensor(0.3 * rng.normal(size=value.shape), dtype=torch.float32))
    return {name: value.detach().numpy() for name, value in student.parameters.items()}


@pytest.mark.parametrize("n_concat", [1, 2])
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_the_finished_model_is_the_student_in_raw_units(name, linear, n_concat):
    student, X, _ = start(name, linear=linear, n_concat=n_concat)
    best = moved(student)
    outputs, _ = student(torch.tensor(student.inputs.apply(X)))
    expected = outputs.detach().numpy() * student.output_scale + student.output_mean
    model = student.finish(best, "regression", None)
    np.testing.assert_allclose(model.outputs(X), expected, atol=2e-3 * student.output_scale.max())
    assert (model.linear is not None) is linear
    # Only where the kernel sees absolute positions does the model carry the inputs' mean.
    assert (model.shift is not None) is name.startswith("angular")


@pytest.mark.parametrize(("apart", "norm"), [(0.0, 4.0), (log(2) / 2, 12.0), (100.0, 20.0)])
def test_the_norm_by_hand(apart, norm):
    """Weights 4 and -2 on points with the kernel k have the norm 4**2 + 2**2 - 16 k, here with k = 1, 1/2 and 0.

    The kernel is exp(-2 apart / bandwidth). A second output has the weight 1 on one point, and the mean is taken.
    """
    student, X, _ = start("l1", n_concat=2)
    with torch.no_grad():
        for name in ("points", "weights", "log_bandwidth"):
            student.parameters[name].zero_()
        student.parameters["points"][1, 2] = apart
        student.parameters["weights"][:2] = torch.tensor([[4.0, 1.0], [-2.0, 0.0]])
    _, found = student(torch.tensor(student.inputs.apply(X)))
    assert found.item() == pytest.approx((norm + 1.0) / 2.0, rel=1e-4)


def test_outputs_are_standardised():
    student, _, targets = start("l2")
    wanted = student.standardise(targets)
    assert wanted.dtype == np.float32
    np.testing.assert_allclose(wanted.mean(axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(wanted.std(axis=0), 1.0, rtol=1e-5)


def test_the_bandwidth_starts_from_the_data_or_as_given():
    from_data = start("l2", family=lsh.L2(bandwidth=50.0))[0].parameters["log_bandwidth"].exp().item()
    given = start("l2", family=lsh.L2(bandwidth=50.0), keep_bandwidth=True)[0].parameters["log_bandwidth"].exp().item()
    assert given == pytest.approx(50.0, rel=1e-5)
    assert from_data < 20.0


def test_a_bandwidth_is_the_same_for_the_student_and_its_model():
    student, _, _ = start("l2", family=lsh.L2(bandwidth=5.0), keep_bandwidth=True)
    model = student.finish(moved(student), "regression", None)
    assert model.family.bandwidth == pytest.approx(student.parameters["log_bandwidth"].exp().item(), rel=1e-6)
    assert model.family.bandwidth != 5.0


def test_sets_do_not_move():
    student, X, _ = start("minhash")
    fixed = {name for name, value in student.parameters.items() if not value.requires_grad}
    assert fixed == {"points", "log_bandwidth"}
    rows = {row.tobytes() for row in X}
    assert all(point.tobytes() in rows for point in student.parameters["points"].numpy())


def test_the_origin_of_angles_is_learned():
    """Values that depend on how far out a point lies: angles about the data's middle could not tell."""
    X = np.random.default_rng(0).normal(size=(2000, 2)).astype(np.float32)
    wanted = (X**2).sum(axis=1)
    options = {"family": "angular", "n_components": 3, "n_points": 64, "norm_penalty": 1e-4, "progress": False}
    f_K = distill(lambda X: (X**2).sum(axis=1), X, **options)
    assert np.corrcoef(f_K.outputs(X)[:, 0], wanted)[0, 1] > 0.9
