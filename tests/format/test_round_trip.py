"""Saving and loading is the identity: bytes, outputs, and everything one may do with a sketch afterwards."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import repsketch
from repsketch import Sketch, lsh
from repsketch.errors import InputError
from repsketch.io import describe, describe_model, model_to_bytes
from repsketch.io.records import Section
from repsketch.io.write import SOFTWARE, device_nbytes, sections_of_model
from repsketch.model import Model
from repsketch.model.oracle import query
from repsketch.model.rows import RowGroup
from repsketch.model.stages import Stage
from repsketch.sketch import CompiledSketch, KernelSketch, from_bytes
from support.models import random_inputs, random_model
from support.rsk.build import (
    METADATA,
    float_model,
    integer_model,
    intervals_model,
    kernel_sketch,
    sections_of,
    small_model,
)
from support.rsk.stages import stages_model

FAMILIES = [
    lsh.L2(1.0),
    lsh.L2(0.7, directions="gaussian"),
    lsh.Angular(),
    lsh.Angular(directions="ternary"),
    lsh.MinHash(),
    lsh.L1(1.3),
]
RNG = np.random.default_rng(0)
POINTS, TABLE = RNG.normal(size=(20, 3)) ** 2, RNG.normal(size=(60, 4)).astype(np.float32)


def loaded(sketch: Sketch, folder, metadata=None) -> Sketch:
    path = folder / "sketch.rsk"
    sketch.save(path, metadata)
    return repsketch.load(path)


def check_same(again: Sketch, sketch: Sketch, X: np.ndarray) -> None:
    """The same kind of sketch with the same bytes, outputs (in C and in the oracle) and sizes."""
    assert type(again) is type(sketch)
    assert again.to_bytes() == sketch.to_bytes()
    assert again.outputs(X).tobytes() == sketch.outputs(X).tobytes()
    assert query(again.model, X).tobytes() == query(sketch.model, X).tobytes()
    assert (again.nbytes, again.precision, again.task) == (sketch.nbytes, sketch.precision, sketch.task)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("reader", ["python", "core"])
def test_random_models(seed, reader, tmp_path):
    """Files checked by the reader in Python, and by the one in C, on whose word ``load`` makes the same sketch."""
    model = random_model(seed)
    data = model_to_bytes(model)
    again = from_bytes(data, use_native=False) if reader == "python" else loaded(CompiledSketch(model), tmp_path)
    X = random_inputs(model, 20, seed)
    assert again.to_bytes() == data
    assert again.outputs(X).tobytes() == CompiledSketch(model).outputs(X).tobytes() == query(model, X).tobytes()


@pytest.mark.parametrize("model", [integer_model(), float_model(), stages_model()], ids=["int", "float32", "stages"])
def test_every_kind_of_section(model, tmp_path):
    sketch = CompiledSketch(model)
    check_same(loaded(sketch, tmp_path), sketch, RNG.normal(size=(40, model.n_features)).astype(np.float32))


def test_a_model_of_too_many_sections_cannot_be_saved():
    """Four groups of rows that all have everything: the format allows 32 sections."""
    model = integer_model()
    with pytest.raises(InputError, match="the sketch needs 41 sections in a file; allowed are 32"):
        model_to_bytes(replace(model, row_groups=model.row_groups[2:3] * 4))


def test_another_model_is_another_file(tmp_path):
    """What is replaced in a model that was read must not be taken from the file it was read from."""
    again = loaded(CompiledSketch(integer_model()), tmp_path).model
    moved = replace(again, offset=again.offset + 1)
    assert again.stored is not None
    assert moved.stored is None
    X = RNG.normal(size=(5, again.n_features)).astype(np.float32)
    assert np.all(CompiledSketch(moved).outputs(X) > CompiledSketch(again).outputs(X))


def test_nbytes_is_what_the_sections_hold():
    for seed in range(150):
        model = random_model(seed)
        arrays = device_nbytes(sections_of_model(model))
        headers = Model.HEADER_NBYTES + Model.ROW_GROUP_NBYTES * max(0, len(model.row_groups) - 1)
        headers += Stage.HEADER_NBYTES * len(model.stages)
        assert model.nbytes == headers + arrays
        assert from_bytes(model_to_bytes(model)).nbytes == model.nbytes


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("debias", [False, True])
def test_sums_stay_sums(family, debias, tmp_path):
    sketch = kernel_sketch(family, debias=debias)
    again = loaded(sketch, tmp_path)
    assert isinstance(again, KernelSketch)
    check_same(again, sketch, TABLE)
    assert again.sums.sums.tobytes() == sketch.sums.sums.tobytes()
    assert again.sums.total.tobytes() == sketch.sums.total.tobytes()
    assert again.sums.step == sketch.sums.step
    for step in (
        lambda s: s.add(POINTS, progress=False),
        lambda s: s.subtract(POINTS, progress=False),
        lambda s: s.merge(s),
        lambda s: s.scale(0.3),
        lambda s: s.calibrate(TABLE, TABLE[:, 0]),
        lambda s: s.quantize(TABLE),
    ):
        assert step(again).to_bytes() == step(sketch).to_bytes()
    undone = again.add(POINTS, progress=False).subtract(POINTS, progress=False)
    assert undone.to_bytes() == sketch.to_bytes()


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_without_a_projection(family, tmp_path):
    sketch = Sketch.empty(family, 7, 12, 3, n_outputs=2, aggregate="median_of_means", n_groups=3, random_state=5)
    sketch = sketch.add(POINTS, np.column_stack([np.ones(20), POINTS[:, 0]]), progress=False)
    for made in (sketch, replace(sketch, shift=POINTS[0].astype(np.float32)), replace(sketch, task="regression")):
        check_same(loaded(made, tmp_path), made, POINTS.astype(np.float32))


def test_an_empty_sketch_and_the_smallest(tmp_path):
    for sketch in (Sketch.empty(lsh.L1(1.0), 1, 2, 1), Sketch.empty(lsh.L2(1.0), 3, 65_536, 1, weight_step=2.0**-1000)):
        check_same(loaded(sketch, tmp_path), sketch, np.zeros((3, 1), np.float32))
    one = CompiledSketch(small_model(n_features=1))
    assert loaded(one, tmp_path).to_bytes() == one.to_bytes()


def test_refitted_and_quantised(tmp_path):
    fitted = kernel_sketch().refit(TABLE, TABLE[:, 0], progress=False)
    again = loaded(fitted, tmp_path)
    check_same(again, fitted, TABLE)
    assert again.sums is None
    assert (
        again.refit(TABLE, TABLE[:, 1], progress=False).to_bytes()
        == fitted.refit(TABLE, TABLE[:, 1], progress=False).to_bytes()
    )
    for counter_type in ("int16", "int8", "int4"):
        for projection_type in ("int8", "ternary"):
            small = fitted.quantize(TABLE, counter_type=counter_type, projection_type=projection_type)
            check_same(loaded(small, tmp_path), small, TABLE)


@pytest.mark.parametrize(("aggregate", "n_groups"), [("mean", 1), ("median_of_means", 1), ("median_of_means", 3)])
@pytest.mark.parametrize("n_gains", [1, 2])
def test_what_the_paper_would_write_otherwise(aggregate, n_groups, n_gains):
    """One gain for all outputs, or a median of one group: stored as it was."""
    hashes = lsh.RowHashes(lsh.L2(1.0, directions="gaussian"), 6, 8, 3, seed=1)
    counters = RNG.normal(size=(6, 8, 2)).astype(np.float32)
    group = RowGroup(hashes, counters, np.full(n_gains, 2, np.float32), aggregate=aggregate, n_groups=n_groups)
    data = model_to_bytes(Model(repsketch.model.inputs.Inputs(3), None, (group,), np.zeros(2, np.float32)))
    assert from_bytes(data).to_bytes() == data


LABELS = {
    "int": [7, -3, 2**40],
    "unsigned": np.array([3, 1, 200], np.uint8),
    "float": [0.5, -1.5, 1e300],
    "str": ["b", "a", "ß, a long one with \" and \\"],
    "empty str": ["", "x", "y"],
    "objects": np.array(["one", "two", "three"], object),
    "one long among short ones": [*map(str, range(99)), "x" * 1024],
}  # fmt: skip


@pytest.mark.parametrize("title", LABELS)
def test_classes(title, tmp_path):
    labels = np.asarray(LABELS[title])
    model = _with_outputs(len(labels))
    sketch = CompiledSketch(replace(model, task="classification", classes=labels))
    again = loaded(sketch, tmp_path)
    assert again.classes.tolist() == labels.tolist()
    assert again.to_bytes() == sketch.to_bytes()
    X = RNG.normal(size=(30, 3)).astype(np.float32)
    assert again.predict(X).tolist() == sketch.predict(X).tolist()
    assert set(again.predict(X).tolist()) <= set(labels.tolist())


@pytest.mark.parametrize("labels", [[False, True], [True, False], [0, 1], [-0.5, 0.5], ["no", "yes"]], ids=repr)
def test_two_classes_of_one_output(labels, tmp_path):
    sketch = replace(kernel_sketch(), classes=np.array(labels))
    again = loaded(sketch, tmp_path)
    assert again.classes.dtype == np.array(labels).dtype
    assert again.predict(TABLE).tolist() == sketch.predict(TABLE).tolist()
    assert set(again.predict(TABLE).tolist()) == set(labels)


def _with_outputs(n: int) -> Model:
    model = small_model()
    group = replace(model.row_groups[0], counters=RNG.normal(size=(2, 2, n)).astype(np.float32))
    return replace(model, row_groups=(group,), offset=RNG.normal(size=n).astype(np.float32))


def test_categories(tmp_path):
    path = tmp_path / "sketch.rsk"
    model = replace(integer_model(), categories=(("", "oak", "wych elm é"),))
    CompiledSketch(model).save(path)
    loaded = repsketch.load(path)
    assert loaded.model.categories == model.categories
    assert describe(path)["categories"] == [["", "oak", "wych elm é"]]
    assert loaded.nbytes == CompiledSketch(integer_model()).nbytes  # a device is given indices
    assert loaded.to_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ((("a", "b"),), "one label for each"),
        ((), "one label for each"),
        ((("b", "a", "c"),), "must rise"),
        ((("a", "a", "c"),), "must rise"),
    ],
)
def test_categories_that_do_not_fit(labels, message):
    with pytest.raises(InputError, match=message):
        replace(integer_model(), categories=labels)


def test_intervals(tmp_path):
    path = tmp_path / "sketch.rsk"
    sketch = CompiledSketch(intervals_model())
    sketch.save(path)
    again = repsketch.load(path)
    X = np.random.default_rng(1).normal(size=(50, sketch.n_features))
    for confidence in (0.5, 0.87, 0.95, 0.99):
        expected = sketch.predict_interval(X, confidence)
        np.testing.assert_array_equal(again.predict_interval(X, confidence), expected)
        np.testing.assert_array_equal(from_bytes(path.read_bytes()).predict_interval(X, confidence), expected)
    assert again.to_bytes() == path.read_bytes()
    # Not needed to predict, so not among the bytes a device must hold.
    plain = CompiledSketch(float_model())
    assert again.nbytes == plain.nbytes
    assert again.outputs(X).tobytes() == plain.outputs(X).tobytes()
    table = {"n_rows": 120, "n_bins": 3, "most_confidence": 0.99, "nbytes": 8 + 4 * 2 * (2 + 3 + 16)}
    facts = describe(path)
    assert facts["intervals"] == table
    assert facts["sections"]["INTERVALS"] == table["nbytes"]
    assert describe_model(plain.model)["intervals"] is None


def test_the_papers_sketch_with_intervals_comes_back_with_them(tmp_path):
    path = tmp_path / "sketch.rsk"
    refitted = replace(kernel_sketch(), task="regression", classes=None).refit(TABLE, TABLE[:, 0], progress=False)
    sketch = refitted.with_intervals(TABLE, TABLE[:, 0])
    sketch.save(path)
    again = repsketch.load(path)
    np.testing.assert_array_equal(again.predict_interval(TABLE, 0.9), sketch.predict_interval(TABLE, 0.9))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(again)).predict_interval(TABLE, 0.9), sketch.predict_interval(TABLE, 0.9)
    )


def test_names_and_metadata(tmp_path):
    path = tmp_path / "sketch.rsk"
    sketch = CompiledSketch(integer_model())
    sketch.save(path, METADATA)
    assert repsketch.load(path).model.feature_names == sketch.model.feature_names
    facts = describe(path)
    assert facts["metadata"] == METADATA
    assert facts["feature_names"] == list(sketch.model.feature_names or ())
    assert facts["classes"] == ["ash", "birch", "wych elm é"]
    sketch.save(path)
    assert describe(path)["metadata"] == {}
    assert Section.METADATA not in sections_of(path.read_bytes())


def test_descriptions_are_json_and_true(tmp_path):
    path = tmp_path / "sketch.rsk"
    sketches = [CompiledSketch(random_model(seed)) for seed in range(20)] + [
        kernel_sketch(),
        CompiledSketch(integer_model()),
    ]
    for sketch in sketches:
        sketch.save(path)
        facts = describe(path)
        assert json.loads(json.dumps(facts, allow_nan=False)) == facts
        assert facts["file_nbytes"] == path.stat().st_size
        assert sum(facts["sections"].values()) <= facts["file_nbytes"]
        assert facts["device_nbytes"] == sketch.nbytes
        assert (facts["n_features"], facts["n_outputs"]) == (sketch.n_features, sketch.n_outputs)
        assert [group["n_rows"] for group in facts["row_groups"]] == [group.n_rows for group in sketch.model.row_groups]
        assert facts["is_additive"] == (isinstance(sketch, KernelSketch) and sketch.sums is not None)


def test_versions_in_the_header(tmp_path):
    data = kernel_sketch().to_bytes()
    assert data[4:6] == b"\x01\x00"
    assert tuple(data[24:27]) == SOFTWARE == tuple(int(n) for n in repsketch.__version__.split("."))
    (tmp_path / "sketch.rsk").write_bytes(data)
    facts = describe(tmp_path / "sketch.rsk")
    assert (facts["format_version"], facts["software_version"]) == (1, repsketch.__version__)


def test_the_same_sketch_gives_the_same_bytes():
    assert kernel_sketch().to_bytes() == kernel_sketch().to_bytes()
    assert model_to_bytes(integer_model()) == model_to_bytes(integer_model())
