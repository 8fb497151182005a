"""Interpolated rows within a budget: which shapes are tried, and how they do on the rows held out."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..sketch import CompiledSketch, Form
from ..sketch.train.interpolated import Shape, Student, assemble, train_interpolated
from .problem import Problem
from .trials import Trial

COMPONENTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MOST_ROWS_A_COMPONENT = 4


@dataclass(frozen=True, eq=False)
class SmoothTrials:
    """Rows read between counters, trained end to end."""

    problem: Problem
    mixture: float
    n_levels: int = 8
    n_steps: int = 4_000
    seed: int = 0

    @property
    def is_factored(self) -> bool:
        """One vector a row decodes it: worth it from three classes on."""
        return self.problem.n_outputs > 2

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a sketch of this shape."""
        lesson = self.problem.lesson(self.problem.kept[:64], self.mixture)
        return self._form(Student(lesson, shape, self.seed)).nbytes

    def shapes(self, budget: int, n_shapes: int = 3) -> Iterator[Shape]:
        """Shapes that use up the budget, those of the most coordinates first."""
        found = 0
        for p in reversed(COMPONENTS):
            fixed, one = (self.nbytes(Shape(p, n, self.n_levels, self.is_factored)) for n in (p, p + 1))
            if fixed > budget:
                continue
            n_rows = min(p + (budget - fixed) // max(1, one - fixed), MOST_ROWS_A_COMPONENT * p)
            yield Shape(p, n_rows, self.n_levels, self.is_factored)
            found += 1
            if found == n_shapes:
                return

    def _form(self, student: Student) -> Form:
        problem = self.problem
        return assemble(
            student, problem.projected_inputs, problem.unit, problem.middle, task=problem.task, classes=problem.classes
        )

    def trial(self, shape: Shape) -> Trial:
        """A sketch of this shape, trained."""
        problem = self.problem
        kept, held = (problem.lesson(rows, self.mixture) for rows in (problem.kept, problem.held))
        student = train_interpolated(kept, held, shape, n_steps=self.n_steps, seed=self.seed)
        form = self._form(student)
        outputs = CompiledSketch(form).outputs(problem.X[problem.held]).astype(np.float64)
        loss = problem.held_objective.loss((outputs - problem.middle) / problem.unit)
        return Trial(f"interpolated p={shape.n_components} L={shape.n_rows} R={shape.n_levels}", loss, form)
