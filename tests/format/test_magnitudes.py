"""Outputs of an accepted file are finite for every finite input: rule 71 of the format."""

from dataclasses import replace

import numpy as np

from build import native_status, python_status, sections_of, with_sections
from forms import random_form, random_inputs
from repsketch.io import Status, form_to_bytes, from_bytes
from repsketch.io.records import PART_STRIDE, Section
from repsketch.runtime.native import NativeRuntime
from repsketch.sketch import Form
from repsketch.sketch.query import query

N_FORMS = 60
#: Sizes from harmless to the largest of float32.
SIZES = [1.0, 1e20, 1e30, 1e36, 1e37, 8e37, 3e38]


def enlarged(form: Form, rng: np.random.Generator) -> bytes:
    """A file with the form, some of its float arrays scaled so that their largest number has one of SIZES.

    Made of bytes: a form of such numbers is refused before it is written.
    """
    kinds = [Section.OFFSET, Section.LINEAR_GAIN]
    for i, part in enumerate(form.parts):
        kinds.append(Section.GAIN + PART_STRIDE * i)
        if part.counter_type == "float32":
            kinds.append(Section.COUNTERS + PART_STRIDE * i)
        if not form.is_whole:
            kinds.append(Section.DECODE + PART_STRIDE * i)
    data = form_to_bytes(form)
    sections, changes = sections_of(data), {}
    for kind in kinds:
        if kind in sections and rng.random() < 0.6:
            numbers = np.frombuffer(sections[kind], "<f4").astype(np.float64)
            scaled = numbers / np.abs(numbers).max() * rng.choice(SIZES)
            changes[kind] = np.where(scaled == 0, 1e-30, scaled).astype("<f4").tobytes()
    return with_sections(data, changes)


def test_accepted_files_have_finite_outputs():
    rng = np.random.default_rng(71)
    n_accepted = 0
    bad = []
    for seed in range(N_FORMS):
        form = random_form(seed, largest=12)
        if form.offset_stored_as != "float32":
            form = replace(form, offset_stored_as="float32")
        X = random_inputs(form, 40, seed)
        for _ in range(8):
            data = enlarged(form, rng)
            status = python_status(data)
            assert status == native_status(data)
            if status != Status.OK:
                continue
            n_accepted += 1
            again = from_bytes(data).form
            outputs = [query(again, X), NativeRuntime(again).outputs(X)]
            if not all(np.isfinite(y).all() for y in outputs):
                bad.append(seed)
    assert not bad
    assert n_accepted > 100
