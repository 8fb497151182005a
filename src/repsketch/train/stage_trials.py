"""Models of stages within a budget: the shape that a recipe gives, its training, and its validation score."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock

import numpy as np

from ..data.arrays import BLOCK_ROWS
from ..errors import InputError
from ..model.inputs import Inputs
from ..model.model import Model
from .clock import OutOfTime, never
from .stage_assembly import assemble
from .stage_recipes import StageRecipe
from .stage_shape import Shape
from .stage_sizes import StageSizes
from .stage_work import WORK_PER_STEP, steps_for, work_of_step
from .stages import LabelledRows, Schedule, train
from .training_data import TrainingData
from .trials import Trial, model_outputs

_LOSSES = {"squared_error": "squared", "absolute_error": "absolute", "quantile": "quantile"}
_SEED_STEP = 7_919  # between the seeds of two restarts


class StageRows:
    """Training and validation rows as the trainer takes them, made once for each scaling and choice of columns.

    Threads may share it.
    """

    def __init__(self, data: TrainingData) -> None:
        self.data = data
        self._inputs: dict[tuple[str, int], Inputs] = {}
        self._found: dict[tuple[str, int], tuple[LabelledRows, LabelledRows]] = {}
        self._lock = RLock()

    def inputs(self, recipe: StageRecipe) -> Inputs:
        """How the columns become values."""
        with self._lock:
            key = self._key(recipe)
            if key not in self._inputs:
                self._inputs[key] = self.data.narrowed(key[1]).projected(recipe.scaling)
            return self._inputs[key]

    def scaled(self, recipe: StageRecipe) -> tuple[LabelledRows, LabelledRows]:
        """The training rows and the validation rows."""
        with self._lock:
            key = self._key(recipe)
            if key not in self._found:
                data, inputs = self.data, self.inputs(recipe)
                train_rows, validation_rows = (self._rows(inputs, k) for k in (data.train_rows, data.validation_rows))
                self._found[key] = train_rows, validation_rows
            return self._found[key]

    def _key(self, recipe: StageRecipe) -> tuple[str, int]:
        """Scaling and number of columns."""
        return recipe.scaling, max(1, round(recipe.columns * self.data.n_columns))

    def _rows(self, inputs: Inputs, rows: np.ndarray) -> LabelledRows:
        data = self.data
        soft_labels, weights = (None if each is None else each[rows] for each in (data.soft_labels, data.weights))
        values = np.empty((len(rows), inputs.n_values), np.int16)
        for start in range(0, len(rows), BLOCK_ROWS):
            values[start : start + BLOCK_ROWS] = inputs.values(data.X[rows[start : start + BLOCK_ROWS]]).T
        return LabelledRows(values, data.labels[rows], soft_labels, weights)


@dataclass(frozen=True, eq=False)
class StageTrials:
    """Models of one recipe."""

    rows: StageRows
    recipe: StageRecipe
    seed: int = 0
    count: type[StageSizes] = StageSizes  # of bytes

    @property
    def data(self) -> TrainingData:
        """The training data."""
        return self.rows.data

    @property
    def inputs(self) -> Inputs:
        """How the columns become values."""
        return self.rows.inputs(self.recipe)

    @property
    def sizes(self) -> StageSizes:
        """Sizes of models of this recipe."""
        data = self.data
        return self.count(self.recipe, self.inputs, data.n_outputs, data.task, bool(np.ptp(data.unit) == 0))

    def shape(self, budget: int) -> Shape | None:
        """The widest shape within the recipe's share of the budget, or None if none is so small."""
        return self.sizes.largest(budget)

    def work(self, shape: Shape) -> float:
        """Work of a step."""
        return work_of_step(shape, self.inputs.n_values, self.data.n_outputs, len(self.data.train_rows))

    def n_steps(self, shape: Shape, n_steps: int, work_per_step: float = WORK_PER_STEP) -> int:
        """Steps to train for, of ``n_steps`` for a small model."""
        return steps_for(n_steps, self.work(shape), work_per_step, len(self.data.train_rows))

    def trained(self, shape: Shape, n_steps: int, is_late: Callable[[], bool] = never) -> Model:
        """A model of this shape, trained; raises ``OutOfTime`` once ``is_late``."""
        data, recipe = self.data, self.recipe

        def check_time(n_steps: int) -> None:
            if is_late():
                raise OutOfTime

        loss = _LOSSES.get(data.loss, "logistic" if data.n_outputs == 1 else "softmax")
        mixture = 0.0 if data.soft_labels is None else recipe.mixture
        train_rows, validation_rows = self.rows.scaled(recipe)
        found = train(
            train_rows, validation_rows if data.stops_early else train_rows, shape,
            Schedule(n_steps, recipe.learning_rate, recipe.weight_decay, recipe.noise, mixture),
            loss=loss, level=data.level, largest=self.inputs.largest, on_piece=check_time,
            seed=(self.seed + _SEED_STEP * recipe.restart) % 2**32,
        )  # fmt: skip
        return assemble(found, self.inputs, data.unit, data.middle, task=data.task, classes=data.classes)

    def trial(self, model: Model, shape: Shape, n_steps: int) -> Trial:
        """A trained model with its validation losses."""
        data = self.data
        losses = data.validation_losses(model_outputs(model, data, data.validation_rows))
        if not np.isfinite(losses).all():
            raise InputError("the training diverged.")
        return Trial(f"{self.recipe}, widths {shape.widths}, {n_steps} steps", losses, model, n_steps=n_steps)
