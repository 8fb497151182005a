"""Files whose stages have the largest sums that 32 bits hold, and files with sums one larger."""

from dataclasses import replace
from typing import Any

import numpy as np

from repsketch.io import model_to_bytes
from repsketch.io.records import Section
from repsketch.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.rows import LARGEST_INT
from repsketch.model.stages import Stage, Stages
from support.rsk.build import with_content, with_fields

ONE = np.ones(1, np.float32)


def zeros(n: int, p: int, **options: Any) -> Stage:
    """A stage of zeros; multipliers are 1."""
    return Stage(np.zeros((n, p), np.int8), np.ones(p, np.uint8), np.zeros(p, np.int8), 0, 0, 32_767, **options)


def model_of(*stages: Stage, largest: int = 127, n_outputs: int = 1) -> Model:
    """A model without rows; its own linear term is 0."""
    inputs = Inputs(stages[0].n_inputs, limits=(-largest, largest))
    linear = np.zeros((stages[-1].n_components, n_outputs), np.int8)
    return Model(inputs, Stages(stages), (), np.zeros(n_outputs, np.float32), linear, ONE)


def first_stage(coordinate: int, is_sparse: bool) -> Stage:
    """Of values up to 21,483 the sum behind one coordinate is at most the largest number of 32 bits, less 1."""
    assert LARGEST_INT - 1 == 21_483 * 151 * (5 * 127 + 27)
    stage = zeros(6, 1030, is_sparse=is_sparse)
    stage.matrix[:, coordinate] = 127, -127, 127, 127, -27, 127
    # Other entries: a reader that takes them for those above, or those above for them, finds another bound.
    stage.matrix[1:, 5], stage.multipliers[5] = 20, 255
    stage.multipliers[coordinate] = 151
    return stage


def second_stage(is_sparse: bool) -> tuple[Stage, Stage]:
    """Two stages; of what a ReLU gives, up to 127, the sum and the shift are at most the largest number of 32 bits."""
    assert LARGEST_INT == 127 * 120 * (1_109 * 127 + 68) + 7
    first, second = zeros(1, 1_110, activation="relu"), zeros(1_110, 1, is_sparse=is_sparse)
    second.matrix[:, 0] = -127
    second.matrix[77] = 68
    second.multipliers[:], second.shift[:] = 120, -7
    return first, second


def with_shift(stage: Stage, coordinate: int, shift: int) -> Stage:
    """The stage with another shift of one coordinate."""
    shifts = stage.shift.copy()
    shifts[coordinate] = shift
    return replace(stage, shift=shifts)


def linear_term(output: int) -> Stage:
    """A stage whose linear term is just within 32 bits for coordinates up to 32,767."""
    assert 32_767 * (516 * 127 + 6) <= LARGEST_INT < 32_767 * (516 * 127 + 7)
    linear = np.zeros((517, 70), np.int8)
    linear[:, output] = -127
    linear[-1, output] = 6
    return replace(zeros(1, 517, activation="clip"), linear=linear, linear_gain=ONE)


def _coordinates(stage: Stage) -> bytes:
    return stage.multipliers.tobytes() + stage.shift.tobytes()


def stage_bounds() -> dict[str, tuple[bytes, bytes]]:
    """A file at the bound and one beyond it, for every bound of stages and every place where a reader may miss one."""
    found = {}
    kind = Section.STAGE_COORDINATES
    for is_sparse in (False, True):
        name = "sparse" if is_sparse else "dense"
        for coordinate in (0, 63, 64, 1023, 1024, 1029):
            stage = first_stage(coordinate, is_sparse)
            data = model_to_bytes(model_of(replace(stage, right_shift=1), largest=21_483))
            moved = _coordinates(with_shift(stage, coordinate, -1))
            found[f"{name}, coordinate {coordinate}, half"] = data, with_content(data, kind, lambda _, new=moved: new)
            data = model_to_bytes(model_of(with_shift(stage, coordinate, -1), largest=21_483))
            found[f"{name}, coordinate {coordinate}, shift"] = data, with_fields(data, Section.STAGE, shift_bits=1)
            data = model_to_bytes(model_of(stage, largest=21_483))
            found[f"{name}, coordinate {coordinate}, missing"] = data, with_fields(data, Section.MODEL, flags=2)
        first, second = second_stage(is_sparse)
        data = model_to_bytes(model_of(first, second, largest=32_767))
        moved = _coordinates(with_shift(second, 0, 8))
        found[f"{name}, second stage"] = data, with_content(data, kind + 4, lambda _, new=moved: new)
    for output in (0, 63, 64, 69):
        stage = linear_term(output)
        assert stage.linear is not None
        more = stage.linear.copy()
        more[-1, output] = 7
        data = model_to_bytes(model_of(stage, n_outputs=70))
        changed = ONE.tobytes() + more.tobytes()
        found[f"linear term, output {output}"] = (
            data,
            with_content(data, Section.STAGE_LINEAR, lambda _, new=changed: new),
        )
    # The model's own linear term: coordinates of 127 behind a ReLU, of 32,767 without an activation.
    linear = np.append(np.full(516, 127, np.int8), np.int8(6))
    more = np.append(linear[:-1], np.int8(7))
    data = with_content(model_to_bytes(model_of(zeros(1, 517))), Section.LINEAR, lambda _: linear.tobytes())
    found["linear term without an activation"] = data, with_content(data, Section.LINEAR, lambda _: more.tobytes())
    data = with_content(
        model_to_bytes(model_of(zeros(1, 517, activation="relu"))), Section.LINEAR, lambda _: more.tobytes()
    )
    found["linear term behind a ReLU"] = data, with_fields(data, Section.STAGE, activation=0)
    return found
