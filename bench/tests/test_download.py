"""Downloads from a server on this machine: good, cut short, changed and missing files, and what is stored of them."""

import bz2
import io
import os
import threading
import urllib.error
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from sklearn.datasets import dump_svmlight_file

from repsketch.errors import InputError
from repsketch_bench import download
from repsketch_bench.datasets import load_split
from repsketch_bench.download import cache_folder, load_or_download
from repsketch_bench.sources import SOURCES, Source, content_digest

X = np.random.default_rng(0).integers(0, 5, (50, 3)).astype(np.uint8)
Y = (np.arange(50) % 2 + 1).astype(np.uint8)


def as_libsvm(X, y) -> bytes:
    text = io.BytesIO()
    dump_svmlight_file(X.astype(np.float64), y, text, zero_based=False)
    return text.getvalue()


TINY = Source(
    *("classification", "tiny.npz", 3, 40, 10, ("u1", "u1"), ("binary/tiny", "binary/tiny.t.bz2")),
    digest=content_digest(X, Y),
)
FILES = {
    "/data/binary/tiny": as_libsvm(X[:40], Y[:40]),
    "/data/binary/tiny.t.bz2": bz2.compress(as_libsvm(X[40:], Y[40:])),
}
STORED = ["tiny", "tiny.sha256", "tiny.t.bz2", "tiny.t.bz2.sha256"]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        if self.path not in self.server.without_length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: self.server.cut.get(self.path)])

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    """A server whose files a test may change; ``cut`` says where a response ends before its announced length."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.cut, server.without_length, server.requests = dict(FILES), {}, set(), []
        server.address = f"http://127.0.0.1:{server.server_port}/data"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch, server):
    """A cache of its own, no data and no proxy; the server in LIBSVM's place."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("REPSKETCH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("REPSKETCH_LIBSVM", server.address)
    monkeypatch.setitem(SOURCES, "tiny", TINY)
    return tmp_path / "repsketch"


def stored(cache) -> list[str]:
    return sorted(os.listdir(cache)) if cache.exists() else []


def error_of(call, *args, **kwargs) -> str:
    """The one line that ``call`` fails with."""
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def check(split):
    np.testing.assert_array_equal(split.X_train, X[:40])
    np.testing.assert_array_equal(split.X_test, X[40:])
    assert (list(split.y_train), list(split.y_test)) == (list(Y[:40] == 1), list(Y[40:] == 1))
    assert (split.X_train.dtype, split.note) == (np.uint8, "")


def test_a_second_load_needs_no_server(server, cache, monkeypatch):
    check(load_split("tiny"))
    assert (stored(cache), server.requests) == (STORED, list(FILES))
    assert (cache / "tiny").read_bytes() == FILES["/data/binary/tiny"]
    check(load_split("tiny"))
    monkeypatch.setenv("REPSKETCH_LIBSVM", "off")
    check(load_split("tiny"))
    assert len(server.requests) == 2


def test_after_a_failure_only_the_rest_is_fetched(server, cache):
    del server.files["/data/binary/tiny.t.bz2"]
    error_of(load_split, "tiny")
    assert stored(cache) == STORED[:2]
    server.files.update(FILES)
    check(load_split("tiny"))
    assert server.requests.count("/data/binary/tiny") == 1


def test_folder_and_address_as_arguments(server, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("REPSKETCH_LIBSVM", "off")
    rows = load_or_download(TINY, folder=tmp_path / "other", address=server.address + "/")
    np.testing.assert_array_equal(rows.X, X)
    assert (stored(cache), stored(tmp_path / "other")) == ([], STORED)


def test_the_folder_with_data_comes_first(server, tmp_path, monkeypatch):
    monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path))
    np.savez(tmp_path / "tiny.npz", X_train=X[:40], y_train=Y[:40], X_test=X[40:], y_test=Y[40:])
    check(load_split("tiny"))
    assert server.requests == []
    os.unlink(tmp_path / "tiny.npz")
    check(load_split("tiny"))
    assert server.requests == list(FILES)


@pytest.mark.parametrize("length", [0, 1, 100])
def test_a_download_that_breaks_off(server, cache, length):
    path, content = "/data/binary/tiny", FILES["/data/binary/tiny"]
    server.cut[path] = length
    message = error_of(load_split, "tiny")
    assert f"{path} broke off after {length} of {len(content)} bytes" in message
    assert stored(cache) == []
    server.cut.clear()
    check(load_split("tiny"))


def test_without_a_length_the_content_tells(server, cache):
    server.without_length.update(FILES)
    check(load_split("tiny"))
    for path in FILES:
        os.unlink(cache / path.rpartition("/")[2])
    server.cut["/data/binary/tiny.t.bz2"] = -20
    message = error_of(load_split, "tiny")
    assert message.startswith(f"{cache / 'tiny.t.bz2'} cannot be read (")
    assert "nothing was stored" in message
    assert stored(cache) == []


def test_other_content(server, cache):
    changed = X.copy()
    changed[3, 1] += 1
    server.files["/data/binary/tiny"] = as_libsvm(changed[:40], Y[:40])
    message = error_of(load_split, "tiny")
    assert all(text in message for text in (str(cache / "tiny"), content_digest(changed, Y), TINY.digest))
    assert "set REPSKETCH_DATA to a folder with tiny.npz" in message
    assert stored(cache) == []
    server.files.update(FILES)
    check(load_split("tiny"))


def test_without_a_digest_rows_are_counted(server, cache, monkeypatch):
    monkeypatch.setitem(SOURCES, "tiny", replace(TINY, digest=None))
    server.files["/data/binary/tiny"] = as_libsvm(X[:39], Y[:39])
    assert "has 39 rows; 40 are expected" in error_of(load_split, "tiny")
    assert stored(cache) == []


def test_later_damage(server, cache, monkeypatch):
    """Without a digest, and in a file that can still be read: only the remembered sha256 tells."""
    monkeypatch.setitem(SOURCES, "tiny", replace(TINY, digest=None))
    check(load_split("tiny"))
    content = (cache / "tiny").read_bytes()
    (cache / "tiny").write_bytes(content.replace(b"1:4", b"1:3", 1))
    message = error_of(load_split, "tiny")
    assert f"{cache / 'tiny'} has changed since its download" in message
    assert (cache / "tiny.sha256").read_text() in message
    (cache / "tiny").unlink()
    check(load_split("tiny"))


def test_files_put_there_by_hand(server, cache):
    cache.mkdir()
    for path, content in FILES.items():
        (cache / path.rpartition("/")[2]).write_bytes(content)
    check(load_split("tiny"))
    (cache / "tiny").write_bytes(FILES["/data/binary/tiny"].replace(b"1:4", b"1:3", 1))
    assert "wrong content" in error_of(load_split, "tiny")
    assert server.requests == []


def test_missing_files(server, cache):
    server.files.clear()
    message = error_of(load_split, "tiny")
    assert f"{server.address}/binary/tiny returns 404" in message
    assert "set REPSKETCH_DATA to a folder with tiny.npz (it is not set)" in message
    assert stored(cache) == []


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/data", "no address", "http://"])
def test_no_network(cache, monkeypatch, address):
    monkeypatch.setenv("REPSKETCH_LIBSVM", address)
    message = error_of(load_split, "tiny")
    assert message.startswith(
        "tiny.npz not found: set REPSKETCH_DATA to a folder with tiny.npz (it is not set), or connect"
    )
    assert "cannot be reached" in message
    assert stored(cache) == []


def test_downloads_forbidden(server, cache, monkeypatch):
    monkeypatch.setenv("REPSKETCH_LIBSVM", "off")
    assert "unset REPSKETCH_LIBSVM" in error_of(load_split, "tiny")
    assert (server.requests, stored(cache)) == ([], [])


def test_a_cache_that_cannot_be_written(cache):
    cache.write_text("a file where the folder should be")
    assert f"{cache / 'tiny'} cannot be written" in error_of(load_split, "tiny")


def test_where_the_cache_is(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(cache_folder()) == os.path.join("/somewhere", "repsketch")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", "/home/someone")
    assert str(cache_folder()) == os.path.join("/home/someone", ".cache", "repsketch")


class TestOpenML:
    """With a stand-in for scikit-learn's ``fetch_openml``: letters are numbered by their place in ``categories``."""

    LETTERS = np.array([2, 0, 1, 1, 2])  # M F I I M in the order of categories
    LENGTHS = np.array([0.455, 0.35, 0.53, 0.0, 0.1])
    RINGS = np.array([15, 7, 9, 10, 29], np.int8)
    EXPECTED = np.column_stack([[1, 2, 3, 3, 1], LENGTHS])
    ONE = Source(*("regression", "one.npz", 2, 5, 0, ("f8", "i1"), ("regression/one",)), openml=183)

    @pytest.fixture(autouse=True)
    def _openml(self, monkeypatch):
        table = SimpleNamespace(
            data=np.column_stack([self.LETTERS, self.LENGTHS]),
            target=self.RINGS.astype(str).astype(object),
            feature_names=["Sex", "Length"],
            categories={"Sex": ["F", "I", "M"]},
        )
        self.requests = []

        def fetch(**options):
            self.requests.append(options["data_id"])
            if isinstance(table.data, Exception):
                raise table.data
            return table

        self.table = table
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
        monkeypatch.setitem(SOURCES, "one", replace(self.ONE, digest=content_digest(self.EXPECTED, self.RINGS)))

    def test_stands_in_for_a_missing_file_once(self, cache):
        for _ in range(2):
            rows = load_or_download(SOURCES["one"])
            np.testing.assert_array_equal(rows.X, self.EXPECTED)
            np.testing.assert_array_equal(rows.y, self.RINGS)
        assert (self.requests, stored(cache)) == ([183], ["one", "one.sha256"])

    def test_is_not_requested_for_what_libsvm_has(self, server):
        server.files["/data/regression/one"] = as_libsvm(self.EXPECTED, self.RINGS)
        load_or_download(SOURCES["one"])
        assert self.requests == []

    def test_its_rows_are_checked_too(self, cache):
        self.table.categories = {"Sex": ["M", "I", "F"]}
        assert "wrong content" in error_of(load_or_download, SOURCES["one"])
        assert stored(cache) == []

    @pytest.mark.parametrize("error", [OSError("no route\nto host"), ValueError("Dataset 183 not found")])
    def test_its_failure_is_one_line(self, cache, error):
        self.table.data = error
        assert "one.npz not found" in error_of(load_or_download, SOURCES["one"])
        assert stored(cache) == []


def test_requests_to_openml_have_names_it_accepts(monkeypatch):
    """The real ``fetch_openml`` checks its arguments before it connects: without a network that is all it can say."""

    def unreachable(*arguments, **options):
        raise urllib.error.URLError("no network here")

    monkeypatch.setattr(sklearn.datasets._openml, "urlopen", unreachable)
    assert "OpenML failed (<urlopen error no network here>)" in error_of(load_or_download, TestOpenML.ONE)


def test_the_bar_moves_by_bytes(monkeypatch):
    seen = []

    class Bar:
        def __init__(self, title, total, **options):
            seen.append([title, total, 0])

        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def advance(self, steps, note=""):
            seen[-1][2] += steps

    monkeypatch.setattr(download, "progress_bar", Bar)
    load_split("tiny")
    sizes = [len(content) for content in FILES.values()]
    assert seen == [["downloading tiny", sizes[0], sizes[0]], ["downloading tiny.t.bz2", sizes[1], sizes[1]]]
