"""Local search over greedy recipes: neighbours of the best ones so far, until a cost is used up."""

from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import Any

from .choice import Fitted, by_loss
from .fitter import Recipe
from .recipes import GreedyRecipe
from .trials import Trial


def local_search(
    starts: list[GreedyRecipe],
    near: Callable[[Any], Iterable[Any]],
    fit: Callable[[Any], Trial | None],
    leaders: Callable[[Fitted], list[Any]],
    cost: float,
    max_cost: float,
) -> Fitted:
    """Trials on the way from ``starts`` to neighbours of the best recipe so far, by rising validation loss.

    Parameters
    ----------
    near : the neighbours of a recipe
    leaders : of the trials so far, the recipes whose neighbours are tried next, in turns
    cost : of a fit; no further one is made once all fits together cost ``max_cost``
    """
    seen: dict[Recipe, Trial | None] = {recipe: fit(recipe) for recipe in starts}
    for turn in count():
        found = by_loss(seen.items())
        if not found or cost * len(found) >= max_cost:
            break
        leading = leaders(found)
        leader = leading[turn % len(leading)]
        same_family_first = sorted((recipe for recipe, _ in found), key=lambda recipe: recipe.family != leader.family)
        sources = [leader, *same_family_first]
        unseen = (recipe for recipe in chain.from_iterable(map(near, sources)) if recipe not in seen)
        if (recipe := next(unseen, None)) is None:
            break
        seen[recipe] = fit(recipe)
    return found


def cost_of(budget: int) -> float:
    """About how long a fit in the local search takes, in thirds of a second.

    >>> [cost_of(budget) for budget in (512, 2048, 65536)]
    [1.0, 2.0, 3.0]
    """
    return min(max(1.0, budget / 1024), 3.0)
