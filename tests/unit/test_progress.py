"""Bars are drawn on terminals and in notebooks; elsewhere a line is logged now and then."""

import io
import logging
import re
import sys
import types

import pytest

from repsketch import progress
from repsketch.progress import log_to_stderr, notify, progress_bar, track


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


def test_a_long_note_stays_on_one_line_of_a_terminal(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with progress_bar("searching", total=4) as bar:
        bar.advance(1, note="first words of it, " + 6 * "and some more of them, ")
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    last = [line for line in drawn.splitlines() if line.strip()][-1]
    assert re.search(r"^searching .* 25% .* first words of it, and some .*…$", last)


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only where a test says so."""
    now = types.SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(progress, "monotonic", lambda: now.seconds)
    return now


class TestLines:
    def test_what_is_done_soon_is_not_logged(self, clock, caplog):
        caplog.set_level(logging.INFO, "repsketch")
        with progress_bar("hashing", total=2) as bar:
            clock.seconds += 1.9
            bar.advance(2)
        assert caplog.messages == []

    def test_a_line_now_and_then_and_one_at_the_end(self, clock, caplog):
        caplog.set_level(logging.INFO, "repsketch")
        with progress_bar("hashing", total=400) as bar:
            for _ in range(100):  # seconds
                clock.seconds += 1.0
                bar.advance(4, note="error 0.5")
        assert caplog.messages == [
            *(f"hashing: {percent}%, error 0.5" for percent in (2, 32, 62, 92)),  # and as many seconds
            "hashing: done after 100 s",
        ]
        assert {(record.name, record.levelname) for record in caplog.records} == {("repsketch.progress", "INFO")}

    def test_unknown_totals_and_errors(self, clock, caplog):
        caplog.set_level(logging.INFO, "repsketch")

        def fail():
            with progress_bar("reading", total=None) as bar:
                clock.seconds += 60.0
                bar.advance()
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert caplog.messages == ["reading: running", "reading: stopped after 60 s"]

    def test_switched_off(self, clock, caplog):
        caplog.set_level(logging.INFO, "repsketch")
        with progress_bar("reading", total=None, enabled=False) as bar:
            clock.seconds += 60.0
            bar.advance()
        assert caplog.messages == []

    @pytest.mark.parametrize("is_program", [True, False])
    def test_programs_print_them(self, clock, capfd, monkeypatch, is_program):
        monkeypatch.setattr(progress._log, "handlers", [])
        monkeypatch.setattr(progress._log, "level", logging.NOTSET)
        for _ in range(2 * is_program):  # the second call changes nothing
            log_to_stderr()
        with progress_bar("hashing", total=2) as bar:
            clock.seconds += 60.0
            bar.advance()
        printed = "repsketch: hashing: 50%\nrepsketch: hashing: done after 60 s\n"
        assert capfd.readouterr() == ("", printed if is_program else "")
        progress._log.manager._clear_cache()  # of which levels are enabled


class TestNotebooks:
    @pytest.fixture
    def drawn(self, monkeypatch):
        """What a notebook shows, drawing by drawing."""
        drawn = []
        handle = types.SimpleNamespace(update=lambda bar: drawn.append((repr(bar), bar._repr_html_())))

        def display(bar, display_id):
            handle.update(bar)
            return handle

        ipython = types.ModuleType("IPython")
        ipython.display = types.SimpleNamespace(display=display)
        ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        return drawn

    def test_a_bar_is_drawn_in_one_place(self, clock, drawn, capfd):
        with progress_bar("fitting <b>", total=4) as bar:
            clock.seconds += 9.0
            bar.advance(1, note="error < 1")
            bar.advance(1, note="too soon to be drawn")
        assert drawn == [
            ("fitting <b>: 0%", '<progress value="0.000"></progress> fitting &lt;b&gt;: 0%'),
            (
                "fitting <b>: 25%, error < 1",
                '<progress value="0.250"></progress> fitting &lt;b&gt;: 25%, error &lt; 1',
            ),
            ("fitting <b>: done after 9 s", "fitting &lt;b&gt;: done after 9 s"),
        ]
        assert capfd.readouterr() == ("", "")

    def test_ipython_in_a_terminal_is_none(self, drawn, monkeypatch):
        monkeypatch.setattr(sys.modules["IPython"], "get_ipython", object)
        with progress_bar("hashing", total=1) as bar:
            bar.advance()
        assert drawn == []


@pytest.mark.parametrize("enabled", [True, False])
def test_a_notice_is_logged_and_shown_to_who_sees_progress(caplog, capfd, enabled):
    notify(logging.getLogger("repsketch.train"), "no copy", enabled=enabled)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [("WARNING", "no copy")]
    assert capfd.readouterr() == ("", "repsketch: no copy\n" if enabled else "")
