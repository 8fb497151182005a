"""Outputs of an accepted file are finite for every finite input: rule 71 of the format."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.io import Status, model_to_bytes
from repsketch.io.records import ROW_GROUP_STRIDE, Section
from repsketch.model import Model
from repsketch.model.oracle import query
from repsketch.runtime.native import NativeRuntime
from repsketch.sketch import from_bytes
from support.models import random_inputs, random_model
from support.rsk.build import native_status, python_status, sections_of, with_sections

N_MODELS = 60
#: Files of each form: a few in the fast tests.
n_files_of_a_model = pytest.mark.parametrize("n_files", [3, pytest.param(8, marks=pytest.mark.slow)])
#: Sizes from harmless to the largest of float32.
SIZES = [1.0, 1e20, 1e30, 1e36, 1e37, 8e37, 3e38]


def enlarged(model: Model, rng: np.random.Generator) -> bytes:
    """A file with the model, some of its float arrays scaled so that their largest number has one of SIZES.

    Made of bytes: a model of such numbers is refused before it is written.
    """
    kinds = [Section.OFFSET, Section.LINEAR_GAIN]
    for i, group in enumerate(model.row_groups):
        kinds.append(Section.GAIN + ROW_GROUP_STRIDE * i)
        if group.counter_type == "float32":
            kinds.append(Section.COUNTERS + ROW_GROUP_STRIDE * i)
        if not model.is_integer:
            kinds.append(Section.DECODE + ROW_GROUP_STRIDE * i)
    data = model_to_bytes(model)
    sections, changes = sections_of(data), {}
    for kind in kinds:
        if kind in sections and rng.random() < 0.6:
            numbers = np.frombuffer(sections[kind], "<f4").astype(np.float64)
            scaled = numbers / max(np.abs(numbers).max(), 1e-30) * rng.choice(SIZES)
            changes[kind] = np.where(scaled == 0, 1e-30, scaled).astype("<f4").tobytes()
    return with_sections(data, changes)


@n_files_of_a_model
def test_accepted_files_have_finite_outputs(n_files):
    rng = np.random.default_rng(71)
    n_accepted = 0
    bad = []
    for seed in range(N_MODELS):
        model = replace(random_model(seed, largest=12), offset_stored_as="float32")
        X = random_inputs(model, 40, seed)
        for _ in range(n_files):
            data = enlarged(model, rng)
            status = python_status(data)
            assert status == native_status(data)
            if status != Status.OK:
                continue
            n_accepted += 1
            again = from_bytes(data, use_native=False).model
            outputs = [query(again, X), NativeRuntime(again).outputs(X)]
            if not all(np.isfinite(y).all() for y in outputs):
                bad.append(seed)
    assert not bad
    assert n_accepted > 12.5 * n_files


@n_files_of_a_model
def test_models_and_files_have_the_same_bound(n_files, monkeypatch):
    """What is written can be read, and what is refused when read cannot be made."""
    rng, seen = np.random.default_rng(72), {True: 0, False: 0}
    for seed in range(N_MODELS):
        model = replace(random_model(seed, largest=12), offset_stored_as="float32")
        for _ in range(n_files):
            data = enlarged(model, rng)
            is_good = python_status(data) == Status.OK
            with monkeypatch.context() as patch:
                patch.setattr("repsketch.io.read.LARGEST_MAGNITUDE", np.inf)
                patch.setattr("repsketch.io.row_group_reader.LARGEST_MAGNITUDE", np.inf)
                read = from_bytes(data, use_native=False).model
            seen[is_good] += 1
            if is_good:
                assert model_to_bytes(replace(read)) == data
            else:
                with pytest.raises(InputError, match="so that float32 outputs stay finite"):
                    replace(read)
    assert min(seen.values()) > 12.5 * n_files
