"""Adam: the steps of torch's, by hand and side by side."""

import numpy as np
import pytest

from repsketch.paper.adam import Adam


def test_the_first_step_is_the_learning_rate_whatever_the_gradient():
    values = np.zeros(3)
    Adam({"values": values}).step({"values": np.array([1e-3, -1.0, 1e6])}, learning_rate=0.5)
    np.testing.assert_allclose(values, [-0.5, 0.5, -0.5], rtol=1e-4)


def test_a_parameter_without_gradient_stays():
    values, others = np.ones(2), np.ones(2)
    Adam({"values": values, "others": others}).step({"values": np.ones(2)}, learning_rate=0.1)
    assert values.max() < 1.0
    assert others.tolist() == [1.0, 1.0]


def test_the_second_step_by_hand():
    """Gradients 1 and 3: means 0.1, then 0.39, over 0.19; squares 0.001, then 0.009999, over 0.001999."""
    values = np.zeros(1)
    adam = Adam({"values": values})
    adam.step({"values": np.array([1.0])}, learning_rate=1.0)
    adam.step({"values": np.array([3.0])}, learning_rate=0.1)
    assert values[0] == pytest.approx(-1.0 - 0.1 * (0.39 / 0.19) / (0.009999 / 0.001999) ** 0.5, rel=1e-6)


def test_torch_takes_the_same_steps():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    ours = {"matrix": rng.normal(size=(3, 2)).astype(np.float32), "number": np.array(0.5, np.float32)}
    theirs = {name: torch.tensor(value, requires_grad=True) for name, value in ours.items()}
    adam, reference = Adam(ours), torch.optim.Adam(list(theirs.values()))
    for step in range(40):
        gradients = {name: rng.normal(size=value.shape).astype(np.float32) for name, value in ours.items()}
        adam.step(gradients, learning_rate=0.01 / (1 + step))
        for name, value in theirs.items():
            value.grad = torch.tensor(gradients[name])
        reference.param_groups[0]["lr"] = 0.01 / (1 + step)
        reference.step()
    for name, value in theirs.items():
        assert ours[name].dtype == np.float32
        np.testing.assert_allclose(ours[name], value.detach().numpy(), atol=1e-6)
