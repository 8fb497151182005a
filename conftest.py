"""Settings of every test process, made before NumPy, SciPy and torch are imported; fixtures of several rooms."""

import os
from dataclasses import replace

import pytest

# Without it scikit-learn skips one of its estimator checks.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# One thread a process: pytest-xdist already fills the cores, and OpenMP's waiting threads would fight.
if "PYTEST_XDIST_WORKER" in os.environ:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@pytest.fixture
def brief_search(monkeypatch):
    """A search of few and short fits, compared with nobody, for tests that ask for anything but accuracy."""
    from repsketch.compare import peers as quick
    from repsketch.train import recipes, search

    brief = (replace(effort, n_steps=30, refits=effort.refits[:2]) for effort in search.EFFORTS)
    monkeypatch.setattr(search, "EFFORTS", search.Efforts(*brief))
    monkeypatch.setattr(recipes, "N_FIRST", 2)
    monkeypatch.setattr(search, "CLIMBED", 6)
    monkeypatch.setattr(search, "N_THOROUGH", 1)
    monkeypatch.setattr(quick, "fit_peers", lambda *_, **__: ([], {}))
