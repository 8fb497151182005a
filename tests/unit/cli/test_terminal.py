"""Text from a file cannot act on the terminal: escapes in tables, JSON, predictions and messages."""

import io
import json
import unicodedata

import numpy as np
import pytest

import repsketch as rs
from repsketch.cli.terminal import printable

NASTY = "\x1b]0;title\x07 \x1b[2J \x7f \x9b31m \u202e \u2066 \u2028 \u2029 \u200f :smile: [red]x[/red]"


def acts(sign):
    """True for what a terminal does not simply show, by Unicode's own tables."""
    return sign != "\n" and unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def assert_harmless(text):
    assert [hex(ord(sign)) for sign in text if acts(sign)] == []


def test_all_that_acts_is_escaped_and_nothing_else():
    signs = [chr(point) for point in (*range(0x3000), 0xD800, 0xDCFF, 0xFEFF, 0xE0001, 0x1F333)]
    for sign in signs:
        shown = printable(sign)
        assert shown == sign or shown.startswith("\\")
        if acts(sign) or sign == "\n":
            assert shown.encode("ascii").decode("unicode_escape") == sign
    assert printable("Zoë \U0001f333 \u4e2d\u6587 a\\b") == "Zoë \U0001f333 \u4e2d\u6587 a\\b"
    assert printable("\x1b\n\u202e") == "\\x1b\\x0a\\u202e"


@pytest.fixture(scope="module")
def nasty(tmp_path_factory):
    """A sketch, and a table for it, whose names, labels, categories and notes are nasty."""
    folder = tmp_path_factory.mktemp("nasty") / NASTY.replace("/", "")
    folder.mkdir()
    X = np.random.default_rng(0).normal(size=(60, 1))
    label = np.where(X[:, 0] > 0, f"up{NASTY}", f"down{NASTY}")
    lines = [f"{value},c{NASTY if value > 0.5 else 1},{name}" for value, name in zip(X[:, 0], label, strict=True)]
    table = folder / f"{NASTY}.csv".replace("/", "")
    table.write_text("\n".join([f"a{NASTY},b{NASTY},y{NASTY}", *lines]))
    return folder, table


@pytest.fixture(scope="module")
def made(run, nasty):
    folder, table = nasty
    options = ("-t", "-1", "-b", "300", "--time-limit", "1", "-o", folder / "out")
    return folder / "out" / "model.rsk", run("compress", "--train", table, *options)


def test_compress(made):
    assert made[1].code == 0, made[1].err
    assert_harmless(made[1].out + made[1].err)
    assert "classification of y\\x1b]0;title\\x07" in made[1].out


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
def test_inspect(run, nasty, made, options):
    result = run("inspect", made[0], *options)
    assert result.code == 0
    assert_harmless(result.out)
    if options:
        assert json.loads(result.out)["metadata"]["target"] == f"y{NASTY}"
        assert json.loads(result.out)["classes"] == [f"down{NASTY}", f"up{NASTY}"]


def test_notes(run, tmp_path):
    density = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=5, n_buckets=4, n_features=1)
    density.save(tmp_path / "d.rsk", {"key\x9b\u202e": [f"value{NASTY}"], "other": f"{NASTY}"})
    result = run("inspect", tmp_path / "d.rsk")
    assert_harmless(result.out)
    assert "note: key\\x9b\\u202e" in result.out
    assert ":smile:" in result.out.replace("\n", "")  # rich neither draws it nor reads markup


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_predictions_are_data_in_a_pipe_and_escaped_on_a_terminal(run, nasty, made, monkeypatch):
    result = run("predict", made[0], nasty[1], "--proba")
    assert f"down{NASTY}" in result.out
    as_json = run("predict", made[0], nasty[1], "--json").out
    assert set(json.loads(as_json)["predictions"]) <= {f"down{NASTY}", f"up{NASTY}"}
    assert_harmless(as_json)
    monkeypatch.setattr(io, "StringIO", Terminal)  # what ``run`` prints to
    result = run("predict", made[0], nasty[1], "--proba")
    assert_harmless(result.out)
    assert result.out.count("\n") == 61
    assert "up\\x1b]0;title" in result.out


def test_messages(run, nasty, made):
    folder, table = nasty
    for arguments in (
        ("predict", made[0], folder / "no.csv"),
        ("inspect", folder / "no.rsk"),
        ("compress", "--train", table, "-t", f"z{NASTY}"),
        ("compress", "--train", table, "-t", "-1", "--drop", f"z\n{NASTY}"),
    ):
        result = run(*arguments)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert_harmless(result.err)
