"""A stream of batches trains the very same model as the table it was cut from, and leaves nothing behind."""

import gc
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from repsketch import distill
from repsketch.errors import InputError, TeacherError
from repsketch.paper.batches import collect
from support.cases import case

QUICK = {"n_points": 12, "n_components": 2, "n_epochs": 2, "batch_size": 64, "progress": False}


def values(X):
    X = np.asarray(X.todense()) if sp.issparse(X) else np.asarray(X)
    return np.sin(X[:, 0]) + 0.5 * X[:, 1]


@pytest.fixture(scope="module")
def X():
    X = np.random.default_rng(0).normal(size=(200, 4))
    return np.where(X > -0.5, X, 0.0)


def cut(X):
    """Batches of uneven sizes, one of a single row."""
    return [X[:70], X[70:71], X[71:200]]


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where temporary files go during the test; torch may put a folder of its own there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left_behind(folder: Path) -> list[str]:
    gc.collect()
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("repsketch*/**"))


STREAMS = {
    "generator": lambda X: (batch for batch in cut(X)),
    "iterator": lambda X: iter(cut(X)),
    "function": lambda X: lambda: iter(cut(X)),
    "function of a list": lambda X: lambda: cut(X),
    "list": cut,
    "tuple": lambda X: tuple(cut(X)),
    "one batch": lambda X: [X],
    "rows one by one": lambda X: (X[i : i + 1] for i in range(len(X))),
    "CSR": lambda X: [sp.csr_matrix(batch) for batch in cut(X)],
    "CSR arrays": lambda X: (sp.csr_array(batch) for batch in cut(X)),
    "lists of lists": lambda X: (batch.tolist() for batch in cut(X)),
}


def bytes_of(model):
    return [getattr(model, name).tobytes() for name in ("points", "weights", "bias", "projection")]


def test_a_stream_gives_the_bytes_of_the_table(X, temporary):
    expected = bytes_of(distill(values, X, **QUICK))
    for name, stream in STREAMS.items():
        with case(name):
            assert bytes_of(distill(values, stream(X), **QUICK)) == expected
            assert left_behind(temporary) == []


def test_the_stream_is_stored_in_a_temporary_file(X, temporary):
    sizes = []

    def teacher(batch):
        sizes.append(sum(path.stat().st_size for path in temporary.glob("repsketch*/*")))
        return values(batch)

    distill(teacher, iter([X] * 40), **QUICK)
    # Files are written through a buffer of at most some pages; 4 bytes a number.
    assert sizes[-1] > 4 * X.size * 20
    assert left_behind(temporary) == []


def test_a_list_of_rows_is_a_table(X):
    assert bytes_of(distill(values, X.tolist(), **QUICK)) == bytes_of(distill(values, X, **QUICK))


def with_nan(X):
    X = X.copy()
    X[30, 1] = np.nan
    return X


def interrupted(X):
    yield X[:50]
    raise KeyboardInterrupt


BAD_STREAMS = {
    "no batches": (lambda X: iter([]), InputError, "X is a stream without batches; at least one"),
    "an empty batch": (lambda X: iter([X, X[:0]]), InputError, "a batch of X .* at least one row"),
    "another width": (lambda X: iter([X, X[:, :2]]), InputError, "a batch of X has 2 features, .* 4"),
    "a vector": (lambda X: iter([X[0]]), InputError, r"a batch of X has shape \(4,\).*2 dimensions"),
    "text": (lambda X: "abcd", InputError, "not numbers"),
    "NaN": (lambda X: iter([X[:40], with_nan(X)]), InputError, "a batch of X holds NaN at row 30, column 1"),
    "Ctrl-C": (interrupted, KeyboardInterrupt, None),
    "a function that returns nothing": (
        lambda X: lambda: None,
        InputError,
        "function that returned None; a stream must",
    ),
}


@pytest.mark.parametrize(("stream", "error", "words"), BAD_STREAMS.values(), ids=BAD_STREAMS)
def test_a_bad_stream_is_refused_and_leaves_nothing_behind(X, temporary, stream, error, words):
    with pytest.raises(error, match=words) as caught:
        distill(values, stream(X), **QUICK)
    # The traceback still holds every frame here, as it does at a prompt: clearing up must not wait for it.
    assert caught.value.__traceback__ is not None
    assert left_behind(temporary) == []


def test_a_teacher_that_fails_on_a_later_batch(X, temporary):
    def teacher(batch):
        if len(batch) == 1:
            raise RuntimeError("no single rows")
        return values(batch)

    with pytest.raises(TeacherError, match="no single rows") as caught:
        distill(teacher, iter(cut(X)), **QUICK)
    assert caught.value.__traceback__ is not None
    assert left_behind(temporary) == []


def test_labels_and_streams_do_not_go_together(X):
    labels = collect(values, X, None, None).labels
    with pytest.raises(InputError, match="stream of batches; pass the model itself"):
        distill(labels, iter(cut(X)), **QUICK)
    with pytest.raises(InputError, match=r"teacher outputs has shape \(200, 1\); allowed is \(199,\)"):
        distill(labels, X[:-1], **QUICK)
