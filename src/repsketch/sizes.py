"""Searches at one size or at several over the same training data, and the sketch that users hold.

Takes what ``prepare`` made; hands on the model that was found at each size, and the ``CompiledSketch`` of a model.
"""

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .compare.comparison import Comparison
from .model.intervals import Intervals
from .model.model import Model
from .preparation import Prepared
from .runtime import runtime_for
from .sketch import CompiledSketch
from .train.clock import Clock

if TYPE_CHECKING:
    from .train.search import Outcome
    from .train.trials import Trial

SEARCH_SHARE = 0.75  # of the remaining time limit; the rest is for the comparison
logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Found:
    """The model that a search has chosen.

    Attributes
    ----------
    budget : bytes of the search, at most
    trial : the model
    score : its score on the validation rows, as ``summary`` shows it
    """

    budget: int
    trial: "Trial"
    score: float

    @property
    def nbytes(self) -> int:
        """Bytes of the deployed model."""
        return self.trial.model.nbytes

    def is_better(self, other: "Found", sign: float) -> bool:
        """True if the score is better, or the same with a smaller loss; ``sign`` is that of the metric."""
        return (sign * self.score, -self.trial.loss) > (sign * other.score, -other.trial.loss)


class Searches:
    """Searches at several sizes, which share the data, the time limit and the searches at smaller sizes."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._outcomes: dict[int, Outcome | None] = {}
        left = prepared.clock.seconds_left
        self.clock = Clock(None if left == float("inf") else max(SEARCH_SHARE * left, 1e-3))

    def at(self, budget: int, n_left: int = 1) -> Found:
        """The model that a search within ``budget`` chooses; ``n_left`` searches share the time that is left."""
        from .compare.scores import score_of
        from .train.search import search

        prepared, left = self.prepared, self.clock.seconds_left
        data = prepared.data
        trial = search(
            data, budget, seed=prepared.seed, time_limit=None if left == float("inf") else max(left / n_left, 1e-3),
            progress=prepared.progress, effort=prepared.effort, title=f"searching {budget:,} bytes",
            outcomes=self._outcomes,
        )[0]  # fmt: skip
        logger.info("chosen: %s, %d bytes", trial.name, trial.model.nbytes)
        outputs = runtime_for(trial.fitted).outputs(data.X[data.validation_rows])
        return Found(budget, trial, score_of(data, outputs))


def teacher_score(prepared: Prepared) -> float | None:
    """The score of the teacher on the validation rows; None without a teacher.

    It is that of copies of the teacher which were not trained on these rows, where copies can be trained. Without
    labels of the user, the teacher's outputs are the labels, and its score is the best possible one.
    """
    from .compare.scores import as_outputs, score_of

    labels = prepared.teacher_labels
    return None if labels is None else score_of(prepared.data, as_outputs(prepared.data, labels))


def sketch_of(prepared: Prepared, trial: "Trial", summary: Comparison | None = None) -> CompiledSketch:
    """The sketch that users hold: with intervals, names of columns and labels, and its comparison if it has one."""
    targets, data, deployed = prepared.targets, prepared.data, trial.model
    if targets.task == "regression" and not data.trains_on_all:  # the fitted model has not seen the validation rows
        outputs = runtime_for(trial.fitted).outputs(prepared.columns.numbers[data.validation_rows])
        deployed = replace(deployed, intervals=Intervals.of(outputs, targets.labels[data.validation_rows]))
    return CompiledSketch(_with_names(deployed, prepared), summary=summary)


def _with_names(deployed: Model, prepared: Prepared) -> Model:
    columns, unused = prepared.columns, prepared.unused
    used = range(deployed.n_features) if deployed.inputs.columns is None else deployed.inputs.columns.tolist()
    labels = tuple(columns.categories[place] for place in used if place in columns.categories and place not in unused)
    return replace(deployed, feature_names=columns.names, categories=labels or None)
