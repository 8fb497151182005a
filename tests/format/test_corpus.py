"""Inputs that a coverage-guided fuzzer found: each reaches something that no other one does.

``native/tests/fuzz.sh`` finds them and says how to refresh ``corpus.zip``. Here both readers, the C runtime and the
oracle go through all of them.
"""

import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from repsketch.io import Status
from repsketch.model.oracle import query
from repsketch.runtime.native import NativeRuntime
from repsketch.sketch import from_bytes
from support.models import SPECIAL
from support.rsk.build import _native as native
from support.rsk.build import native_status, python_status

N_ROWS = 3
MAX_WORK = 50_000  # operations a row that the oracle has time for


@pytest.fixture(scope="module")
def corpus():
    with zipfile.ZipFile(Path(__file__).parent / "corpus.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_both_readers_agree(corpus):
    seen: Counter[Status] = Counter()
    different = {}
    for name, data in corpus.items():
        statuses = python_status(data), native_status(data)
        seen[statuses[1]] += 1
        if statuses[0] != statuses[1]:
            different[name] = statuses
    assert not different
    assert seen[Status.OK] > 100
    assert len(seen) > 30


def test_accepted_files_predict_as_the_oracle_does(corpus):
    n_compared, rng = 0, np.random.default_rng(0)
    for name, data in corpus.items():
        if native_status(data) != Status.OK:
            continue
        memory, work, taken = native.file_totals(data)
        assert taken <= memory, name
        if work > MAX_WORK:
            continue
        model = from_bytes(data, use_native=False).model
        numbers = np.concatenate([SPECIAL, rng.normal(size=30).astype(np.float32)])
        X = rng.choice(numbers, (N_ROWS, model.n_features))
        wanted, found = query(model, X), NativeRuntime(model).outputs(X)
        assert np.isfinite(wanted).all(), name
        np.testing.assert_array_equal(found.view(np.int32), wanted.view(np.int32), name)
        n_compared += 1
    assert n_compared > 100
