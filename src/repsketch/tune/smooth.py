"""Interpolated rows within a budget: which shapes are tried, and how they do on the rows held out."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..sketch import CompiledSketch, Form
from ..sketch.inputs import Inputs
from ..sketch.train.interpolated import Shape, Student, assemble, train_interpolated
from .problem import Problem
from .trials import Base, Trial

MOST_ROWS_A_COMPONENT = 4


@dataclass(frozen=True, eq=False)
class SmoothTrials:
    """Rows read between counters, trained end to end on columns read in one way."""

    problem: Problem
    mixture: float
    reading: str = "standard"
    n_steps: int = 4_000
    noise: float = 0.0
    projection_type: str = "int8"
    seed: int = 0

    @cached_property
    def inputs(self) -> Inputs:
        """How the columns are read."""
        return self.problem.projected(self.reading)

    @property
    def is_factored(self) -> bool:
        """One vector a row decodes it: worth it from three classes on."""
        return self.problem.n_outputs > 2

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a sketch of this shape."""
        lesson = self.problem.lesson(self.inputs, self.problem.kept[:64], self.mixture)
        return self._form(Student(lesson, shape, self.seed)).nbytes

    def shape(self, n_components: int, n_levels: int, budget: int) -> Shape | None:
        """The most rows over so many coordinates that fit the budget and are of use; None if no shape does."""
        p = n_components
        if p >= 2 * self.inputs.n_values and p > 1:
            return None
        some = Shape(p, p, n_levels, self.is_factored, self.projection_type)
        fixed, one = (self.nbytes(replace(some, n_rows=n)) for n in (p, p + 1))
        if fixed > budget:
            return None
        n_rows = min(p + (budget - fixed) // max(1, one - fixed), MOST_ROWS_A_COMPONENT * p)
        return replace(some, n_rows=n_rows)

    def _form(self, student: Student) -> Form:
        problem = self.problem
        return assemble(student, self.inputs, problem.unit, problem.middle, task=problem.task, classes=problem.classes)

    def base(self, shape: Shape) -> Base:
        """A sketch of this shape, trained, and its answers."""
        problem = self.problem
        kept, held = (problem.lesson(self.inputs, rows, self.mixture) for rows in (problem.kept, problem.held))
        form = self._form(train_interpolated(kept, held, shape, n_steps=self.n_steps, noise=self.noise, seed=self.seed))
        answers = (
            (CompiledSketch(form).outputs(problem.X[rows]).astype(np.float64) - problem.middle) / problem.unit
            for rows in (problem.kept, problem.held)
        )
        return Base(form, *answers)

    def trial(self, shape: Shape) -> Trial:
        """A sketch of this shape, trained and judged."""
        base = self.base(shape)
        name = f"interpolated p={shape.n_components} L={shape.n_rows} R={shape.n_levels}"
        name = f"{name} {shape.projection_type} {self.reading}"
        return Trial(name, self.problem.held_objective.loss(base.held), base.form)
