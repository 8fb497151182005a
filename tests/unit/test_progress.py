"""Bars are drawn for a person at a terminal and for nobody else."""

import io
import sys

import pytest

from repsketch.progress import progress_bar, track


class Terminal(io.StringIO):
    """What is written to a screen."""

    def isatty(self):
        return True


def test_nothing_is_drawn_without_a_terminal(capfd):
    with progress_bar("hashing", total=2) as bar:
        bar.advance(note="half")
        bar.advance()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("total", [2, None], ids=["known", "unknown"])
def test_a_terminal_gets_a_bar_unless_switched_off(capfd, monkeypatch, enabled, total):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("hashing", total=total, enabled=enabled) as bar:
        bar.advance(2, note="validation error 0.5")
    assert ("hashing" in screen.getvalue()) is enabled
    assert ("validation error 0.5" in screen.getvalue()) is enabled
    assert capfd.readouterr() == ("", "")


def test_nothing_is_drawn_without_rich(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setitem(sys.modules, "rich", None)
    with progress_bar("hashing", total=1) as bar:
        bar.advance()
    assert screen.getvalue() == ""


def test_errors_pass_through():
    with pytest.raises(KeyboardInterrupt), progress_bar("hashing", total=1):
        raise KeyboardInterrupt


def test_track_yields_every_item():
    assert list(track(iter("abc"), "letters", 3)) == ["a", "b", "c"]
