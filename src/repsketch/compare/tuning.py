"""The rule by which every peer is tuned, ours alike: many cheap fits, the best few again on all rows, judged by loss.

A kind of model says which settings it tries at a budget, which sizes fit, and how models of one size are fitted. What
was fitted once is not fitted again at another budget.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..train.search import SMALL_ROWS
from ..train.training_data import TrainingData
from .peer import Budgeted

N_ROUGH, N_THOROUGH = 36, 3  # settings tried on few rows, and of those on all
QUICK_ROUGH, QUICK_THOROUGH = 4, 1  # the same in seconds
LEAST_ROUGH, LEAST_THOROUGH = 1, 0  # the same where no time is left
ROUGH_ROWS = 6_000
#: Shares of the teacher in what is learned that are tried; without a teacher there are as many penalties.
MIXTURES = {"classification": (0.5, 0.9, 0.0), "regression": (0.7, 0.4, 0.0)}

Settings = dict[str, Any]


class Kind(ABC):
    """One kind of model on one problem.

    Attributes
    ----------
    problem : what is learned
    is_distilled : a teacher's answers are learned with the labels
    largest : the largest budget that will be asked for, in bytes
    is_rough : few steps are enough, to compare settings
    step_share : of the usual steps of gradient descent that are taken
    """

    name: str

    def __init__(
        self,
        problem: TrainingData,
        *,
        seed: int,
        is_distilled: bool,
        largest: int,
        is_rough: bool,
        step_share: float = 1.0,
    ) -> None:
        if is_distilled and problem.answers is None:
            raise InputError("is_distilled=True, but the problem has no teacher's answers; pass them, or False.")
        self.problem, self.seed, self.is_distilled = problem, seed, is_distilled
        self.largest, self.is_rough, self.step_share = largest, is_rough, step_share
        self._fitted: dict[Hashable, Budgeted] = {}

    @cached_property
    def mixtures(self) -> tuple[float, ...]:
        """Shares of the teacher that are tried."""
        return MIXTURES[self.problem.task] if self.is_distilled else (0.0,)

    @abstractmethod
    def settings(self, nbytes: int) -> Iterable[Settings]:
        """Settings worth a try at this budget, at most ``N_ROUGH``."""

    @abstractmethod
    def shape(self, setting: Settings, nbytes: int) -> Hashable | None:
        """Sizes of the model that uses up the budget, or None where nothing of the kind is so small."""

    @abstractmethod
    def fit(self, shape: Any, settings: list[Settings]) -> list[Budgeted]:
        """Models of one shape, one for each of the settings."""

    def fit_again(self, model: Budgeted, setting: Settings, nbytes: int) -> Budgeted | None:
        """A chosen model on these rows; what the rows held out decided about it stays as it is."""
        shape = self.shape(setting, nbytes)
        return None if shape is None else self.fit(shape, [setting | self.decided(model)])[0]

    def decided(self, model: Budgeted) -> Settings:
        """What the rows held out decided about a model, beside its settings."""
        return {}

    def fit_all(self, settings: Iterable[Settings], nbytes: int) -> list[tuple[Settings, Budgeted]]:
        """A model for each of the settings that has one; those of one shape are fitted together."""
        keys = [(repr(setting), self.shape(setting, nbytes), setting) for setting in settings]
        keys = [key for key in keys if key[1] is not None]
        for shape in dict.fromkeys(shape for _, shape, _ in keys):
            missing = [key for key in keys if key[1] == shape and key[:2] not in self._fitted]
            if missing:
                models = self.fit(shape, [setting for _, _, setting in missing])
                self._fitted |= {key[:2]: model for key, model in zip(missing, models, strict=True)}
        return [(key[2], self._fitted[key[:2]]) for key in keys]


def tune_each(
    kind: type[Kind], problem: TrainingData, budgets: Iterable[int], **options: Any
) -> dict[int, Budgeted | None]:
    """The best model of a kind at every budget, or None where nothing of the kind is so small; options of ``tuned``."""
    return dict(tuned(kind, problem, budgets, **options))


def tuned(
    kind: type[Kind],
    problem: TrainingData,
    budgets: Iterable[int],
    *,
    seed: int = 0,
    is_distilled: bool = False,
    is_quick: bool = False,
    is_hurried: bool = False,
    step_share: float = 1.0,
) -> Iterator[tuple[int, Budgeted | None]]:
    """One budget after the other, rising, with its best model.

    What was fitted for one serves the others, and a model that is better than any larger one is taken again. A quick
    tuning compares a few settings, a hurried one takes one as it comes.
    """
    budgets = sorted(budgets)
    few = problem.subset(ROUGH_ROWS, seed)
    options: dict[str, Any] = {"seed": seed, "is_distilled": is_distilled, "step_share": step_share}
    rough, thorough = (
        kind(rows, **options, largest=max(budgets), is_rough=is_rough)
        for rows, is_rough in ((few, True), (problem, False))
    )
    n_rough, n_thorough = (QUICK_ROUGH, QUICK_THOROUGH) if is_quick else (N_ROUGH, N_THOROUGH)
    if is_hurried:
        n_rough, n_thorough = LEAST_ROUGH, LEAST_THOROUGH
    best: Budgeted | None = None
    for nbytes in budgets:
        found = _best(rough, thorough, nbytes, n_rough, n_thorough)
        if found is not None and (best is None or found[0].loss < best.loss):
            best, setting, is_rough = found
            if len(problem.X) <= SMALL_ROWS and not (is_quick or is_hurried):
                everything = kind(problem.whole(), **options, largest=nbytes, is_rough=is_rough)
                again = everything.fit_again(best, setting, nbytes)
                if again is not None and again.loss <= best.loss:  # or the training failed: it has seen these rows
                    best = replace(again, loss=best.loss, n_tried=best.n_tried)
        yield nbytes, best


def _best(
    rough: Kind, thorough: Kind, nbytes: int, n_rough: int, n_thorough: int
) -> tuple[Budgeted, Settings, bool] | None:
    """The best model, its setting, and whether it was a rough one."""
    tried = rough.fit_all(spread_out(list(rough.settings(nbytes)), n_rough), nbytes)
    if not tried:
        return None
    order = np.argsort([model.loss for _, model in tried], kind="stable")
    again = thorough.fit_all([tried[place][0] for place in order[:n_thorough]], nbytes)
    found = [(*tried[order[0]], True), *((setting, model, False) for setting, model in again)]
    setting, model, is_rough = min(found, key=lambda entry: entry[1].loss)
    return replace(model, n_tried=len(tried)), setting, is_rough


def spread_out(settings: list[Settings], most: int) -> list[Settings]:
    """At most so many of the settings, from the first to the last; the middle one if it is one.

    >>> spread_out([{"rate": rate} for rate in range(9)], 3)
    [{'rate': 0}, {'rate': 4}, {'rate': 8}]
    """
    if most == 1:
        return settings[len(settings) // 2 :][:1]
    places = np.linspace(0, len(settings) - 1, min(most, len(settings)))
    return [settings[place] for place in np.rint(places).astype(int)]
