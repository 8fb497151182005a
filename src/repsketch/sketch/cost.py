"""What one prediction of any deployed form costs."""

import numpy as np

from ..lsh.pool import PooledRows
from ..theory import Cost
from .form import Form
from .part import Part


def cost_of_form(form: Form) -> Cost:
    """Operations of one prediction; codes that several rows name are computed once.

    The paper's formula counts two operations a projected product, an addition a coordinate of a code and
    one a row; it is applied to all parts.
    """
    matrix = None if form.projection is None else form.projection.matrix
    products = 0 if matrix is None else matrix.size
    has_scaler = form.inputs.centers is not None or form.inputs.scales is not None or form.is_whole
    scaled = form.inputs.n_numeric if has_scaler else 0
    linear = 0 if form.linear is None else form.linear.size
    adds, multiplies, lookups, terms, sums = scaled + products, scaled + products, 0, 0.0, 0
    if matrix is not None and form.projection is not None and form.projection.shift is not None:
        adds += form.projection.n_components
    for part in form.parts:
        part_terms, part_multiplies = _codes_of(part)
        values = part.n_rows * part.counters.shape[2]
        reads = values * (2 if part.interpolates else 1)
        decode = 0 if part.decode is None else part.decode.size
        terms += part_terms
        sums += values
        lookups += reads
        adds += part_terms + values * (3 if part.interpolates else 1) + decode + form.n_outputs
        multiplies += part_multiplies + (values if part.interpolates else 0) + decode + form.n_outputs
    decodes = sum(part.decode.size for part in form.parts if part.decode is not None)
    stored = products + sum(part.counters.size for part in form.parts) + linear + decodes
    return Cost(
        parameters=stored,
        paper_flops=2 * products + terms + sums,
        adds=adds + linear,
        multiplies=multiplies + linear,
        lookups=lookups,
        reads=products + lookups + linear + decodes,
    )


def _codes_of(part: Part) -> tuple[float, int]:
    """Additions and multiplications of all codes that the rows of a part name."""
    hashes = part.hashes
    n_codes = hashes.n_rows * hashes.n_concat
    if isinstance(hashes, PooledRows):
        used = np.arange(n_codes) if hashes.indices is None else np.unique(hashes.indices)
        return float(np.abs(hashes.pool.directions[used]).sum(dtype=np.int64) + len(used)), 0
    dense = getattr(hashes.family, "directions", "gaussian") != "ternary"
    active = n_codes * hashes.n_features * (1.0 if dense else 1.0 / 3.0)
    products = int(active) if dense else 0
    return active + n_codes, products + (n_codes if hashes.fold == "universal" else 0)
