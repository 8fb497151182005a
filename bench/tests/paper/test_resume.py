"""A run that is stopped by Ctrl-C ends at once and goes on where it stopped. Slow, and only with REPSKETCH_DATA."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("REPSKETCH_DATA" not in os.environ, reason="REPSKETCH_DATA is not set: no real data"),
]


def start(folder):
    command = [sys.executable, "-c", "from repsketch.cli import main; main()"]
    command += ["paper", "abalone", "--quick", "--no-budget-curve"]
    command += ["--cache", str(folder / "cache"), "-o", str(folder / "out")]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_listen_to_ctrl_c
    )


def _listen_to_ctrl_c():
    """What a shell starts in the background ignores Ctrl-C, and so does all that is started from there."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def stored_jobs(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "cache" / "jobs").glob("*.json")}


def test_ctrl_c_loses_nothing_that_was_found(tmp_path):
    run = start(tmp_path)
    while not stored_jobs(tmp_path):
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, message = run.communicate(timeout=30)
    assert run.returncode != 0
    assert "Traceback" not in message
    before = stored_jobs(tmp_path)
    again = start(tmp_path)
    printed, message = again.communicate(timeout=300)
    assert again.returncode == 0, message
    assert "Table 1" in printed
    after = stored_jobs(tmp_path)
    assert {name: after[name] for name in before} == before
    assert len(after) > len(before)
