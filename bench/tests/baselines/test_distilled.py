import numpy as np
import pytest
import torch

from repsketch.errors import InputError
from repsketch.theory import Cost
from repsketch_bench.baselines import distil_network
from repsketch_bench.baselines.distilled import student_widths
from repsketch_bench.baselines.layers import fold_network
from repsketch_bench.baselines.losses import label_loss, teacher_loss
from repsketch_bench.baselines.networks import compare_network
from repsketch_bench.baselines.rows import Rows

QUICK = {"n_epochs": 2, "batch_size": 64, "progress": False}


@pytest.fixture(scope="module")
def teacher_outputs(teacher, X):
    return compare_network("teacher", fold_network(teacher)).predict(X)


@pytest.mark.parametrize("n_features", [1, 4, 123])
@pytest.mark.parametrize("extra", [1, 2, 3, 10, 100, 1984, 20_000])
def test_shapes_fit_and_one_unit_more_does_not(n_features, extra):
    n_numbers = n_features + extra
    for widths in student_widths(n_features, n_numbers):
        assert Cost.of_mlp(widths).parameters <= n_numbers
        hidden = [widths[1] + 1] if len(widths) == 3 else [widths[1] + 1, (widths[1] + 1) // 2]
        if len(widths) > 2:
            assert Cost.of_mlp([n_features, *hidden, 1]).parameters > n_numbers
        else:
            assert n_numbers < n_features + 3


@pytest.mark.parametrize("n_numbers", [5, 6, 7, 20, 150])
def test_numbers_and_flops_are_those_of_the_shape(X, y, task, teacher_outputs, n_numbers):
    student = distil_network(teacher_outputs, X, y, n_numbers, task=task, **QUICK)
    cost = Cost.of_mlp(student.settings["widths"])
    assert student.n_numbers == cost.parameters <= n_numbers
    assert (student.flops, student.nbytes) == (cost.paper_flops, cost.nbytes(32))
    assert student.settings["n_tried"] in (4, 8)


def test_learns_in_the_units_of_the_teacher(X, y, task, teacher_outputs, deviation):
    student = distil_network(teacher_outputs, X, y, 150, task=task, n_epochs=25, batch_size=64, progress=False)
    outputs = student.predict(X)
    if task == "classification":
        assert ((outputs > 0) == y).mean() > 0.9
    else:
        assert np.abs(outputs - y).mean() < 0.3 * deviation


def test_the_soft_labels_matter(X, labels):
    """A teacher that says the opposite of the labels is followed where it has all the say."""
    rows = Rows.split(X, labels, "classification", (X[:9], labels[:9]))
    outputs, places = torch.from_numpy(8.0 * (labels[:, None] - 0.5)).float(), torch.arange(len(X))
    wrong = -8.0 * (labels - 0.5)
    hard, soft = (teacher_loss(rows, wrong, 1.0, share)(outputs, places) for share in (0.0, 1.0))
    assert float(hard) == pytest.approx(float(label_loss(rows)(outputs, places)))
    assert float(soft) > 10.0 * float(hard)


def test_hintons_loss_by_hand():
    rows = Rows.split([[0.0], [0.0]], [0, 1], "classification", ([[0.0]], [1]))
    loss = teacher_loss(rows, np.array([2.0, -1.0]), temperature=4.0, share=0.7)

    def cross_entropy(p, q):
        return -p * np.log(q) - (1.0 - p) * np.log(1.0 - q)

    def sigmoid(z):
        return 1.0 / (1.0 + np.exp(-z))

    expected = 0.7 * 16.0 * cross_entropy(sigmoid(0.5), sigmoid(0.75)) + 0.3 * cross_entropy(0.0, sigmoid(3.0))
    assert float(loss(torch.tensor([[3.0]]), torch.tensor([0]))) == pytest.approx(expected, rel=1e-5)


def test_regression_mixes_absolute_errors():
    rows = Rows.split([[0.0]] * 2, [0.0, 2.0], "regression", ([[0.0]], [1.0]))  # median 1, deviation 1
    loss = teacher_loss(rows, np.array([3.0, 5.0]), temperature=1.0, share=0.25)
    assert float(loss(torch.tensor([[0.0]]), torch.tensor([1]))) == pytest.approx(0.25 * 4.0 + 0.75 * 1.0)


def test_same_seed_same_student_whatever_torchs_generator_did(X, y, task, teacher_outputs):
    outputs = []
    for seed, state in ((1, 5), (1, 6), (2, 5)):
        with torch.random.fork_rng():
            torch.manual_seed(state)
            before = torch.random.get_rng_state()
            student = distil_network(teacher_outputs, X, y, 40, task=task, random_state=seed, **QUICK)
            outputs.append(student.predict(X).tobytes())
            assert torch.equal(before, torch.random.get_rng_state())
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_numbers": 4}, "n_numbers=4; a network of 4 inputs takes at least 5"),
        ({"n_numbers": 10.5}, "n_numbers=10.5; allowed is an integer"),
        ({"teacher_outputs": np.ones(3)}, "teacher_outputs has shape .*one row for each row of X"),
        ({"n_epochs": 0}, "n_epochs=0; allowed"),
        ({"learning_rate": 0.0}, "learning_rate=0.0; allowed"),
        ({"batch_size": 0}, "batch_size=0; allowed"),
    ],
)
def test_refuses(X, y, task, teacher_outputs, changes, message):
    arguments = {"teacher_outputs": teacher_outputs, "X": X, "y": y, "n_numbers": 40, "task": task, **QUICK, **changes}
    with pytest.raises(InputError, match=message):
        distil_network(**arguments)
