"""Splits, and every kind of file in which a dataset can lie in REPSKETCH_DATA."""

import bz2
import gzip
import io
import lzma
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from repsketch.errors import InputError
from repsketch_bench import datasets, sources
from repsketch_bench.datasets import load_split, split_rows
from repsketch_bench.sources import DIGESTS, SOURCES, Source, content_digest, read_archive, read_files

DATA = os.environ.get("REPSKETCH_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="REPSKETCH_DATA is not set: no real data")
N_TRAIN, N_TEST = 90, 30
X = np.random.default_rng(0).integers(0, 5, (N_TRAIN + N_TEST, 3)).astype(np.float32)
Y = np.arange(N_TRAIN + N_TEST) % 2
TINY = Source(
    *("classification", "tiny_sample.npz", 3, N_TRAIN, N_TEST, ("f4", "i1"), ("binary/TINY.bz2", "binary/TINY.t.bz2")),
    uci=("TINY.csv", "tiny"),
    note="TINY: some rows.",
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty REPSKETCH_DATA, no downloads, and a dataset called tiny."""
    monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("REPSKETCH_LIBSVM", "off")
    monkeypatch.setitem(SOURCES, "tiny", TINY)
    monkeypatch.setattr(sources, "BLOCK_BYTES", 300)  # a dozen lines: files are read in many blocks
    return tmp_path


def as_csv(X, y) -> bytes:
    text = io.StringIO()
    np.savetxt(text, np.column_stack([y, X]), delimiter=",", fmt="%.18e")
    return text.getvalue().encode()


def as_libsvm(X, y) -> bytes:
    text = io.BytesIO()
    dump_svmlight_file(X, y, text, zero_based=False)
    return text.getvalue()


def as_zip(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("notes.txt", "1,2")
        archive.writestr(name, content)
    return file.getvalue()


def error_of(call, *args, **kwargs) -> str:
    """The one line that ``call`` fails with."""
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def n_groups(X) -> int:
    return len({row.tobytes() for row in X})


class TestRegistry:
    def test_the_six(self):
        assert list(SOURCES) == list(datasets.PAPER_SIZES) == ["a9a", "phishing", "skin", "susy", "abalone", "yearmsd"]

    def test_samples_are_the_sets_without_a_digest_and_say_so(self):
        assert [name for name, source in SOURCES.items() if source.is_subset] == ["susy", "yearmsd"]
        assert [name for name, source in SOURCES.items() if source.digest is None] == ["susy", "yearmsd"]
        assert "40,924 of 5,000,000" in SOURCES["susy"].note
        assert "8,162 of 515,345" in SOURCES["yearmsd"].note

    def test_unknown(self):
        message = error_of(load_split, "iris")
        assert "'iris'" in message
        assert all(name in message for name in SOURCES)


class TestDigest:
    def test_any_layout_and_byte_order_give_the_same(self):
        known = content_digest(X, Y)
        assert content_digest(np.asfortranarray(X), Y.astype(">i8")) == known
        assert content_digest(np.repeat(X, 2, axis=0)[::2], Y) == known

    @pytest.mark.parametrize(
        "other",
        [
            (X.astype(np.float64), Y),
            (X, Y.astype(np.int8)),
            (X[::-1], Y),
            (X, Y[::-1]),
            (X + np.eye(len(X), 3, dtype=np.float32), Y),
            (X.reshape(-1, 6), Y),
            (X[:-1], Y),
        ],
    )
    def test_any_change_is_seen(self, other):
        assert content_digest(*other) != content_digest(X, Y)


class TestSplitRows:
    def test_the_plain_split_is_the_first_fifth_of_a_permutation(self):
        """Teachers in caches and published numbers depend on it, so NumPy's generator must draw the same as ever."""
        train, test = split_rows(np.zeros((11, 1)), 3)
        assert (test.tolist(), train.tolist()) == ([9, 7], [0, 2, 1, 4, 6, 10, 5, 3, 8])

    @pytest.mark.parametrize("together", [False, True])
    def test_every_row_once_the_same_for_the_same_seed(self, together):
        split = split_rows(X, 1, keep_duplicates_together=together)
        again = split_rows(X, 1, keep_duplicates_together=together)
        other = split_rows(X, 2, keep_duplicates_together=together)
        assert sorted(np.concatenate(split)) == list(range(len(X)))
        assert [list(places) for places in split] == [list(places) for places in again]
        assert [list(places) for places in split] != [list(places) for places in other]

    @pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
    @pytest.mark.parametrize("seed", range(5))
    def test_equal_rows_stay_together(self, seed, dtype):
        rows = np.random.default_rng(seed).integers(0, 12, (2000, 2)).astype(dtype)
        largest = max(np.unique(rows, axis=0, return_counts=True)[1])
        for together in (False, True):
            train, test = (rows[places] for places in split_rows(rows, seed, keep_duplicates_together=together))
            is_disjoint = n_groups(train) + n_groups(test) == n_groups(rows)
            assert is_disjoint == together  # the plain split does put equal rows on both sides
            assert abs(len(test) - 400) <= largest / 2

    def test_sorted_rows_leave_in_random_order(self):
        rows = np.repeat(np.arange(100), 10)[:, None]
        for places in split_rows(rows, 0, keep_duplicates_together=True):
            assert (np.diff(rows[places, 0]) < 0).any()

    def test_zeros_of_both_signs_are_equal(self):
        rows = np.array([[0.0], [-0.0]] * 10 + [[1.0]] * 5)
        for seed in range(8):
            _, test = split_rows(rows, seed, keep_duplicates_together=True)
            assert sorted(test) in ([*range(20)], [*range(20, 25)])

    def test_both_sides_get_rows(self):
        rows = np.array([[0]] * 99 + [[1]])
        for seed in range(4):
            train, test = split_rows(rows, seed, keep_duplicates_together=True)
            assert {len(train), len(test)} == {1, 99}
        assert "all rows are equal" in error_of(split_rows, rows[:99], 0, keep_duplicates_together=True)


class TestArchives:
    def test_labels_and_sides(self, folder, monkeypatch):
        monkeypatch.setitem(SOURCES, "tiny", replace(TINY, n_test=0))
        np.savez(folder / TINY.file, X=X, y=np.where(X[:, 0] > 2, 1, 2))
        for together in (False, True):
            split = load_split("tiny", keep_duplicates_together=together)
            assert (split.y_train.dtype, split.note, split.is_subset) == (np.int64, TINY.note, True)
            np.testing.assert_array_equal(split.y_train, split.X_train[:, 0] > 2)
            np.testing.assert_array_equal(split.y_test, split.X_test[:, 0] > 2)
            assert len(split.X_train) + len(split.X_test) == len(X)
            assert together == (n_groups(split.X_train) + n_groups(split.X_test) == n_groups(X))

    def test_a_published_split_is_used_as_it_is(self, folder):
        np.savez(folder / TINY.file, X_train=X[:7], y_train=Y[:7], X_test=X[7:9], y_test=Y[7:9])
        split = load_split("tiny", 5)
        np.testing.assert_array_equal(split.X_train, X[:7])
        np.testing.assert_array_equal(split.X_test, X[7:9])
        assert (list(split.y_train), list(split.y_test)) == (list(Y[:7]), list(Y[7:9]))
        assert "keep_duplicates_together must be False" in error_of(load_split, "tiny", keep_duplicates_together=True)

    def test_origins(self, folder, monkeypatch):
        monkeypatch.setitem(SOURCES, "tiny", replace(TINY, task="regression", test_origin=1))
        np.savez(folder / TINY.file, X=X, y=np.arange(len(X)), origin=np.arange(len(X)) % 3)
        split = load_split("tiny")
        assert (split.y_test.dtype, list(split.y_test)) == (np.float64, list(range(1, len(X), 3)))
        assert set(split.y_train % 3) == {0, 2}

    @pytest.mark.parametrize("damage", ["cut", "text", "empty", "pickle", "other arrays", "no archive", "lengths"])
    def test_broken(self, folder, damage):
        path, file = folder / TINY.file, io.BytesIO()
        np.savez(file, X=X, y=Y)
        if damage == "pickle":
            np.savez(path, X=np.array([{}]), y=Y)
        elif damage == "other arrays":
            np.savez(path, rows=X)
        elif damage == "no archive":
            np.save(file := io.BytesIO(), X)
            path.write_bytes(file.getvalue())
        elif damage == "lengths":
            np.savez(path, X=X, y=Y[1:])
        else:
            path.write_bytes({"cut": file.getvalue()[:-200], "text": b"<html>", "empty": b""}[damage])
        message = error_of(load_split, "tiny")
        assert message.startswith(f"{path} cannot be read (")
        assert message.endswith("replace it by a complete file.")

    def test_nowhere(self, folder):
        message = error_of(load_split, "tiny")
        assert (
            f"tiny_sample.npz not found: set REPSKETCH_DATA to a folder with tiny_sample.npz (now '{folder}')"
            in message
        )


INTEGER = {
    "TINY.csv": as_csv(X, Y),
    "TINY.csv.gz": gzip.compress(as_csv(X, Y)),
    "tiny.zip": as_zip("SUSY.csv.gz", gzip.compress(as_csv(X, Y))),
    "tiny.xz": lzma.compress(as_libsvm(X, Y)),
    "tiny": as_libsvm(X, 2 * Y - 1),
}


class TestCompleteFiles:
    def check(self, split):
        np.testing.assert_array_equal(split.X_train, X[:N_TRAIN])
        np.testing.assert_array_equal(split.X_test, X[N_TRAIN:])
        assert (list(split.y_train), list(split.y_test)) == (list(Y[:N_TRAIN]), list(Y[N_TRAIN:]))
        assert (split.X_train.dtype, split.note, split.is_subset) == (np.float32, "", False)

    @pytest.mark.parametrize("name", INTEGER)
    def test_the_last_rows_of_one_file_are_the_test_set(self, folder, name):
        (folder / name).write_bytes(INTEGER[name])
        self.check(load_split("tiny", 7))

    @pytest.mark.parametrize(("ending", "compress"), [("", bytes), (".bz2", bz2.compress), (".xz", lzma.compress)])
    def test_two_files(self, folder, ending, compress):
        (folder / f"TINY{ending}").write_bytes(compress(as_libsvm(X[:N_TRAIN], Y[:N_TRAIN])))
        assert "not found" in error_of(load_split, "tiny")
        (folder / f"TINY.t{ending}").write_bytes(compress(as_libsvm(X[N_TRAIN:], Y[N_TRAIN:])))
        self.check(load_split("tiny"))

    def test_an_archive_comes_first(self, folder):
        (folder / "TINY.csv").write_bytes(INTEGER["TINY.csv"])
        np.savez(folder / TINY.file, X_train=X[:7], y_train=Y[:7], X_test=X[7:9], y_test=Y[7:9])
        assert load_split("tiny").is_subset

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("TINY.csv", as_csv(X[1:], Y[1:]), "has 119 rows; 120 are expected"),
            ("TINY.csv", as_csv(X[[0, *range(120)]], Y[[0, *range(120)]]), "has 121 rows; 120 are expected"),
            ("TINY.csv", b"", "has 0 rows"),
            ("TINY.csv", as_csv(X[:, 1:], Y), "3 columns; 4 are expected"),
            ("TINY.csv", as_csv(X, Y + 0.5), "a value that int8 cannot hold"),
            ("TINY.csv", as_csv(X, Y + 200), "a value that int8 cannot hold"),
            ("TINY.csv", as_csv(X * np.float32("nan"), Y), "a value that float32 cannot hold"),
            ("TINY.csv", as_csv(X, Y)[:-20] + b"oops\n", "could not convert"),
            ("tiny", as_libsvm(np.column_stack([X, Y + 1]), Y), "n_features"),
            ("tiny", b"<html> not here </html>\n", "could not convert"),
            ("TINY.csv.gz", INTEGER["TINY.csv.gz"][:-100], "end-of-stream"),
            ("TINY.csv.gz", b"1,2,3,4\n", "gzip"),
            ("tiny.xz", INTEGER["tiny.xz"][:-40], "end-of-stream"),
            ("tiny.xz", b"nothing", "format"),
            ("tiny.zip", INTEGER["tiny.zip"][:100], "zip file"),
        ],
        ids=lambda value: value if isinstance(value, str) else "bytes",  # an archive holds the time: no name for a test
    )
    def test_broken(self, folder, name, content, reason):
        (folder / name).write_bytes(content)
        message = error_of(load_split, "tiny")
        assert message.startswith(str(folder / name))
        assert reason in message

    def test_a_wrong_digest(self, folder, monkeypatch):
        (folder / "TINY.csv").write_bytes(INTEGER["TINY.csv"])
        right = content_digest(X, Y.astype(np.int8))
        monkeypatch.setitem(SOURCES, "tiny", replace(TINY, digest=right))
        self.check(load_split("tiny"))
        monkeypatch.setitem(SOURCES, "tiny", replace(TINY, digest="0" * 64))
        message = error_of(load_split, "tiny")
        assert all(text in message for text in (str(folder / "TINY.csv"), right, "0" * 64, "replace it"))

    def test_of_a_pattern_only_the_zeros_count(self, folder):
        (folder / "TINY.csv").write_bytes(as_csv((X > 2) * 0.18257, Y))
        pattern = replace(TINY, dtypes=("u1", "i1"), is_pattern=True)
        np.testing.assert_array_equal(read_files(pattern, [folder / "TINY.csv"]).X, X > 2)

    @pytest.mark.parametrize(
        ("name", "file"),
        [
            *[("susy", file) for file in ("SUSY", "SUSY.bz2", "SUSY.xz", "SUSY.csv.gz", "SUSY.csv", "susy.zip")],
            *[
                ("yearmsd", file)
                for file in ("YearPredictionMSD.txt", "YearPredictionMSD.zip", "yearpredictionmsd.zip")
            ],
            *[("yearmsd", "YearPredictionMSD.txt.zip"), ("skin", "skin_nonskin"), ("abalone", "abalone")],
        ],
    )
    def test_names(self, tmp_path, name, file):
        (tmp_path / file).touch()
        assert SOURCES[name].find(tmp_path) == [tmp_path / file]

    def test_names_of_pairs(self, tmp_path):
        for name, files in (
            ("a9a", ["a9a", "a9a.t"]),
            ("yearmsd", ["YearPredictionMSD.bz2", "YearPredictionMSD.t.bz2"]),
        ):
            for file in files:
                (tmp_path / file).touch()
            assert SOURCES[name].find(tmp_path) == [tmp_path / file for file in files]


@needs_data
class TestRealData:
    @pytest.mark.parametrize("name", DIGESTS)
    def test_digests(self, name):
        rows = read_archive(SOURCES[name], Path(DATA) / SOURCES[name].file)
        assert content_digest(rows.X, rows.y) == DIGESTS[name]
        assert (rows.X.dtype, rows.y.dtype) == SOURCES[name].dtypes

    @pytest.mark.parametrize(
        ("name", "n_train", "n_test", "positives"),
        [
            ("a9a", 32561, 16281, 7841 + 3846),
            ("phishing", 8844, 2211, 6157),
            ("skin", 196046, 49011, 50859),
            ("susy", 32740, 8184, None),
            ("abalone", 3342, 835, None),
            ("yearmsd", 6162, 2000, None),
        ],
    )
    def test_sizes(self, name, n_train, n_test, positives):
        split, source = load_split(name), SOURCES[name]
        assert split.X_train.shape == (n_train, source.n_features)
        assert split.X_test.shape == (n_test, source.n_features)
        assert split.is_subset == source.is_subset
        if source.task == "classification":
            assert positives in (None, split.y_train.sum() + split.y_test.sum())
            assert set(split.y_test) == {0, 1}
        if not source.is_subset:
            assert n_train + n_test == source.n_train + source.n_test

    @pytest.mark.parametrize("name", ["phishing", "skin", "susy", "abalone"])
    def test_duplicates_together(self, name):
        split = load_split(name, 1, keep_duplicates_together=True)
        train, test = ({row.tobytes() for row in X} for X in (split.X_train, split.X_test))
        assert not train & test
        share = len(split.X_test) / (len(split.X_train) + len(split.X_test))
        assert share == pytest.approx(0.2, abs=0.005)

    @pytest.mark.parametrize("name", ["a9a", "yearmsd"])
    def test_published_splits_are_not_touched(self, name):
        assert "published split" in error_of(load_split, name, keep_duplicates_together=True)

    @pytest.mark.parametrize("name", ["a9a", "phishing", "abalone"])
    def test_the_files_of_libsvm_would_pass(self, name, tmp_path, monkeypatch):
        expected = load_split(name)
        rows = read_archive(SOURCES[name], Path(DATA) / SOURCES[name].file)
        values = rows.X * (0.18257 if name == "phishing" else 1.0)
        for file, places in zip(SOURCES[name].remote, rows.given_split or [slice(None)], strict=True):
            (tmp_path / Path(file).name).write_bytes(as_libsvm(values[places], rows.y[places]))
        monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path))
        split = load_split(name)
        for key in ("X_train", "y_train", "X_test", "y_test"):
            np.testing.assert_array_equal(getattr(split, key), getattr(expected, key))
