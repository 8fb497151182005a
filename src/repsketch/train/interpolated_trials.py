"""Interpolated rows within a budget: the shape that fits, its training, and its score on the validation rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ..model.inputs import Inputs
from ..model.model import Model
from .clock import OutOfTime, never
from .interpolated import Shape, Student, assemble, train_interpolated
from .recipes import Recipe
from .training_data import TrainingData
from .trials import Trial, model_outputs

MAX_ROWS_PER_COMPONENT = 4
MAX_COMPONENTS_PER_VALUE = 8


@dataclass(frozen=True, eq=False)
class InterpolatedTrials:
    """Rows interpolated between counters, trained by one recipe."""

    data: TrainingData
    recipe: Recipe
    n_steps: int = 4_000
    seed: int = 0

    @cached_property
    def inputs(self) -> Inputs:
        """How the columns become values."""
        return self.data.projected(self.recipe.scaling)

    @property
    def is_factored(self) -> bool:
        """True if every row has one counter a level and a decode vector: smaller from three outputs on."""
        return self.data.n_outputs > 2

    @property
    def has_linear(self) -> bool:
        """True if the model has a linear term: unless it takes more bytes than the projection."""
        return self.data.n_outputs <= self.inputs.n_values

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a model of this shape."""
        return self._model(Student.blank(shape, self.inputs.n_values, self.data.n_outputs)).nbytes

    def shape(self, budget: int) -> Shape | None:
        """The shape with the most rows within the budget, and ``MAX_ROWS_PER_COMPONENT`` a component; or None."""
        p = self.recipe.n_components
        if p > MAX_COMPONENTS_PER_VALUE * self.inputs.n_values:
            return None
        some = Shape(p, p, self.recipe.n_levels, self.is_factored, self.recipe.projection_type, self.has_linear)
        fixed, one = (self.nbytes(replace(some, n_rows=n)) for n in (p, p + 1))
        if fixed > budget:
            return None
        n_rows = min(p + (budget - fixed) // max(1, one - fixed), MAX_ROWS_PER_COMPONENT * p)
        return replace(some, n_rows=n_rows)

    def _model(self, student: Student) -> Model:
        data = self.data
        return assemble(student, self.inputs, data.unit, data.middle, task=data.task, classes=data.classes)

    def trained(self, shape: Shape, is_late: Callable[[], bool] = never) -> Model:
        """A model of this shape, trained; raises ``OutOfTime`` once ``is_late``."""
        data, recipe = self.data, self.recipe
        train, validation = (
            data.training_rows(self.inputs, rows, recipe.mixture) for rows in (data.train_rows, data.validation_rows)
        )
        student = train_interpolated(
            train, validation, shape,
            n_steps=self.n_steps, learning_rate=recipe.learning_rate, noise=recipe.noise,
            weight_decay=recipe.weight_decay, start=recipe.start, seed=self.seed, on_step=partial(_check_time, is_late),
        )  # fmt: skip
        return self._model(student)

    def trial(self, model: Model, shape: Shape) -> Trial:
        """A trained model of this shape with its validation losses."""
        data = self.data
        name = f"interpolated p={shape.n_components} L={shape.n_rows} R={shape.n_levels}"
        name = f"{name} {shape.projection_type} {self.recipe.scaling}"
        losses = data.validation_losses(model_outputs(model, data, data.validation_rows))
        return Trial(name, losses, model, n_steps=self.n_steps)


def _check_time(is_late: Callable[[], bool]) -> None:
    if is_late():
        raise OutOfTime
