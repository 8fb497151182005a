"""Peers that are trained by gradient descent on features of the columns."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np

from repsketch.compare.features import Features
from repsketch.compare.peer import PeerModel, validation_loss
from repsketch.compare.tuning import PeerMethod, Settings

from .stack import FINAL_STEPS, SCREENING_STEPS, Parameters, Stack, TrainingRows, train_stack

#: Stored arrays and values (n, D) -> outputs (n, C).
OutputsOf = Callable[[Mapping[str, np.ndarray], np.ndarray], np.ndarray]


class GradientTrained(PeerMethod):
    """A peer that is trained by gradient descent on features."""

    @cached_property
    def features(self) -> Features:
        """How rows become features."""
        return Features.of(self.data)

    @cached_property
    def row_sets(self) -> tuple[TrainingRows, TrainingRows]:
        """The training and the validation rows."""
        train, validation = (
            TrainingRows.of(self.data, rows, self.features.values(self.data.X[rows]))
            for rows in (self.data.train_rows, self.data.validation_rows)
        )
        return train, validation

    @property
    def n_steps(self) -> int:
        """Steps of gradient descent."""
        return round(self.step_share * (SCREENING_STEPS if self.is_screening else FINAL_STEPS))

    def trained(
        self, stack: Stack, settings: list[Settings], row_sets: tuple[TrainingRows, TrainingRows]
    ) -> Iterator[Parameters]:
        """The trained parameters of each member of a stack."""
        numbers = train_stack(stack, *row_sets, settings, self.n_steps, self.seed)
        for member in range(len(settings)):
            yield {name: value[member] for name, value in numbers.items()}

    def chosen_by_validation(self, model: PeerModel) -> Settings:
        """Where early stopping ended the training."""
        return {"stopped": model.settings["stopped"]}

    def model(self, stored: dict[str, np.ndarray], setting: Settings, outputs_of: OutputsOf) -> PeerModel:
        """A model that computes outputs from stored arrays and features."""
        features, data = self.features, self.data
        arrays = {**features.stored, **stored}

        def outputs(X: np.ndarray) -> np.ndarray:
            return outputs_of(arrays, features.values(X))

        return PeerModel(
            self.name, outputs, arrays, validation_loss(data, outputs(data.X[data.validation_rows])), setting
        )
