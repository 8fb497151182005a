"""Sketches against peers at equal bytes: mean differences over seeds, with paired standard errors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from .settings import BUDGETS, OURS

Results = dict[str, dict[str, Any]]


def two_standard_errors(numbers: Sequence[float]) -> float:
    """Twice the standard error of the mean; 0 of a single number.

    >>> two_standard_errors([1.0, 3.0])
    2.0
    """
    return 2.0 * stdev(numbers) / len(numbers) ** 0.5 if len(numbers) > 1 else 0.0


@dataclass(frozen=True)
class Cell:
    """One dataset at one budget: ours against a peer.

    Attributes
    ----------
    differences : our score less the peer's, by seed; positive is better
    """

    dataset: str
    budget: int
    peer: str
    ours: float
    theirs: float
    differences: tuple[float, ...]

    @property
    def lead(self) -> float:
        """Mean over seeds."""
        return mean(self.differences)

    @property
    def noise(self) -> float:
        """Two standard errors of the seeds' differences; 0 for a single seed, which says nothing about noise."""
        return two_standard_errors(self.differences)

    @property
    def outcome(self) -> str:
        """What it is for ours: "win", "tie" within the noise, or "loss".

        >>> Cell("a9a", 256, "linear", 0.5, 0.5, (0.1, 0.2, 0.1)).outcome
        'win'
        >>> Cell("a9a", 256, "linear", 0.5, 0.5, (0.1, -0.1)).outcome
        'tie'
        """
        if abs(self.lead) <= self.noise or self.lead == 0:
            return "tie"
        return "win" if self.lead > 0 else "loss"


def budgets_of(results: Results) -> list[int]:
    """Budgets that there are results for, rising."""
    found = {int(budget) for result in results.values() for method, seeds in result["found"].items()
             if method != "teacher" for entries in seeds.values() for budget in entries}  # fmt: skip
    return sorted(found) or list(BUDGETS)


def peers_of(results: Results) -> list[str]:
    """Methods that ours is compared with."""
    return list(dict.fromkeys(m for result in results.values() for m in result["found"] if m not in ("teacher", OURS)))


def scores_of(result: dict[str, Any], method: str, budget: int) -> dict[str, float]:
    """Test scores by seed."""
    seeds = result["found"].get(method, {})
    entries = {seed: found.get(str(budget), {}) for seed, found in seeds.items()}
    return {seed: float(entry["score"]) for seed, entry in entries.items() if "score" in entry}


def compare(name: str, result: dict[str, Any], peer: str, budget: int, our_budget: int | None = None) -> Cell | None:
    """Ours, at ``our_budget`` if that differs, against a peer; None where one has no model of all seeds' sizes."""
    sign = 1.0 if result["metric"] == "accuracy" else -1.0
    ours, theirs = scores_of(result, OURS, our_budget or budget), scores_of(result, peer, budget)
    seeds = [seed for seed in ours if seed in theirs]
    if not seeds:
        return None
    differences = tuple(sign * (ours[seed] - theirs[seed]) for seed in seeds)
    pairs = [(ours[seed], theirs[seed]) for seed in seeds]
    return Cell(name, budget, peer, mean(a for a, _ in pairs), mean(b for _, b in pairs), differences)


def against(results: Results, peer: str) -> Iterator[Cell]:
    """Ours against one peer, wherever both are."""
    for name, result in results.items():
        for budget in budgets_of(results):
            if (cell := compare(name, result, peer, budget)) is not None:
                yield cell


def against_best(results: Results, *, is_halved: bool = False) -> Iterator[Cell]:
    """Ours against the peer of the best mean test score, which is hindsight in favour of peers.

    With ``is_halved`` ours has the largest budget that is at most half the peer's.
    """
    budgets = budgets_of(results)
    for name, result in results.items():
        for budget in budgets:
            smaller = [other for other in budgets if 2 * other <= budget]
            if is_halved and not smaller:
                continue
            cells = (
                compare(name, result, peer, budget, smaller[-1] if is_halved else None) for peer in peers_of(results)
            )
            found = [cell for cell in cells if cell is not None]
            if found:
                yield min(found, key=lambda cell: (cell.lead, cell.peer))


def count(cells: Iterable[Cell]) -> dict[str, int]:
    """How many wins, ties and losses.

    >>> count([Cell("a9a", 256, "linear", 0.5, 0.5, (0.1,))])
    {'win': 1, 'tie': 0, 'loss': 0}
    """
    outcomes = [cell.outcome for cell in cells]
    return {outcome: outcomes.count(outcome) for outcome in ("win", "tie", "loss")}
