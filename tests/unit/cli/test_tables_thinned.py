"""With a time limit, a table of more cells than can be read in time is sampled."""

from repsketch.cli import tables
from repsketch.errors import InputError


def test_large_tables_are_sampled(run, people, tmp_path, monkeypatch):
    seen = []

    def compress(teacher, X, y, **_):
        seen.append((len(X), len(y)))
        raise InputError("enough")

    monkeypatch.setattr(tables, "_MIN_ROWS", 30)
    monkeypatch.setattr(tables, "_CELLS_PER_SECOND", 4 * 100)
    monkeypatch.setattr("repsketch.cli.compress.compress_model", compress)
    monkeypatch.setattr("repsketch.teacher.default.train_teacher", lambda *_: "a teacher")
    for options in ((), ("--time-limit", "1"), ("--time-limit", "0.001")):
        assert run("compress", "--train", people, "-t", "income", "-o", tmp_path / "out", *options).code == 2
    assert seen == [(400, 400), (100, 100), (30, 30)]
