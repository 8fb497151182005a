"""Stage 1: learn the weighted kernel sum f_K that imitates a teacher.

Takes a teacher and inputs; hands on a ``KernelModel``. Paper: Section 3.4, *The Whole Recipe*. The
loss is the paper's, mean squared error against the teacher's output, plus a small multiple of the
squared norm of f_K.
"""

import os
from dataclasses import dataclass, replace
from itertools import chain
from math import ceil, cos, pi
from typing import Any

import numpy as np

from ..checks import check_choice, check_count, check_number
from ..core import KERNEL_LANES
from ..data.arrays import iterate_blocks
from ..lsh import Family, family_named
from ..lsh.family import check_family
from ..lsh.generator import MAX_CONCAT, MAX_FEATURES, resolve_seed
from ..parallel import Workers, n_threads
from ..progress import progress_bar
from .adam import Adam
from .batches import TrainingSet, collect
from .checkpoint import check_path, fingerprint, load_state, save_state
from .kernel_model import KERNELS, KernelModel, check_kernel, offers_as_hashed
from .student import Student

_SAMPLE_ROWS = 4_096  # rows that scale and initialise the student
_MAX_VALIDATION_ROWS = 8_192  # rows for early stopping
_STORED_ROWS = 512  # inputs stored with the model, to quantise its sketches by
_TARGET_STEPS = 2_000  # gradient steps if the number of epochs is not given
_MOST_THREADS = 8  # a batch has six chunks of queries, with the default numbers of rows and points
_STATE_VERSION = 2  # of checkpoints: another one means another way to compute


@dataclass(frozen=True)
class Schedule:
    """How long and how fast a distillation runs.

    The learning rate rises linearly over the first tenth of the steps, then falls along a cosine.
    Training stops early after ``patience`` epochs without a better validation loss.
    """

    n_epochs: int
    steps_per_epoch: int
    learning_rate: float
    patience: int

    def rate(self, step: int) -> float:
        """Learning rate at a step, counted over all epochs.

        >>> schedule = Schedule(n_epochs=1, steps_per_epoch=100, learning_rate=1.0, patience=1)
        >>> [round(schedule.rate(step), 2) for step in (0, 9, 55, 99)]
        [0.1, 1.0, 0.49, 0.0]
        """
        total = self.n_epochs * self.steps_per_epoch
        warm = max(1, total // 10)
        if step < warm:
            return self.learning_rate * (step + 1) / warm
        return self.learning_rate * 0.5 * (1.0 + cos(pi * (step + 1 - warm) / (total - warm + 1)))


def distill(
    model: Any,
    X: Any,
    *,
    n_points: int = 256,
    n_components: int = 8,
    family: str | Family = "l2",
    n_concat: int = 1,
    kernel: str = "auto",
    n_directions: int = 256,
    linear: bool = False,
    norm_penalty: float = 2e-3,
    task: str | None = None,
    classes: Any = None,
    n_epochs: int | None = None,
    batch_size: int = 512,
    learning_rate: float = 0.01,
    validation_fraction: float = 0.1,
    checkpoint: str | os.PathLike | None = None,
    random_state: Any = 0,
    progress: bool = True,
) -> KernelModel:
    """The kernel model f_K that imitates ``model`` on data like ``X``.

    Parameters
    ----------
    model : a torch module, fitted scikit-learn / LightGBM / XGBoost estimator or Pipeline, path of an
        .onnx file, any callable X -> outputs, or the ``TeacherOutputs`` of an earlier labelling
    X : array, scipy sparse matrix or numeric frame of shape (n, d); or a stream of such batches (an
        iterable, or a function returning one), which may be larger than memory
    n_points : points, M
    n_components : coordinates after the projection, p
    family : "l2", "angular", "l1", "minhash", or a family whose bandwidth the training starts from.
        MinHash takes sets (non-zero = member): its points are rows of X, only their weights are learned
    n_concat : codes a row, K
    kernel : "as_hashed" trains with the directions the sketch will use, "closed_form" with the
        textbook kernel; "auto" takes the first for L2 with ternary directions (erratum 3)
    n_directions : rows of directions averaged for "as_hashed", rounded up to a multiple of 16; the number
        of rows of the sketch to be built is best, and slowest
    linear : add a linear term on the projected input
    norm_penalty : weight of the squared norm of f_K in the loss, in units of the outputs' variance.
        About 1 / (L (R - 1)) of the sketch to be built is right: it is the variance that its fold adds
    task, classes : of the teacher, where they cannot be inferred
    n_epochs : passes over the data at most; None aims at 2,000 steps, within 10 to 100 epochs
    checkpoint : file that stores the state after each epoch; a stopped run that is started again with
        the same arguments resumes from it and gives the same bytes
    random_state : seed of everything random, including the directions. The same seed gives the same model for any
        number of threads; on another processor its last bits may differ, for a BLAS sums in another order there

    Returns
    -------
    KernelModel

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> f_K = distill(lambda X: np.sin(X[:, 0]), X, n_points=32, n_components=2, n_epochs=20)
    >>> f_K.outputs(X).shape
    (500, 1)
    """
    seed = resolve_seed(random_state)
    check_count("n_points", n_points, MAX_FEATURES)
    check_count("n_components", n_components, MAX_FEATURES)
    check_count("n_concat", n_concat, MAX_CONCAT)
    check_count("n_directions", n_directions, 65_536)
    check_count("batch_size", batch_size, MAX_FEATURES)
    if n_epochs is not None:
        check_count("n_epochs", n_epochs, 1_000_000)
    check_number("validation_fraction", validation_fraction, 0.0, 1.0, open_ends=True)
    check_number("learning_rate", learning_rate, 0.0, open_ends=True)
    check_number("norm_penalty", norm_penalty, 0.0)
    if checkpoint is not None:
        check_path(checkpoint)
    chosen = family_named(family)() if isinstance(family, str) else check_family(family)
    kernel = _choose_kernel(kernel, chosen, n_concat)
    settings: dict[str, Any] = dict(  # noqa: C408 - keyword arguments of Student.start
        family=chosen,
        keep_bandwidth=not isinstance(family, str),
        kernel=kernel,
        n_directions=-(-n_directions // KERNEL_LANES) * KERNEL_LANES,
        n_concat=n_concat,
        n_points=n_points,
        n_components=n_components,
        linear=linear,
        seed=seed,
    )
    data = collect(model, X, task, classes, progress=progress)
    try:
        with Workers(n_threads(_MOST_THREADS)) as workers:
            targets = data.labels.values
            training, validation = _split(len(targets), validation_fraction, seed)
            sample = np.sort(training[:_SAMPLE_ROWS])
            inputs = data.rows(sample)
            student = Student.start(inputs, targets[sample], **settings, workers=workers)
            steps = ceil(len(training) / batch_size)
            if n_epochs is None:
                n_epochs = min(100, max(10, ceil(_TARGET_STEPS / steps)))
            schedule = Schedule(n_epochs, steps, learning_rate, patience=max(5, n_epochs // 4))
            key = ""
            if checkpoint is not None:
                values = (_STATE_VERSION, settings, schedule, batch_size, norm_penalty, targets, training, validation)
                key = fingerprint(chain(values, (block for _, block in iterate_blocks(data.X))))
            run = _Run(student, data, training, validation, schedule, batch_size, norm_penalty, checkpoint, key)
            best = run.train(progress=progress)
        model = student.finish(best, data.labels.task, data.labels.classes)
        return replace(model, sample=inputs[:: -(-len(inputs) // _STORED_ROWS)])
    finally:
        data.close()


def _choose_kernel(kernel: str, family: Family, n_concat: int) -> str:
    if check_choice("kernel", kernel, ("auto", *KERNELS)) != "auto":
        return check_kernel(kernel, family, n_concat)
    return "as_hashed" if family.has_ternary_directions and offers_as_hashed(family, n_concat) else "closed_form"


def _split(n: int, validation_fraction: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Shuffled rows for training and for validation; a tiny set validates on its training rows."""
    order = np.random.default_rng([seed, 1]).permutation(n)
    n_validation = min(int(n * validation_fraction), _MAX_VALIDATION_ROWS)
    if n_validation < 5:
        return order, order
    return order[n_validation:], order[:n_validation]


@dataclass
class _Run:
    """One distillation: gradient descent on the student, with early stopping and checkpoints."""

    student: Student
    data: TrainingSet
    training: np.ndarray
    validation: np.ndarray
    schedule: Schedule
    batch_size: int
    norm_penalty: float
    checkpoint: str | os.PathLike | None
    key: str

    def train(self, *, progress: bool) -> dict[str, np.ndarray]:
        """The parameters with the smallest validation error."""
        parameters, schedule = self.student.parameters, self.schedule
        optimizer = Adam(self.student.trained)
        validation = self._fetch(np.sort(self.validation))
        best = _copy(parameters)
        numbers = {"epoch": 0.0, "loss": _loss(self.student, *validation, self.norm_penalty), "waited": 0.0}
        if self.checkpoint is not None:
            saved = load_state(self.checkpoint, self.key, parameters, optimizer)
            best, numbers = saved or (best, numbers)
        with progress_bar("distilling", total=schedule.n_epochs, enabled=progress) as bar:
            bar.advance(numbers["epoch"])
            while numbers["epoch"] < schedule.n_epochs and numbers["waited"] < schedule.patience:
                self._pass_over(int(numbers["epoch"]), optimizer)
                loss = _loss(self.student, *validation, self.norm_penalty)
                numbers["epoch"] += 1
                numbers["waited"] += 1
                if loss < numbers["loss"]:
                    numbers.update(loss=loss, waited=0.0)
                    best = _copy(parameters)
                if self.checkpoint is not None:
                    save_state(self.checkpoint, self.key, parameters, optimizer, best, numbers)
                bar.advance(note=f"validation loss {numbers['loss']:.4f} of variance")
        return best

    def _pass_over(self, epoch: int, optimizer: Adam) -> None:
        """One epoch; its order depends on the seed and the epoch only, so that a resumed run repeats it."""
        order = np.random.default_rng([self.student.seed, 2, epoch]).permutation(self.training)
        for step, start in enumerate(range(0, len(order), self.batch_size)):
            X, wanted = self._fetch(np.sort(order[start : start + self.batch_size]))
            gradients = self.student.gradients(X, wanted, self.norm_penalty)
            optimizer.step(gradients, self.schedule.rate(epoch * self.schedule.steps_per_epoch + step))

    def _fetch(self, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Standardised inputs and targets of the rows named by ``index``."""
        X = self.student.inputs.apply(self.data.rows(index))
        return X, self.student.standardise(self.data.labels.values[index])


def _copy(parameters: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: value.copy() for name, value in parameters.items()}


def _loss(student: Student, X: np.ndarray, wanted: np.ndarray, norm_penalty: float) -> float:
    """The training loss, in units of the outputs' variance: mean squared error and the norm's penalty.

    Early stopping by the error alone would prefer models of large norm that fit a little better, but whose sketches are
    noise.
    """
    total, norm = 0.0, 0.0
    for start in range(0, len(X), 2_048):
        found = student(X[start : start + 2_048])
        total += float(np.square(found.outputs - wanted[start : start + 2_048]).sum())
        norm = found.norm
    return total / wanted.size + norm_penalty * norm
