"""Knowledge distillation (Hinton, Vinyals and Dean 2015): a smaller network is trained on a teacher's soft labels."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import torch

from repsketch.checks import check_count, check_number
from repsketch.errors import InputError
from repsketch.paper.initialize import InputScale
from repsketch.theory import Cost

from .compared import Compared
from .layers import fresh_network, rescale_network
from .losses import label_loss, output_units, teacher_loss
from .networks import compare_network
from .rows import Rows, as_inputs, as_vector
from .training import train_epochs

SOFTNESS = ((1.0, 0.5), (1.0, 1.0), (4.0, 0.5), (4.0, 0.9))  # temperature and share of the teacher, for classes
SHARES = (0.25, 0.5, 0.75, 1.0)  # for values, which have no temperature


def distil_network(
    teacher_outputs: Any,
    X: Any,
    y: Any,
    n_numbers: int,
    *,
    task: str,
    validation: tuple[Any, Any] | None = None,
    n_epochs: int = 20,
    batch_size: int = 256,
    learning_rate: float = 1e-2,
    random_state: int = 0,
    progress: bool = True,
) -> Compared:
    """A network of at most ``n_numbers`` weights and biases, trained on a teacher's outputs and on labels.

    Two shapes are tried, each with four mixtures of teacher and labels: one hidden layer, and two, the second half as
    wide; both as wide as fits. Where no hidden unit fits, the network is linear.

    Parameters
    ----------
    teacher_outputs : (n,) log-odds or values for the rows of X
    X : (n, d) inputs
    y : (n,) classes 0 and 1, or values
    n_numbers : at least d + 1
    task : "classification" or "regression"; the latter minimises the absolute error
    validation : (m, d) inputs and (m,) classes or values; without it a fifth of the rows

    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> student = distil_network(X[:, 0], X, X[:, 0] > 0, 40, task="classification", n_epochs=1)
    >>> student.n_numbers <= 40, student.settings["n_tried"]
    (True, 8)
    """
    rows = Rows.split(X, y, task, validation, random_state)
    soft_labels = as_vector(teacher_outputs, len(as_inputs(X)), "teacher_outputs")[rows.train_places]
    check_count("n_epochs", n_epochs, 1_000_000)
    check_count("batch_size", batch_size, 1 << 30)
    check_number("learning_rate", learning_rate, 0.0, open_ends=True)
    scale, (middle, deviation) = InputScale.fit(rows.X_train), output_units(rows)
    data = torch.from_numpy(scale.apply(np.concatenate([rows.X_train, rows.X_valid])))
    train, valid = torch.arange(len(rows.X_train)), torch.arange(len(rows.X_train), len(data))
    mixtures = SOFTNESS if task == "classification" else tuple((1.0, share) for share in SHARES)
    tried = []
    for widths, (temperature, share) in product(student_widths(rows.n_features, n_numbers), mixtures):
        with torch.random.fork_rng():
            torch.manual_seed(random_state)  # initial weights
            student = fresh_network(widths)
            train_epochs(
                student,
                data,
                teacher_loss(rows, soft_labels, temperature, share),
                train,
                valid,
                torch.Generator().manual_seed(random_state),
                n_epochs=n_epochs,
                batch_size=batch_size,
                learning_rate=learning_rate,
                weight_decay=0.0,
                validation_loss_of=label_loss(rows),
                title=f"distilling a network of {n_numbers} numbers",
                progress=progress,
            )
        raw = rescale_network(student, 1.0 / scale.scale, -scale.mean / scale.scale, deviation, middle)
        settings = {"widths": widths, "temperature": temperature, "teacher_share": share}
        tried.append(compare_network("distilled network", raw, settings))
    return rows.best(tried)


def student_widths(n_features: int, n_numbers: int) -> list[list[int]]:
    """Layer widths to try, inputs and outputs included, of at most ``n_numbers`` weights and biases.

    >>> student_widths(3, 40), student_widths(3, 5)
    ([[3, 7, 1], [3, 5, 2, 1]], [[3, 1]])
    """
    check_count("n_numbers", n_numbers, 1 << 30)
    if n_numbers < n_features + 1:
        raise InputError(
            f"n_numbers={n_numbers}; a network of {n_features} inputs takes at least {n_features + 1}, "
            "a weight for each and a bias."
        )
    found = list(_widest(n_features, n_numbers))
    return found or [[n_features, 1]]


def _widest(n_features: int, n_numbers: int) -> Iterator[list[int]]:
    """The widest network of one hidden layer that fits, and of two with at least two units and one."""
    for smallest, shape in ((1, lambda width: [width]), (2, lambda width: [width, width // 2])):
        width = n_numbers // (n_features + 2) + 1  # each first unit takes d weights, a bias and a weight onwards
        while width >= smallest and Cost.of_mlp([n_features, *shape(width), 1]).parameters > n_numbers:
            width -= 1
        if width >= smallest:
            yield [n_features, *shape(width), 1]
