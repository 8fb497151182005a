"""Calls that take long, need much memory or many threads: they end on Ctrl-C, and never end the process."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from repsketch import lsh
from repsketch.io import model_to_bytes
from repsketch.lsh import RowHashes
from repsketch.model.inputs import Inputs
from repsketch.model.model import Model
from repsketch.model.rows import RowGroup
from repsketch.runtime.native import NativeRuntime

F = np.float32

pytestmark = [
    pytest.mark.skipif(not NativeRuntime.is_available(), reason="the C core is not installed"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are those of POSIX"),
]

MODEL = """
import os, signal, sys, threading
import numpy as np
from repsketch import lsh
from repsketch.lsh import RowHashes
from repsketch.runtime import runtime_for
from repsketch.model.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.rows import RowGroup

def make(n_rows, d, n_outputs=1, family=lsh.L2(1.0)):
    hashes = RowHashes(family, n_rows, 16, d, 2, seed=4)
    counters = np.ones((n_rows, 16, n_outputs), np.int8)
    group = RowGroup(hashes, counters, np.full(1, 0.1, np.float32), "int8")
    return runtime_for(Model(Inputs(d), None, (group,), np.zeros(n_outputs, np.float32)))
"""


def run(script: str, timeout: int = 120) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", MODEL + script], capture_output=True, text=True, timeout=timeout)


INTERRUPTED = """
from scipy.sparse import csr_matrix
runtime = make(20_000, 20)
row = np.ones(20, np.float32)
MAKE  # minutes or hours of work
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    outputs = CALL
except KeyboardInterrupt:
    print("interrupted")
assert runtime.outputs(row[None]).shape == (1, 1)  # the next call works
print("and well")
"""
WIDE = "X = np.broadcast_to(row, (10**8, 20))"
SPARSE = "X = csr_matrix((np.ones(10**6, np.float32), np.zeros(10**6, np.int32), np.arange(10**6 + 1)), (10**6, 20))"
EACH = "X, out = np.zeros((10**7, 20), np.float32), np.empty((10**7, 1), np.float32)"
LONG_CALLS = {
    "1 thread": (WIDE, "runtime.outputs(X)"),
    "2 threads": (WIDE, "runtime.outputs(X, 2)"),
    "sparse": (SPARSE, "runtime.outputs(X)"),
    "sparse, 2 threads": (SPARSE, "runtime.outputs(X, 2)"),
    "row by row": (EACH, "runtime.native.predict_each(X, out)"),
}


@pytest.mark.parametrize(("make", "call"), LONG_CALLS.values(), ids=LONG_CALLS)
def test_ctrl_c_ends_a_prediction(make, call):
    done = run(INTERRUPTED.replace("MAKE", make).replace("CALL", call), timeout=60)
    assert (done.returncode, done.stdout) == (0, "interrupted\nand well\n"), done.stderr


HANDLED = """
runtime = make(2_000, 20)
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
X = np.random.default_rng(0).normal(size=(5_000, 20)).astype(np.float32)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
outputs = runtime.outputs(X, 2)
while not seen:
    outputs = runtime.outputs(X, 2)
assert np.array_equal(outputs, runtime.outputs(X))
"""


def test_a_signal_whose_handler_returns_changes_nothing():
    done = run(HANDLED)
    assert done.returncode == 0, done.stderr


def test_other_threads_run_while_a_plan_is_made():
    """Threads do not take turns here by the clock: the other one runs only if the lock is given up."""
    hashes = RowHashes(lsh.L2(1.0, "gaussian"), 400, 16, 2_000, 4, seed=4)
    counters = np.ones((400, 16, 1), np.int8)
    model = Model(Inputs(2_000), None, (RowGroup(hashes, counters, np.ones(1, F), "int8"),), np.zeros(1, F))
    data, gate, done = model_to_bytes(model), threading.Lock(), []
    make = sys.modules["repsketch.core"].native.Model
    gate.acquire()
    thread = threading.Thread(target=lambda: (gate.acquire(), done.append(True)))
    thread.start()
    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1_000.0)
        gate.release()
        make(data, len(data), 0)
        was_done = list(done)
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    assert was_done == [True]


LITTLE_MEMORY = """
import resource
runtime = make(2, 16_000)  # a block of its rows takes megabytes
X = np.zeros((64 * 8, 16_000), np.float32)
expected = runtime.outputs(X[:64])
out = np.empty((len(X), 1), np.float32)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
refused = worked = 0
for spare in range(0, 60, 4):
    resource.setrlimit(resource.RLIMIT_AS, (used + (spare << 20), resource.RLIM_INFINITY))
    try:
        runtime.native.predict(X, out, 8)
        worked += 1
    except MemoryError:
        refused += 1
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert np.array_equal(runtime.outputs(X[:64]), expected)
print(refused, worked)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of the address space are those of Linux")
def test_too_little_memory_for_threads():
    """Memory that a thread asks for, and the thread itself, may be refused: an error, or fewer threads."""
    done = run(LITTLE_MEMORY)
    assert done.returncode == 0, done.stderr
    refused, worked = map(int, done.stdout.split())
    assert refused > 0
    assert worked > 0


SCRIBBLED = """
from scipy.sparse import csr_matrix
from repsketch.errors import InputError
runtime = make(5, 20)
X = np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32)
table = csr_matrix(X)
ends, columns = table.indptr.copy(), table.indices.copy()
is_over = threading.Event()

def scribble():
    while not is_over.is_set():
        table.indptr[1:-1] = 2**31 - 1
        table.indices[:] = -(2**31)
        table.indptr[1:-1] = ends[1:-1]
        table.indices[:] = columns

thread = threading.Thread(target=scribble)
thread.start()
for _ in range(300):
    try:
        runtime.outputs(table, 2)
    except InputError:
        pass
is_over.set()
thread.join()
assert np.array_equal(runtime.outputs(table), runtime.outputs(X))
"""


def test_a_matrix_that_another_thread_writes_to():
    """Outputs or an error: what was read and checked is not read again. tests/unit/native/faults.py has it exactly."""
    done = run(SCRIBBLED)
    assert done.returncode == 0, done.stderr
