"""Hyper-parameter tuning, by one rule for all peers: cheap fits of many settings, then final fits of the best few.

A method says which settings to try at a budget, which size fits it, and how models of one size are fitted. Models are
compared by validation loss. A fit made for one budget is used at the others.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..train.clock import never
from ..train.effort import MAX_RETRAINED_ROWS
from ..train.training_data import TrainingData
from .peer import PeerModel, validation_loss

N_SCREENED, N_FINAL = 36, 3  # settings fitted to few rows, and the best of them fitted to all training rows
QUICK_SCREENED, QUICK_FINAL = 4, 1  # of a quick tuning, in seconds
MIN_SCREENED, MIN_FINAL = 1, 0  # where no time is left
SCREENING_ROWS = 6_000
#: Weights of the soft labels to try; without a teacher, as many penalties are tried.
MIXTURES = {"classification": (0.5, 0.9, 0.0), "regression": (0.7, 0.4, 0.0)}

Settings = dict[str, Any]


class PeerMethod(ABC):
    """One kind of peer on one table.

    Attributes
    ----------
    data : the training data
    is_distilled : models are fitted to soft labels and labels, not to labels alone
    largest : the largest budget, in bytes
    is_screening : cheap fits, to compare settings
    step_share : share of the usual steps of gradient descent
    is_late : True once the time is over: fits are then cut short or given up
    """

    name: str

    def __init__(
        self,
        data: TrainingData,
        *,
        seed: int,
        is_distilled: bool,
        largest: int,
        is_screening: bool,
        step_share: float = 1.0,
        is_late: Callable[[], bool] = never,
    ) -> None:
        if is_distilled and data.soft_labels is None:
            raise InputError("is_distilled=True, but the data have no soft labels; pass them, or is_distilled=False.")
        self.data, self.seed, self.is_distilled = data, seed, is_distilled
        self.largest, self.is_screening, self.step_share = largest, is_screening, step_share
        self.is_late = is_late
        self._fitted: dict[Hashable, PeerModel | None] = {}

    @cached_property
    def mixtures(self) -> tuple[float, ...]:
        """Weights of the soft labels to try."""
        return MIXTURES[self.data.task] if self.is_distilled else (0.0,)

    @abstractmethod
    def settings(self, nbytes: int) -> Iterable[Settings]:
        """Settings to try at this budget, at most ``N_SCREENED``."""

    @abstractmethod
    def shape(self, setting: Settings, nbytes: int) -> Hashable | None:
        """Sizes of the largest model within the budget, or None if none is so small."""

    def few_settings(self, nbytes: int, n: int) -> list[Settings]:
        """At most ``n`` of the settings."""
        return evenly_spaced(list(self.settings(nbytes)), n)

    @abstractmethod
    def fit(self, shape: Any, settings: list[Settings]) -> Sequence[PeerModel | None]:
        """Models of one shape, one for each of the settings; None where the fit failed."""

    def fit_each(self, wanted: list[tuple[Any, Settings]]) -> Sequence[PeerModel | None]:
        """Models of these shapes and settings; those of one shape are fitted together."""
        found: dict[int, PeerModel | None] = {}
        for shape in dict.fromkeys(shape for shape, _ in wanted):
            places = [place for place, pair in enumerate(wanted) if pair[0] == shape]
            found |= zip(places, self.fit(shape, [wanted[place][1] for place in places]), strict=True)
        return [found[place] for place in range(len(wanted))]

    def fit_again(self, model: PeerModel, setting: Settings, nbytes: int) -> PeerModel | None:
        """The chosen model fitted to these data, with the settings that validation has chosen."""
        shape = self.shape(setting, nbytes)
        return None if shape is None else self.fit(shape, [setting | self.chosen_by_validation(model)])[0]

    def chosen_by_validation(self, model: PeerModel) -> Settings:
        """What validation has chosen beside the settings, such as the point of early stopping."""
        return {}

    def fit_all(self, settings: Iterable[Settings], nbytes: int) -> list[tuple[Settings, PeerModel]]:
        """A model for each setting that has a shape and whose fit did not fail."""
        keys = [(repr(setting), self.shape(setting, nbytes), setting) for setting in settings]
        keys = [key for key in keys if key[1] is not None]
        missing = [key for key in keys if key[:2] not in self._fitted]
        if missing:
            models = self.fit_each([key[1:] for key in missing])
            self._fitted |= {key[:2]: model for key, model in zip(missing, models, strict=True)}
        pairs = ((setting, self._fitted[key, shape]) for key, shape, setting in keys)
        found = [(setting, model) for setting, model in pairs if model is not None]
        if keys and not found and self.is_screening:
            raise InputError(f"every fit of {self.name} failed.")
        return found


def tune_each(
    kind: type[PeerMethod], data: TrainingData, budgets: Iterable[int], **options: Any
) -> dict[int, PeerModel | None]:
    """The best model of a kind at every budget, or None if none is so small; options as for ``tuned``."""
    return dict(tuned(kind, data, budgets, **options))


def tuned(
    kind: type[PeerMethod],
    data: TrainingData,
    budgets: Iterable[int],
    *,
    seed: int = 0,
    is_distilled: bool = False,
    is_quick: bool = False,
    is_hurried: bool = False,
    step_share: float = 1.0,
    is_late: Callable[[], bool] = never,
) -> Iterator[tuple[int, PeerModel | None]]:
    """Budgets in rising order, each with its best model.

    Fits are shared between budgets, and a model that is better than all larger ones is used again. A quick tuning
    compares few settings, a hurried one fits a single setting. Once ``is_late``, no further fits are begun.
    """
    budgets = sorted(budgets)
    few = data.subset(SCREENING_ROWS, seed)
    options: dict[str, Any] = {
        "seed": seed, "is_distilled": is_distilled, "step_share": step_share, "is_late": is_late,
    }  # fmt: skip
    screening, final = (
        kind(rows, **options, largest=max(budgets), is_screening=is_screening)
        for rows, is_screening in ((few, True), (data, False))
    )
    n_screened, n_final = (QUICK_SCREENED, QUICK_FINAL) if is_quick else (N_SCREENED, N_FINAL)
    if is_hurried:
        n_screened, n_final = MIN_SCREENED, MIN_FINAL
    best: PeerModel | None = None
    for nbytes in budgets:
        found = _best(screening, final, nbytes, n_screened, n_final)
        if found is not None and (best is None or found[0].loss < best.loss):
            best, setting, is_screening = found
            if len(data.X) <= MAX_RETRAINED_ROWS and not (is_quick or is_hurried):
                all_rows = data.on_all_rows()
                method = kind(all_rows, **options, largest=nbytes, is_screening=is_screening)
                again = method.fit_again(best, setting, nbytes)
                if again is not None and again.loss <= validation_loss(all_rows, best.outputs(data.X)):
                    best = replace(again, loss=best.loss, n_tried=best.n_tried)
        yield nbytes, best


def _best(
    screening: PeerMethod, final: PeerMethod, nbytes: int, n_screened: int, n_final: int
) -> tuple[PeerModel, Settings, bool] | None:
    """The best model, its setting, and whether it is a screening fit."""
    tried = screening.fit_all(screening.few_settings(nbytes, n_screened), nbytes)
    if not tried:
        return None
    order = np.argsort([model.loss for _, model in tried], kind="stable")
    n_final = 0 if final.is_late() else n_final
    again = final.fit_all([tried[place][0] for place in order[:n_final]], nbytes)
    found = [(*tried[order[0]], True), *((setting, model, False) for setting, model in again)]
    setting, model, is_screening = min(found, key=lambda entry: entry[1].loss)
    return replace(model, n_tried=len(tried)), setting, is_screening


def evenly_spaced(settings: list[Settings], n: int) -> list[Settings]:
    """At most ``n`` of the settings, evenly spaced from the first to the last; the middle one if ``n`` is 1.

    >>> evenly_spaced([{"rate": rate} for rate in range(9)], 3)
    [{'rate': 0}, {'rate': 4}, {'rate': 8}]
    """
    if n == 1:
        return settings[len(settings) // 2 :][:1]
    places = np.linspace(0, len(settings) - 1, min(n, len(settings)))
    return [settings[place] for place in np.rint(places).astype(int)]
