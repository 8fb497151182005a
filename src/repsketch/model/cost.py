"""The cost of one prediction of any model."""

from dataclasses import astuple

import numpy as np

from ..lsh import RowHashes
from ..lsh.pool import PooledRows
from ..theory import Cost
from ..theory.cost import fold_operations
from .model import Model
from .rows import RowGroup
from .stages import Stage


def cost_of_model(model: Model) -> Cost:
    """Operations of one prediction; a code that several rows share is computed once.

    The paper's formula counts two operations for each product of the projection, one addition for each coordinate of a
    code and one for each row; it is applied to all groups of rows. For the paper's sketch this is ``Cost.of_sketch``.
    """
    inputs, projection = model.inputs, model.matrix_projection
    products = 0 if projection is None or projection.matrix is None else projection.matrix.size
    shift = 0 if projection is None or projection.shift is None else projection.n_components
    linear = 0 if model.linear is None else model.linear.size
    adds: float = products + shift + linear + (0 if inputs.centers is None else inputs.n_numeric)
    multiplies: float = products + linear + (0 if inputs.scales is None else inputs.n_numeric)
    adds += model.n_outputs * max(0, len(model.row_groups) - 1)
    lookups, decodes, terms, sums = 0, 0, 0.0, 0
    others = _clamps_of(model)
    for group in model.row_groups:
        n_codes, group_terms, group_multiplies = _codes_of(group)
        values = group.n_rows * group.counters.shape[2]
        decode = 0 if group.decode is None else group.decode.size
        terms, sums, decodes = terms + group_terms, sums + values, decodes + decode
        lookups += values * (2 if group.interpolates else 1)
        adds += group_terms + n_codes + values * (3 if group.interpolates else 1) + decode
        multiplies += group_multiplies + (values if group.interpolates else 0) + decode + model.n_outputs
        is_universal = isinstance(group.hashes, RowHashes) and group.hashes.fold == "universal"
        others += n_codes + fold_operations(group.n_rows, group.hashes.n_concat, is_universal)
    own = Cost(
        parameters=products + shift + sum(group.counters.size for group in model.row_groups) + linear + decodes,
        paper_flops=2 * products + terms + sums,
        adds=adds,
        multiplies=multiplies,
        lookups=lookups,
        reads=products + shift + lookups + linear + decodes,
        others=others,
    )
    costs = (astuple(cost) for cost in (own, *map(_cost_of_stage, model.stages)))
    return Cost(*map(sum, zip(*costs, strict=True)))


def _cost_of_stage(stage: Stage) -> Cost:
    """Operations of one stage: a sparse matrix has products for its non-zeros alone.

    A coordinate takes a multiplier and a shift, is rounded (an addition and a shift) and clamped. A table takes two
    entries, five additions, a product, and seven shifts, clamps and comparisons; ReLU and clip round and clamp once
    more.
    """
    products, p = stage.n_nonzeros if stage.is_sparse else stage.matrix.size, stage.n_components
    linear = 0 if stage.linear is None else stage.linear.size
    n_read = 0 if stage.tables is None else 2 * p
    adds, multiplies, others = {"none": (0, 0, 0), "table": (5, 1, 7)}.get(stage.activation, (1, 0, 3))
    return Cost(
        parameters=products + 2 * p + (0 if stage.tables is None else stage.tables.size) + linear,
        paper_flops=2 * products,
        adds=products + (2 + adds) * p + linear,
        multiplies=products + (1 + multiplies) * p + linear,
        lookups=n_read,
        reads=products + 2 * p + n_read + linear,
        others=(3 + others) * p,
    )


def _clamps_of(model: Model) -> int:
    """Operations that round and clamp values, and shift and clamp coordinates."""
    n_boolean, n_components = model.inputs.n_columns - model.inputs.n_numeric, model.n_coordinates
    if not model.is_integer:
        return n_boolean + 2 * n_components
    return n_boolean + 3 * model.inputs.n_numeric + (0 if model.matrix_projection is None else 4 * n_components)


def _codes_of(group: RowGroup) -> tuple[int, float, float]:
    """Number of codes of a group of rows, and the additions and multiplications of coordinates behind them."""
    hashes = group.hashes
    n_codes = hashes.n_rows * hashes.n_concat
    if isinstance(hashes, PooledRows):
        pool, used = hashes.pool, np.arange(n_codes) if hashes.indices is None else np.unique(hashes.indices)
        if pool.kind == "ternary":
            return len(used), float(np.abs(pool.directions[used]).sum(dtype=np.int64)), 0
        return len(used), float(sum(len(pool.sparse_direction(int(code))) for code in used)), 0
    dense = not hashes.family.has_ternary_directions
    active = n_codes * hashes.n_features * (1.0 if dense else 1.0 / 3.0)
    return n_codes, active, (active if dense else 0) + (n_codes if hashes.fold == "universal" else 0)
