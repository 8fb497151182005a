"""Local search over greedy recipes: neighbours of the best ones so far, until a cost is used up."""

from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import Any

from .choice import Fitted, by_loss
from .families import MAX_BIT_BYTES
from .fitter import Recipe
from .recipes import GreedyRecipe
from .trials import Trial


def local_search(
    starts: list[GreedyRecipe],
    near: Callable[[Any], Iterable[Any]],
    fit: Callable[[Any], Trial | None],
    leaders: Callable[[Fitted], list[Any]],
    cost: Callable[[Any], float],
    max_cost: float,
) -> Fitted:
    """Trials on the way from ``starts`` to neighbours of the best recipe so far, by rising validation loss.

    Parameters
    ----------
    near : the neighbours of a recipe
    leaders : of the trials so far, the recipes whose neighbours are tried next, in turns
    cost, max_cost : no further fit is made once all fits together cost ``max_cost``
    """
    seen: dict[Recipe, Trial | None] = {recipe: fit(recipe) for recipe in starts}
    for turn in count():
        found = by_loss(seen.items())
        if not found or sum(cost(recipe) for recipe, _ in found) >= max_cost:
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


def cost_of(recipe: GreedyRecipe, budget: int) -> float:
    """About how long a fit in the local search takes, in thirds of a second.

    >>> [cost_of(GreedyRecipe(family, 0.5), 4096) for family in ("thresholds", "bits")]
    [3.0, 8.0]
    """
    if recipe.family == "bits":
        return min(max(2.0, budget / 512), MAX_BIT_BYTES / 512)
    return min(max(1.0, budget / 1024), 3.0)
