"""How much work a search does, as data: one fit of a recipe, and all the fits of a search."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from .families import MAX_BIT_BYTES
from .recipes import FEW_TRAIN_ROWS, N_FIRST, N_FIRST_OF_FEW
from .trials import MAX_ROWS, PATIENCE, Refit

ALL = 1 << 40  # rows of data: no limit
MIN_STEP_SHARE = 1 / 8
#: Up to this many rows of data, the chosen sketch and the chosen peers are trained again on all rows.
MAX_RETRAINED_ROWS = 20_000


@dataclass(frozen=True)
class FitEffort:
    """How much work goes into one fit of a recipe.

    Attributes
    ----------
    n_rows : training rows that greedy rows are chosen on
    n_interpolated_rows : training rows for interpolated rows
    n_steps : steps of gradient descent for interpolated rows
    refits : refits of greedy rows to try
    shares : shares of the greedy rows to try
    max_rows : greedy rows, at most
    patience : greedy rows without a gain in validation loss before growing stops
    max_bit_bytes : bytes of rows over seeded bits, at most
    """

    n_rows: int
    n_interpolated_rows: int
    n_steps: int
    refits: tuple[Refit, ...]
    shares: tuple[float, ...] = (1.0,)
    max_rows: int = MAX_ROWS
    patience: int = PATIENCE
    max_bit_bytes: int = MAX_BIT_BYTES


SCREENING = FitEffort(8_000, 20_000, 800, (Refit(10.0),))
LOCAL_SEARCH = FitEffort(10_000, 40_000, 1_200, (Refit(3.0), Refit(30.0, True), Refit(1_000.0, True)))
FINAL = FitEffort(
    ALL, ALL, 4_000, (Refit(1.0), Refit(3.0), Refit(30.0), Refit(30.0, True), Refit(300.0, True), Refit(3_000.0, True))
)


@dataclass(frozen=True)
class SearchEffort:
    """How much work goes into a search.

    Attributes
    ----------
    screening, local_search, final : effort of a fit in each of the three phases
    n_first : numbers of components that are screened
    few_rows, n_first_of_few : below ``few_rows`` training rows, ``n_first_of_few`` of them are screened: so few
        validation rows cannot tell more apart
    n_starts : recipes that the local search starts from
    max_cost : cost of the local search, in units of ``cost_of``; 48 take about twenty seconds
    full_rows : training rows from which the local search spends all of ``max_cost``
    full_step_rows : training rows from which every fit takes all its steps of gradient descent
    n_final : recipes that are fitted again in the end
    max_retrained_rows : up to this many rows, the chosen recipe is trained again on training and validation rows
    rows_per_second : training rows, at most, for every second of a time limit
    """

    screening: FitEffort = SCREENING
    local_search: FitEffort = LOCAL_SEARCH
    final: FitEffort = FINAL
    n_first: int = N_FIRST
    few_rows: int = FEW_TRAIN_ROWS
    n_first_of_few: int = N_FIRST_OF_FEW
    n_starts: int = 3
    max_cost: float = 48.0
    full_rows: int = 3_000
    full_step_rows: int = 1_000
    n_final: int = 2
    max_retrained_rows: int = MAX_RETRAINED_ROWS
    rows_per_second: int = 20_000

    def with_fits(self, change: Callable[[FitEffort], FitEffort]) -> "SearchEffort":
        """The same effort with the fits of all three phases changed."""
        return replace(
            self,
            screening=change(self.screening),
            local_search=change(self.local_search),
            final=change(self.final),
        )

    def for_rows(self, n_rows: int) -> "SearchEffort":
        """The same effort with fewer steps of gradient descent where there are few training rows.

        >>> SearchEffort().for_rows(500).final.n_steps
        2000
        """
        share = min(1.0, max(MIN_STEP_SHARE, n_rows / self.full_step_rows))
        return self.with_fits(lambda effort: replace(effort, n_steps=max(1, round(share * effort.n_steps))))


NORMAL = SearchEffort()
