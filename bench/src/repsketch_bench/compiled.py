"""C models called back from Python: compiled with gcc, loaded with ctypes, looped over in C.

A model is one row function ``int f(const void *model, const float *row, float *out)``. ``call_rows`` calls
such a function once a row from a C loop, through a pointer, as a C program would that has one row at a time.
"""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from repsketch.errors import RepSketchError

from .engine import Engine

# Hidden: or every call of a generated function would go through the linker's table and never be inlined.
FLAGS = ("-O3", "-fPIC", "-fvisibility=hidden", "-fno-asynchronous-unwind-tables")
SECONDS = 600  # for a compiler at work on very long generated functions

_EXPORTED = """
#include <stdint.h>
#define EXPORTED __attribute__((visibility("default")))
EXPORTED int peer_row(const void *model, const float *row, float *out) {
  (void)model;
  *out = score_row(row);
  return 0;
}
EXPORTED void peer_batch(const float *X, int64_t n, int64_t d, float *out) {
  for (int64_t i = 0; i < n; ++i) out[i] = score_row(X + i * d);
}
"""

_LOOP = """
#include <stdint.h>
typedef int (*row_function)(const void *model, const float *row, float *out);
__attribute__((visibility("default")))
int call_rows(row_function f, const void *model, const float *X, int64_t n, int64_t d, int64_t c, float *out) {
  int status = 0;
  for (int64_t i = 0; i < n; ++i) status |= f(model, X + i * d, out + i * c);
  return status;
}
"""


def find_compiler() -> str:
    """The C compiler: $CC, else gcc, else cc."""
    for name in (os.environ.get("CC"), "gcc", "cc"):
        if name and (path := shutil.which(name)):
            return path
    raise RepSketchError("no C compiler: neither $CC nor gcc nor cc is on the PATH; install gcc.")


def compile_library(files: Mapping[str, str], flags: Sequence[str] = FLAGS) -> tuple[ctypes.CDLL, dict[str, int]]:
    """A loaded library made from C files (name -> text), and the bytes of code and constants of each .c file.

    Without binutils the sizes are left out.
    """
    compiler = find_compiler()
    with TemporaryDirectory(prefix="repsketch-bench-") as folder:
        for name, text in files.items():
            (Path(folder) / name).write_text(text)
        sources = [name for name in files if name.endswith(".c")]
        _run([compiler, *flags, "-c", *sources], folder)
        objects = [f"{Path(name).stem}.o" for name in sources]
        _run([compiler, "-shared", *objects, "-o", "library.so", "-lm"], folder)
        nbytes = {name: _nbytes(folder, object_file) for name, object_file in zip(sources, objects, strict=True)}
        # The file may go once it is loaded: the loader holds it open.
        library = ctypes.CDLL(str(Path(folder) / "library.so"))
    return library, {name: n for name, n in nbytes.items() if n is not None}


def compiled_engine(name: str, files: Mapping[str, str], glue: str) -> Engine:
    """An engine made from generated C files, the model in model.c, whose object is the size of the engine.

    ``glue`` declares the model's function and defines ``static float score_row(const float *row)`` that calls it.
    It is compiled apart, as a program that uses the model would be: inlining must not blur the model's size.
    """
    library, nbytes = compile_library({**files, "glue.c": glue + _EXPORTED})
    batch = library.peer_batch
    batch.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    batch.restype = None
    row_function = ctypes.cast(library.peer_row, ctypes.c_void_p)

    def predict(X: np.ndarray) -> np.ndarray:
        outputs = np.empty(len(X), np.float32)
        batch(X.ctypes.data, *X.shape, outputs.ctypes.data)
        return outputs

    def rows_in_c(X: np.ndarray) -> np.ndarray:
        return call_rows(row_function, None, X)[:, 0]

    return Engine(name, predict, rows_in_c=rows_in_c, nbytes=nbytes.get("model.c"))


def call_rows(
    function: ctypes.c_void_p, model: ctypes.c_void_p | int | None, X: np.ndarray, n_outputs: int = 1
) -> np.ndarray:
    """Outputs (n, n_outputs) float32 of a C row function, called once for each row of X (n, d) float32 in a C loop.

    Parameters
    ----------
    function : address of ``int f(const void *model, const float *row, float *out)``, 0 for success
    model : passed on as it is; the caller keeps it alive
    """
    outputs = np.empty((len(X), n_outputs), np.float32)
    status = _loop()(function, model, X.ctypes.data, *X.shape, n_outputs, outputs.ctypes.data)
    if status != 0:
        raise RepSketchError(f"a C row function returned status {status}; 0 is success.")
    return outputs


@cache
def _loop():
    loop = compile_library({"loop.c": _LOOP})[0].call_rows
    loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 3 + [ctypes.c_void_p]
    return loop


def _run(command: Sequence[str], folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode != 0:
        raise RepSketchError(f"{Path(command[0]).name} failed: {done.stderr.strip()[:300]}")
    return done.stdout


def _nbytes(folder: str, file: str) -> int | None:
    if shutil.which("size") is None:
        return None
    text, data = _run(["size", file], folder).splitlines()[1].split()[:2]
    return int(text) + int(data)
