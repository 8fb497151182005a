"""What tests of several rooms share."""

from dataclasses import replace

import pytest


@pytest.fixture
def brief_search(monkeypatch):
    """A search of few and short fits, compared with nobody, for tests that ask for anything but accuracy."""
    from repsketch.compare import peers as quick
    from repsketch.train import recipes, search

    brief = (replace(effort, n_steps=30, refits=effort.refits[:2]) for effort in search.EFFORTS)
    monkeypatch.setattr(search, "EFFORTS", search.Efforts(*brief))
    monkeypatch.setattr(recipes, "N_FIRST", 2)
    monkeypatch.setattr(search, "CLIMBED", 6)
    monkeypatch.setattr(search, "N_FINAL", 1)
    monkeypatch.setattr(quick, "fit_peers", lambda *_, **__: ([], {}))
