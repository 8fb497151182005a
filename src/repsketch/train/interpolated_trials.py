"""Interpolated rows within a budget: which shapes are tried, and how they do on the rows held out."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ..model.inputs import Inputs
from ..model.model import Model
from .clock import OutOfTime, never
from .interpolated import Shape, Student, assemble, train_interpolated
from .recipes import Recipe
from .training_data import TrainingData
from .trials import Trial, answers_of

MOST_ROWS_A_COMPONENT = 4
MOST_COMPONENTS_A_VALUE = 8


@dataclass(frozen=True, eq=False)
class SmoothTrials:
    """Rows read between counters, trained end to end by a recipe."""

    problem: TrainingData
    recipe: Recipe
    n_steps: int = 4_000
    seed: int = 0

    @cached_property
    def inputs(self) -> Inputs:
        """How the columns are read."""
        return self.problem.projected(self.recipe.reading)

    @property
    def is_factored(self) -> bool:
        """One vector a row decodes it: worth it from three classes on."""
        return self.problem.n_outputs > 2

    @property
    def has_linear(self) -> bool:
        """A linear term: not where it takes more bytes than the projection."""
        return self.problem.n_outputs <= self.inputs.n_values

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a sketch of this shape."""
        return self._model(Student.blank(shape, self.inputs.n_values, self.problem.n_outputs)).nbytes

    def shape(self, budget: int) -> Shape | None:
        """The most rows that fit the budget and are of use; None if no shape does."""
        p = self.recipe.n_components
        if p > MOST_COMPONENTS_A_VALUE * self.inputs.n_values:
            return None
        some = Shape(p, p, self.recipe.n_levels, self.is_factored, self.recipe.projection_type, self.has_linear)
        fixed, one = (self.nbytes(replace(some, n_rows=n)) for n in (p, p + 1))
        if fixed > budget:
            return None
        n_rows = min(p + (budget - fixed) // max(1, one - fixed), MOST_ROWS_A_COMPONENT * p)
        return replace(some, n_rows=n_rows)

    def _model(self, student: Student) -> Model:
        problem = self.problem
        return assemble(student, self.inputs, problem.unit, problem.middle, task=problem.task, classes=problem.classes)

    def trained(self, shape: Shape, is_late: Callable[[], bool] = never) -> Model:
        """A sketch of this shape; ``OutOfTime`` once it is late."""
        problem, recipe = self.problem, self.recipe
        kept, held = (problem.lesson(self.inputs, rows, recipe.mixture) for rows in (problem.kept, problem.held))
        student = train_interpolated(
            kept, held, shape,
            n_steps=self.n_steps, learning_rate=recipe.speed, noise=recipe.noise, decay=recipe.decay,
            start=recipe.start, seed=self.seed, on_step=partial(_check_time, is_late),
        )  # fmt: skip
        return self._model(student)

    def trial(self, model: Model, shape: Shape) -> Trial:
        """A trained sketch of this shape, judged."""
        problem = self.problem
        name = f"interpolated p={shape.n_components} L={shape.n_rows} R={shape.n_levels}"
        name = f"{name} {shape.projection_type} {self.recipe.reading}"
        losses = problem.held_objective.losses(answers_of(model, problem, problem.held))
        return Trial(name, losses, model, n_steps=self.n_steps)


def _check_time(is_late: Callable[[], bool]) -> None:
    if is_late():
        raise OutOfTime
