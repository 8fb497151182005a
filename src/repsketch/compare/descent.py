"""Kinds of models that are trained by gradient descent on features of the columns."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np

from .features import Features
from .peer import Budgeted, held_loss
from .stack import ROUGH_STEPS, THOROUGH_STEPS, Parameters, Stack, TrainingRows, train_stack
from .tuning import Kind, Settings

#: What is kept, and values (n, D) -> outputs (n, C).
OutputsOf = Callable[[Mapping[str, np.ndarray], np.ndarray], np.ndarray]


class Descended(Kind):
    """A kind of model that is trained by gradient descent on features."""

    @cached_property
    def features(self) -> Features:
        """How rows are read."""
        return Features.of(self.problem)

    @cached_property
    def lessons(self) -> tuple[TrainingRows, TrainingRows]:
        """The rows kept and those held out."""
        kept, held = (
            TrainingRows.of(self.problem, rows, self.features.values(self.problem.X[rows]))
            for rows in (self.problem.kept, self.problem.held)
        )
        return kept, held

    @property
    def n_steps(self) -> int:
        """Steps of a training."""
        return round(self.step_share * (ROUGH_STEPS if self.is_rough else THOROUGH_STEPS))

    def trained(
        self, stack: Stack, settings: list[Settings], lessons: tuple[TrainingRows, TrainingRows]
    ) -> Iterator[Parameters]:
        """The numbers of each member of a stack, trained."""
        numbers = train_stack(stack, *lessons, settings, self.n_steps, self.seed)
        for member in range(len(settings)):
            yield {name: value[member] for name, value in numbers.items()}

    def decided(self, model: Budgeted) -> Settings:
        """When the training stopped."""
        return {"stopped": model.settings["stopped"]}

    def model(self, stored: dict[str, np.ndarray], setting: Settings, outputs_of: OutputsOf) -> Budgeted:
        """A model that computes outputs from what is kept and from features."""
        features, problem = self.features, self.problem
        everything = {**features.stored, **stored}

        def outputs(X: np.ndarray) -> np.ndarray:
            return outputs_of(everything, features.values(X))

        return Budgeted(self.name, outputs, everything, held_loss(problem, outputs(problem.X[problem.held])), setting)
