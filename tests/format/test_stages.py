"""Stages in files: bounds to the last unit, and the largest sizes that are accepted."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.io import Status, describe_model, model_to_bytes
from repsketch.io.records import Section
from repsketch.model.inputs import Inputs
from repsketch.model.magnitudes import LARGEST_MAGNITUDE
from repsketch.model.oracle import query
from repsketch.model.stages import Stage
from repsketch.runtime.native import NativeRuntime
from repsketch.sketch import CompiledSketch, from_bytes
from support.cases import case
from support.models import random_inputs
from support.rsk.build import native_status, python_status, sections_of, with_bytes
from support.rsk.stage_bounds import (
    first_stage,
    linear_term,
    model_of,
    second_stage,
    stage_bounds,
    with_shift,
    zeros,
)
from support.rsk.stages import LINEAR, STAGES, TABLE, stage_sections, staged_file, stages_model


def check_both(data: bytes, status: Status) -> None:
    assert (python_status(data), native_status(data)) == (status, status)


def test_sums_are_bounded_to_the_last_unit():
    for name, (good, bad) in stage_bounds().items():
        with case(name):
            check_both(good, Status.OK)
            check_both(bad, Status.OVERFLOW)


def test_models_have_the_bounds_of_files():
    too_large = "a sum of a stage could reach 2147483648"
    for is_sparse in (False, True):
        stage = first_stage(64, is_sparse)
        model_of(replace(stage, right_shift=1), largest=21_483)
        with pytest.raises(InputError, match=too_large):
            model_of(replace(with_shift(stage, 64, -1), right_shift=1), largest=21_483)
        with pytest.raises(InputError, match=too_large):
            model_of(replace(with_shift(stage, 64, -1), shift_bits=1), largest=21_483)
        first, second = second_stage(is_sparse)
        model_of(first, second, largest=32_767)
        with pytest.raises(InputError, match=too_large):
            model_of(first, with_shift(second, 0, 8), largest=32_767)
    stage = linear_term(3)
    assert stage.linear is not None
    more = stage.linear.copy()
    more[-1, 3] = 7
    model_of(stage, n_outputs=70)
    with pytest.raises(InputError, match="a sum of a stage could reach"):
        model_of(replace(stage, linear=more), n_outputs=70)


def test_booleans_are_at_most_1():
    """Limits and missing values count for numbers alone."""
    boolean = Inputs(6, kinds=np.ones(6, np.int64), limits=(-32_767, 32_767), accepts_missing=True)
    check_both(model_to_bytes(replace(model_of(first_stage(0, is_sparse=False)), inputs=boolean)), Status.OK)


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
