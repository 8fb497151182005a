"""What a Frontier shows: rows, a table, a plot; and the smallest sketch within a tolerance."""

import numpy as np
import pytest

import repsketch as rs
from repsketch.compare.comparison import Comparison
from repsketch.curve import Frontier, size_name
from repsketch.errors import InputError
from repsketch.sketch import CompiledSketch
from support.models import random_model

EVIL = "<b>linear</b>"
SCORES = {"sketch": {256: 0.90, 512: 0.95, 2048: 0.97}, EVIL: {256: 0.91, 2048: 0.91}}


def frontier_of(scores, metric="accuracy", teacher=0.975, **options):
    """A frontier with these scores by model and budget."""
    model = random_model(0)
    sketches = {}
    for budget in scores["sketch"]:
        rows = tuple(
            {"name": name, "nbytes": budget - 9, "score": curve[budget], "loss": 0.1}
            for name, curve in scores.items()
            if budget in curve
        )
        left_out = {
            name: f"none is as small as {budget} bytes" for name, curve in scores.items() if budget not in curve
        }
        sketches[budget] = CompiledSketch(model, summary=Comparison(metric, rows, None, "validation", 1_200, left_out))
    return Frontier(sketches, teacher, **options)


@pytest.fixture
def curve():
    return frontier_of(SCORES)


def test_rows(curve):
    rows = curve.rows
    assert [(row["model"], row["budget"], row["score"]) for row in rows] == [
        ("sketch", 256, 0.90), (EVIL, 256, 0.91), ("sketch", 512, 0.95), ("sketch", 2048, 0.97), (EVIL, 2048, 0.91),
    ]  # fmt: skip
    assert [row["nbytes"] for row in rows if row["model"] == EVIL] == [247, 2039]
    assert {row["nbytes"] for row in rows if row["model"] == "sketch"} == {random_model(0).nbytes}  # what is deployed


def test_the_table(curve):
    lines = str(curve).splitlines()
    nbytes = f"{random_model(0).nbytes:,}"
    assert [line.split() for line in lines[:4]] == [
        ["budget", "sketch", "bytes", "sketch", EVIL],
        ["256", nbytes, "0.9000", "0.9100"],
        ["512", nbytes, "0.9500", "-"],
        ["2,048", nbytes, "0.9700", "0.9100"],
    ]
    assert len({len(line) for line in lines[:4]}) == 1
    assert lines[4:] == [
        "accuracy on 1,200 validation rows", "teacher: 0.9750", f"without {EVIL}: none is as small as 512 bytes",
    ]  # fmt: skip
    assert repr(curve) == "Frontier(3 budgets up to 2,048 bytes, accuracy 0.9700)"


def test_notes():
    notes = frontier_of(SCORES, teacher=1.0, is_unseen=False, too_small=(16, 32)).notes()
    assert "teacher: 1.0000, on rows that it was trained on" in notes
    assert "no sketch is as small as 32 bytes" in notes
    assert not any("teacher" in note for note in frontier_of(SCORES, teacher=None).notes())


def test_html_is_escaped(curve):
    html = curve._repr_html_()
    assert html.count("<tr>") == 4
    assert "0.9500" in html
    assert "<b>" not in html
    assert "&lt;b&gt;linear" in html


@pytest.mark.parametrize(
    ("metric", "teacher", "tolerance", "budget"),
    [
        ("accuracy", 0.975, 0.08, 256),
        ("accuracy", 0.975, 0.03, 512),
        ("accuracy", 0.95, 0.0, 512),
        ("accuracy", 0.975, 0.005, 2048),
        ("MAE", 0.89, 0.01, 256),  # of an error, less is better: the smallest sketch is the best
    ],
)
def test_the_smallest_within_a_tolerance(metric, teacher, tolerance, budget):
    curve = frontier_of(SCORES, metric, teacher)
    assert curve.smallest(tolerance) is curve.sketches[budget]


def test_no_sketch_within_a_tolerance(curve):
    with pytest.raises(
        InputError, match=r"loses at most 0.001 of the teacher's accuracy of 0.9750; the best one has 0.97"
    ):
        curve.smallest(0.001)
    with pytest.raises(InputError, match="this frontier has no teacher"):
        frontier_of(SCORES, teacher=None).smallest(0.1)
    for bad in (-0.1, float("nan"), None, "1%"):
        with pytest.raises(InputError, match=r"tolerance=.*; allowed is"):
            curve.smallest(bad)


class TestPlot:
    """The lines that are drawn; how they look is for eyes."""

    @pytest.fixture
    def drawn(self, curve):
        figure = pytest.importorskip("matplotlib.figure").Figure()
        ax = figure.subplots()
        assert curve.plot(ax) is ax
        return ax

    def test_a_line_for_each_model(self, drawn):
        lines = {line.get_label(): line.get_xydata().tolist() for line in drawn.get_lines()}
        for name, scores in SCORES.items():
            assert lines[name] == [[budget, score] for budget, score in scores.items()]
        assert {y for _, y in lines["teacher"]} == {0.975}
        assert [text.get_text() for text in drawn.get_legend().get_texts()] == [*SCORES, "teacher"]

    def test_the_axes(self, drawn):
        assert drawn.get_xscale() == "log"
        assert [text.get_text() for text in drawn.get_xticklabels()] == ["256 B", "512 B", "2 KB"]
        assert drawn.get_ylabel() == "accuracy on validation rows"

    def test_errors_are_marked_as_such(self):
        ax = pytest.importorskip("matplotlib.figure").Figure().subplots()
        assert frontier_of(SCORES, "MAE", None).plot(ax).get_ylabel() == "MAE on validation rows, less is better"
        assert len(ax.get_lines()) == 2

    def test_a_new_figure(self, curve, monkeypatch):
        pyplot = pytest.importorskip("matplotlib.pyplot")
        pyplot.switch_backend("agg")
        ax = curve.plot()
        assert pyplot.gcf() is ax.figure
        pyplot.close(ax.figure)

    def test_without_matplotlib(self, curve, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
        with pytest.raises(rs.MissingExtraError, match=r"pip install 'repsketch\[plot\]'"):
            curve.plot()


def test_sizes_as_budgets_are_written():
    assert [size_name(nbytes) for nbytes in (7, 1_000, 1_024, 3_000, 65_536)] == [
        "7 B", "1000 B", "1 KB", "2.9 KB", "64 KB",
    ]  # fmt: skip


def test_the_scores_are_those_of_the_summaries(curve):
    assert curve.metric == curve.first.metric == "accuracy"
    assert np.isclose(curve.first.rows[0]["score"], 0.90)
