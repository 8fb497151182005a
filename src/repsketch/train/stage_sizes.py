"""From a recipe and a budget to a shape: the widest stages that fit, with as few entries pruned as the bytes allow."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..model.inputs import Inputs
from .stage_assembly import nbytes_of
from .stage_recipes import StageRecipe
from .stage_shape import NetworkHead, RowsHead, Shape, StageShape

MAX_WIDTH = 1_024  # of the first stage
TAPER = 0.7  # width of a stage over that of the one before
OFFSET_SHARE = 32  # offsets of three and more classes are stored where they take at most 1 in so many bytes
_N_SPARSITIES = 64  # between none and that of the recipe


@dataclass(frozen=True)
class StageSizes:
    """Sizes of models of one recipe.

    Attributes
    ----------
    inputs : how the columns become values
    n_outputs, task : of the model
    has_equal_units : all outputs have the same unit, so that a gain is one number
    """

    recipe: StageRecipe
    inputs: Inputs
    n_outputs: int
    task: str
    has_equal_units: bool = True

    def nbytes(self, shape: Shape) -> int:
        """Bytes of a model of this shape."""
        return nbytes_of(shape, self.inputs, self.n_outputs, self.task, has_equal_units=self.has_equal_units)

    def largest(self, budget: int) -> Shape | None:
        """The widest shape within the recipe's share of the budget, or None if none is so small.

        Bytes that are too few for another coordinate go to entries that would have been pruned.
        """
        recipe, limit = self.recipe, self.recipe.size * budget
        has_offset = self.n_outputs <= 2 or OFFSET_SHARE * 2 * self.n_outputs <= budget

        def fits(width: int, sparsity: float) -> bool:
            return self.nbytes(self.shape(width, sparsity, has_offset)) <= limit

        width = _largest(MAX_WIDTH, lambda width: fits(width, recipe.sparsity))
        if not width:
            return None
        n_dense = _largest(_N_SPARSITIES, lambda k: fits(width, recipe.sparsity * (1.0 - k / _N_SPARSITIES)))
        return self.shape(width, recipe.sparsity * (1.0 - n_dense / _N_SPARSITIES), has_offset)

    def shape(self, width: int, sparsity: float, has_offset: bool = True) -> Shape:
        """The shape whose first stage has this width."""
        recipe, n_outputs = self.recipe, self.n_outputs
        n_stages = recipe.n_hidden + (recipe.activation == "table")
        widths = [max(1, round(width * TAPER**k)) for k in range(n_stages)]
        bits = [recipe.first_bits, *[recipe.matrix_bits] * (n_stages - 1)]
        # A linear term that takes more bytes than the first matrix is not worth them.
        has_linear = n_outputs <= self.inputs.n_values
        plain = StageShape(
            width, recipe.activation, recipe.n_entries, sparsity=sparsity,
            has_linear=has_linear and recipe.activation == "table",
        )  # fmt: skip
        hidden = tuple(replace(plain, width=widths[k], matrix_bits=bits[k]) for k in range(recipe.n_hidden))
        if recipe.activation == "relu":
            return Shape(hidden, NetworkHead(), has_offset)
        head = RowsHead(widths[-1], recipe.n_entries, n_outputs > 2, has_linear, bits[-1], sparsity)
        return Shape(hidden, head, has_offset)


def _largest(high: int, fits: Callable[[int], bool]) -> int:
    """The largest integer up to ``high`` that fits, 0 if not even 1 does; what fits is 1 up to some number."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
