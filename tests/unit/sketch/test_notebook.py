"""What a shell and a notebook show: one short line, and a small table of escaped text."""

from dataclasses import dataclass, replace
from html.parser import HTMLParser

import numpy as np
import pytest

import repsketch as rs
from repsketch.lsh.pool import PooledRows
from repsketch.sketch import CompiledSketch
from repsketch.teacher import as_teacher
from support.models import THEMES, random_model

LONGEST = 199


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.normal(size=shape).astype(np.float32)  # noqa: E731
    classes = np.array(["a", "b", "c"])
    return rs.KernelModel(
        draw(300, 2), draw(300, 3), draw(3), rs.lsh.L2(1.0), projection=draw(9, 2), task="classification",
        classes=classes, sample=draw(40, 9),
    )  # fmt: skip


@pytest.fixture(scope="module")
def sketch(model):
    return rs.build_sketch(model, n_rows=400, n_buckets=16, progress=False)


def is_short(text: str) -> bool:
    return len(text) <= LONGEST and "\n" not in text


def test_what_is_shown(model, sketch):
    quantised = sketch.quantize()
    assert repr(model) == f"KernelModel(classification of 3 classes, 9 columns, 300 points, {model.family!r})"
    assert (
        repr(sketch)
        == f"KernelSketch(classification of 3 classes, 9 columns, 400 rows, float32, {sketch.nbytes:,} bytes)"
    )
    assert repr(quantised) == (
        f"CompiledSketch(classification of 3 classes, 9 columns, 400 rows, int, {quantised.nbytes:,} bytes)"
    )
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=2)
    assert repr(density) == f"KernelSketch(1 output, 2 columns, 50 rows, float32, {density.nbytes:,} bytes)"


@pytest.mark.parametrize("theme", THEMES)
def test_every_group_of_every_model_is_one_short_line(theme):
    model = random_model(3, theme=theme)
    groups = [model, model.inputs, model.projection, *model.row_groups, *(group.hashes for group in model.row_groups)]
    groups += [group.hashes.pool for group in model.row_groups if isinstance(group.hashes, PooledRows)]
    for shown in (*groups, CompiledSketch(model)):
        assert is_short(repr(shown)), repr(shown)


def test_what_public_calls_return_is_one_short_line(model, sketch):
    X = np.random.default_rng(1).normal(size=(500, 9))
    wide = rs.Sketch.empty(rs.lsh.MinHash(), n_rows=3, n_buckets=4, n_features=7).add(np.eye(7))
    calibrated = wide.with_intervals(np.eye(7).repeat(20, axis=0), np.zeros(140))
    for shown in (
        sketch.sums, sketch.cost(), sketch.hashes, sketch.model, sketch.quantize().change, wide, calibrated,
        calibrated.model.intervals, as_teacher(model), as_teacher(model).label(X), model.family,
    ):  # fmt: skip
        assert is_short(repr(shown)), repr(shown)
    assert repr(sketch.sums) == "Counters(sums=int64 (400, 16, 3), total=int64 (3,), step=2.3283064365386963e-10)"
    assert repr(as_teacher(model).label(X)) == "TeacherOutputs(classification, 500 rows, 3 classes)"


def test_columns_in_use():
    models = (random_model(seed) for seed in range(100))
    model = next(model for model in models if model.inputs.columns is not None)
    assert f", {model.inputs.n_columns} of {model.n_features} columns, " in repr(CompiledSketch(model))


@dataclass(frozen=True)
class Comparison:
    """As much of what ``compress`` finds as is shown."""

    metric: str
    rows: tuple
    conclusion: str | None


class Reader(HTMLParser):
    """The text of cells, and the tags."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.open, self.cells = set(), [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        if tag in ("td", "th", "p"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.cells:
            self.cells[-1] += data


EVIL = "<script>alert('x')</script> & <b>"


@pytest.fixture
def compared(sketch):
    rows = (
        {"name": "sketch", "nbytes": 498, "score": 0.91234, "loss": 0.2},
        {"name": EVIL, "nbytes": 1500, "score": 0.9, "loss": 0.3},
    )
    model = replace(sketch.quantize().model, classes=np.array(["a", EVIL, "z"]))
    model = replace(model, feature_names=tuple(f"column {k} {EVIL}" for k in range(model.n_features)))
    return CompiledSketch(model, summary=Comparison("accuracy", rows, f"{EVIL} did better."))


def test_html_holds_text_alone(compared):
    read = Reader(compared._repr_html_())
    assert read.tags <= {"table", "tbody", "thead", "tr", "th", "td", "p"}
    assert "<script" not in compared._repr_html_()
    assert sum(EVIL in cell for cell in read.cells) >= 3  # the classes, the columns, a model and the conclusion


def test_html_of_a_compressed_sketch(compared):
    cells = Reader(compared._repr_html_()).cells
    shown = dict(zip(cells[::2], cells[1::2], strict=False))
    assert shown["task"].startswith("classification of 3 classes")
    assert shown["size"] == f"{compared.nbytes:,} bytes"
    at = cells.index("model")
    assert cells[at : at + 6] == ["model", "accuracy", "bytes", "sketch", "0.9123", "498"]
    assert cells[-1] == f"{EVIL} did better."


def test_html_without_a_comparison(sketch):
    cells = Reader(sketch._repr_html_()).cells
    assert "model" not in cells
    assert f"{sketch.nbytes:,} bytes" in cells


def test_html_of_many_classes_and_columns_stays_small(sketch):
    model = replace(sketch.quantize().model, feature_names=tuple(400 * "x" + str(k) for k in range(9)))
    assert len(CompiledSketch(model)._repr_html_()) < 2_000
