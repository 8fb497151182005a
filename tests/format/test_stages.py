"""Stages in files: bounds to the last unit, and the largest sizes that are accepted."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.io import Status, describe_model, model_to_bytes
from repsketch.io.records import Section
from repsketch.model.inputs import Inputs
from repsketch.model.magnitudes import LARGEST_MAGNITUDE
from repsketch.model.model import Model
from repsketch.model.oracle import query
from repsketch.model.rows import LARGEST_INT
from repsketch.model.stages import Stage, Stages
from repsketch.runtime.native import NativeRuntime
from repsketch.sketch import CompiledSketch, from_bytes
from support.models import random_inputs
from support.rsk.build import native_status, python_status, sections_of, with_bytes, with_content, with_fields
from support.rsk.stages import LINEAR, STAGES, TABLE, stage_sections, staged_file, stages_model

ONE = np.ones(1, np.float32)
IS_SPARSE = pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])


def check_both(data: bytes, status: Status) -> None:
    assert (python_status(data), native_status(data)) == (status, status)


def zeros(n: int, p: int, **options) -> Stage:
    return Stage(np.zeros((n, p), np.int8), np.ones(p, np.uint8), np.zeros(p, np.int8), 0, 0, 32_767, **options)


def model_of(*stages: Stage, largest: int = 127, n_outputs: int = 1, **options) -> Model:
    """A model without rows; its own linear term is 0."""
    inputs = Inputs(stages[0].n_inputs, limits=(-largest, largest), **options)
    linear = np.zeros((stages[-1].n_components, n_outputs), np.int8)
    return Model(inputs, Stages(stages), (), np.zeros(n_outputs, np.float32), linear, ONE)


def check_bound(good: Model, changed: Stages, change: dict[int, bytes]) -> None:
    """The model and its file are good; with other stages the one is refused, and the other with other sections."""
    data = model_to_bytes(good)
    check_both(data, Status.OK)
    with pytest.raises(InputError, match="a sum of a stage could reach 2147483648"):
        replace(good, projection=changed)
    for kind, content in change.items():
        data = with_content(data, kind, lambda _, content=content: content)
    check_both(data, Status.OVERFLOW)


@IS_SPARSE
@pytest.mark.parametrize("coordinate", [0, 63, 64, 1023, 1024, 1029])
def test_every_sum_of_the_first_stage_is_bounded(is_sparse, coordinate):
    """21,483 * 151 * (5 * 127 + 27) + half of 2 is the largest number of 32 bits."""
    assert LARGEST_INT == 21_483 * 151 * 662 + 1
    stage = zeros(6, 1030, is_sparse=is_sparse)
    stage.matrix[:, coordinate] = 127, -127, 127, 127, -27, 127
    stage.matrix[3, 5:9] = 1  # other entries, which a sparse matrix must pass over
    stage.multipliers[coordinate] = 151
    rounded = replace(stage, right_shift=1)
    moved = replace(rounded, shift=np.where(np.arange(1030) == coordinate, -1, 0).astype(np.int8))
    coordinates = Section.STAGE_COORDINATES
    check_bound(
        model_of(rounded, largest=21_483),
        Stages((moved,)),
        {coordinates: stage.multipliers.tobytes() + moved.shift.tobytes()},
    )
    # A shift counts in its units.
    good = replace(moved, right_shift=0)
    check_both(model_to_bytes(model_of(good, largest=21_483)), Status.OK)
    with pytest.raises(InputError, match="a sum of a stage could reach 2147483648"):
        model_of(replace(good, shift_bits=1), largest=21_483)
    data = model_to_bytes(model_of(good, largest=21_483))
    check_both(with_fields(data, Section.STAGE, shift_bits=1), Status.OVERFLOW)


def test_missing_values_count():
    """Missing values are one below the lowest; boolean ones are at most 1."""
    stage = zeros(6, 1, activation="clip")
    stage.matrix[:, 0] = 127, 127, 127, 127, 127, 27
    stage.multipliers[:] = 151
    model = model_of(stage, largest=21_483)
    data = model_to_bytes(model)
    check_both(data, Status.OK)
    check_both(with_fields(data, Section.MODEL, flags=2), Status.OVERFLOW)
    boolean = Inputs(6, kinds=np.ones(6, np.int64), limits=(-32_767, 32_767), accepts_missing=True)
    check_both(model_to_bytes(replace(model, inputs=boolean)), Status.OK)


@IS_SPARSE
def test_sums_of_the_second_stage_are_bounded(is_sparse):
    """127 * 120 * (1,109 * 127 + 68) + 7 is the largest number of 32 bits, and 127 is the bound of what ReLU gives."""
    assert LARGEST_INT == 127 * 120 * (1_109 * 127 + 68) + 7
    first, second = zeros(1, 1_110, activation="relu"), zeros(1_110, 1, is_sparse=is_sparse)
    second.matrix[:, 0] = -127
    second.matrix[77] = 68
    second.multipliers[:] = 120
    second.shift[:] = -7
    moved = replace(second, shift=np.array([8], np.int8))
    check_bound(
        model_of(first, second, largest=32_767),
        Stages((first, moved)),
        {Section.STAGE_COORDINATES + 4: bytes([120, 8])},
    )


@pytest.mark.parametrize("output", [0, 63, 64, 69])
def test_linear_terms_of_stages_are_bounded(output):
    """32,767 * (516 * 127 + 6) is just within 32 bits."""
    linear = np.zeros((517, 70), np.int8)
    linear[:, output] = -127
    linear[-1, output] = 6
    assert 32_767 * (516 * 127 + 6) <= LARGEST_INT < 32_767 * (516 * 127 + 7)
    stage = replace(zeros(1, 517, activation="clip"), linear=linear, linear_gain=ONE)
    model = model_of(stage, n_outputs=70)
    data = model_to_bytes(model)
    check_both(data, Status.OK)
    more = linear.copy()
    more[-1, output] = 7
    with pytest.raises(InputError, match="a sum of a stage could reach"):
        replace(model, projection=Stages((replace(stage, linear=more),)))
    check_both(with_content(data, Section.STAGE_LINEAR, lambda old: old[:4] + more.tobytes()), Status.OVERFLOW)


@pytest.mark.parametrize("activation", ["none", "relu"])
def test_the_bound_of_the_linear_term_is_that_of_the_last_stage(activation):
    """Without an activation coordinates of 32,767, with one of 127."""
    model = model_of(zeros(1, 600, activation=activation))
    data = model_to_bytes(model)
    changed = with_content(data, Section.LINEAR, lambda old: bytes([127]) * len(old))
    check_both(data, Status.OK)
    check_both(changed, Status.OVERFLOW if activation == "none" else Status.OK)


def test_magnitudes_of_stages_are_bounded():
    """Of each stage the largest sum times the largest gain; below and above 2**126."""
    model = stages_model()
    stage = model.stages[0]
    assert stage.linear_gain is not None
    largest = np.float32(LARGEST_MAGNITUDE / stage.largest_linear)
    kind = TABLE + LINEAR
    check_both(with_bytes(STAGES, kind, 4, "f", np.nextafter(largest, np.float32(0)) * np.float32(0.999)), Status.OK)
    check_both(with_bytes(STAGES, kind, 4, "f", -largest * np.float32(1.001)), Status.MAGNITUDE)


def test_the_last_good_ones():
    """A reader that refuses too much is wrong as well."""
    files = {
        "most coordinates": staged_file(stage_sections(1, 65_536), 1, 65_536),
        "most shifts": staged_file(stage_sections(1, 1, right_shift=31, shift_bits=15, limit=32_767), 1, 1),
        "widest tables": staged_file(stage_sections(1, 1, activation=1, n_levels=16, width_bits=8), 1, 1),
        "narrowest tables": staged_file(stage_sections(1, 1, activation=1, n_levels=4, width_bits=1), 1, 1),
        "widest clip": staged_file(stage_sections(1, 1, activation=3, width_bits=15), 1, 1),
        "narrowest ReLU": staged_file(stage_sections(1, 1, activation=2), 1, 1),
        "nothing but zeros": staged_file(stage_sections(3, 5, is_sparse=True, bits=4), 3, 5),
    }
    four = {}
    for index, n in enumerate((2, 3, 4, 5)):
        four |= stage_sections(n, n + 1, activation=2, index=index)
    files["four stages"] = staged_file(four, 2, 6, n_stages=4)
    for name, data in files.items():
        assert (python_status(data), native_status(data)) == (Status.OK, Status.OK), name


def test_wide_stages_are_run_row_by_row():
    """Between values and coordinates there are more than a block takes."""
    rng = np.random.default_rng(0)
    first = Stage(
        rng.integers(-7, 8, (3, 16_385)).astype(np.int8), rng.integers(1, 9, 16_385).astype(np.uint8),
        rng.integers(-9, 9, 16_385).astype(np.int8), 3, 0, 500, "clip", matrix_bits=4,
    )  # fmt: skip
    second = Stage(
        rng.integers(-1, 2, (16_385, 2)).astype(np.int8), np.ones(2, np.uint8), np.zeros(2, np.int8), 4, 0, 9_000
    )
    model = model_of(first, replace(second, is_sparse=True))
    model = replace(model, linear=np.array([[3], [5]], np.int8))
    X = random_inputs(model, 70, 0)
    wanted = query(model, X)
    assert len(np.unique(wanted)) > 20
    assert NativeRuntime(model).outputs(X).tobytes() == wanted.tobytes()
    assert NativeRuntime(model).outputs(X[:1]).tobytes() == wanted[:1].tobytes()


def test_sparse_matrices_are_stored_as_a_bitmap_and_entries():
    """Rows of the matrix one after the other, the lowest bit first; two entries of 4 bits a byte, the first one low."""
    stage = replace(zeros(2, 5, matrix_bits=4), is_sparse=True)
    stage.matrix[0, 1], stage.matrix[1, 3], stage.matrix[1, 4] = 7, -1, 2
    sections = sections_of(model_to_bytes(model_of(stage)))
    assert sections[Section.STAGE_MATRIX] == bytes([0b00000010, 0b11, 0xF7, 0x02])
    again = from_bytes(model_to_bytes(model_of(stage)), use_native=False).model.stages[0]
    np.testing.assert_array_equal(again.matrix, stage.matrix)


def test_a_sketch_of_stages_alone(tmp_path):
    """Saved, loaded and described without rows."""
    sketch = CompiledSketch(model_of(zeros(3, 2, activation="relu")))
    path = tmp_path / "stages.rsk"
    sketch.save(path)
    again = from_bytes(path.read_bytes())
    assert again.to_bytes() == sketch.to_bytes()
    facts = describe_model(again.model)
    assert (facts["projection"], facts["row_groups"]) == ("stages, 2 components", [])
    assert facts["stages"] == [
        {
            "n_inputs": 3, "n_components": 2, "matrix": "int8", "n_nonzeros": 0, "activation": "relu", "linear": False,
            "nbytes": 8 + 6 + 4,
        }
    ]  # fmt: skip
    assert "0 rows" in repr(again.model)
    assert again.cost().adds == 6 + 3 * 2 + 2
