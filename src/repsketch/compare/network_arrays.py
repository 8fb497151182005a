"""The arrays that an int8 network stores, and the same network from these arrays."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ..model.inputs import Inputs
from ..model.model import Model
from ..model.numbers import decode_bfloat16, encode_floats
from ..model.stages import Stages
from ..train.training_data import TrainingData
from .peer import stored_offset

Arrays = dict[str, np.ndarray]
#: A matrix (n, p) int8 -> the arrays it is stored in; and back, from these arrays and its shape.
Pack = Callable[[np.ndarray], Mapping[str, np.ndarray]]
Unpack = Callable[[Mapping[str, np.ndarray], tuple[int, ...]], np.ndarray]


def input_arrays(inputs: Inputs) -> Arrays:
    """Centers and scales in their stored type, and one bit a column where some are left out.

    Kinds of columns are not counted, in favour of peers.
    """
    named = {"centers": inputs.centers, "scales": inputs.scales}
    arrays = {name: encode_floats(array, inputs.stored_as) for name, array in named.items() if array is not None}
    if inputs.columns is not None and len(inputs.columns) < inputs.n_features:
        arrays["columns"] = np.packbits(np.isin(np.arange(inputs.n_features), inputs.columns))
    return arrays


def pack_dense(matrix: np.ndarray) -> Mapping[str, np.ndarray]:
    """All entries of a matrix."""
    return {"matrix": matrix}


def unpack_dense(packed: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """The matrix that ``pack_dense`` stored."""
    return packed["matrix"]


def network_arrays(model: Model, data: TrainingData, pack: Pack = pack_dense) -> Arrays:
    """The arrays of a network: what our own files hold, without headers. The number of a stage follows a name.

    Gains and offsets of classifications take two bytes each, fewer than in our own files.
    """
    assert model.linear is not None
    assert model.linear_gain is not None
    arrays = input_arrays(model.inputs)
    for k, stage in enumerate(model.stages):
        arrays |= {f"{name} {k}": array for name, array in pack(stage.matrix).items()}
        arrays |= {f"multipliers {k}": stage.multipliers, f"shift {k}": stage.shift}
    arrays |= {"linear": model.linear, "gain": stored_offset(data, model.linear_gain)}
    return arrays if model.offset_stored_as == "none" else arrays | {"offset": stored_offset(data, model.offset)}


def network_from(arrays: Mapping[str, np.ndarray], like: Model, unpack: Unpack = unpack_dense) -> Model:
    """The network with these arrays; sizes, shifts and inputs are those of ``like``."""
    stages = tuple(
        replace(
            stage,
            matrix=unpack(_of_stage(arrays, k), stage.matrix.shape),
            multipliers=arrays[f"multipliers {k}"],
            shift=arrays[f"shift {k}"],
        )
        for k, stage in enumerate(like.stages)
    )
    gain, offset = _decoded(arrays["gain"]), _decoded(arrays["offset"]) if "offset" in arrays else like.offset
    return replace(like, projection=Stages(stages), linear=arrays["linear"], linear_gain=gain, offset=offset)


def _of_stage(arrays: Mapping[str, np.ndarray], k: int) -> Arrays:
    return {name.removesuffix(f" {k}"): array for name, array in arrays.items() if name.endswith(f" {k}")}


def _decoded(array: np.ndarray) -> np.ndarray:
    return decode_bfloat16(array) if array.dtype == np.uint16 else array
