"""Settings of every test process, made before NumPy, SciPy and torch are imported; fixtures of several rooms."""

import os
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings

# Without it scikit-learn skips one of its estimator checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# One thread a process: pytest-xdist already fills the cores, and OpenMP's waiting threads would fight.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


# Examples are derandomised: the same ones in every run, on every machine. No deadline and no check of speed: a busy
# machine must not turn a law red. `make test-slow` runs the laws with --hypothesis-profile=many.
for name, n_examples in (("many", 200), ("few", 25)):
    settings.register_profile(
        name,
        derandomize=True,
        max_examples=n_examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile(name)


def pytest_collectreport():
    """Put public functions back: pytest imports compress.py by its path, and calls it ``repsketch.compress``."""
    package = sys.modules.get("repsketch")
    for name in getattr(package, "__all__", ()):
        function = getattr(vars(package).get(name), name, None)
        if callable(function):
            setattr(package, name, function)


@pytest.fixture
def brief_effort():
    """The effort of a search of few and short fits, for tests of anything but accuracy."""
    from repsketch.train.effort import Rung, SearchEffort

    effort = SearchEffort(rungs=(Rung(6, 0, 60), Rung(3, 2, 200)), max_cost=3.0, full_rows=1, n_final=1)
    return effort.with_fits(lambda fit: replace(fit, refits=fit.refits[:2]))


@pytest.fixture
def brief_training(brief_effort, monkeypatch):
    """``compress`` with this effort, where no effort can be passed: the public call, the commands."""
    from repsketch.train import effort

    monkeypatch.setitem(effort.EFFORTS, "normal", brief_effort)


@pytest.fixture
def brief_search(brief_training, monkeypatch):
    """``compress`` with this effort and without peers."""
    from repsketch.compare import peers as quick

    monkeypatch.setattr(quick, "fit_peers_at", lambda data, budgets, **_: {nbytes: ([], {}) for nbytes in budgets})
