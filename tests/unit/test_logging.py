"""The package logs under its own name, and a program that asks for no log sees none."""

import subprocess
import sys

SCRIPT = "import logging, repsketch; {}logging.getLogger('repsketch.teacher.out_of_fold').warning('no copy')"


def printed(setting: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(setting)], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stderr


def test_no_log_by_default():
    assert printed("") == ""
    assert printed("logging.basicConfig(); ") == "WARNING:repsketch.teacher.out_of_fold:no copy\n"
