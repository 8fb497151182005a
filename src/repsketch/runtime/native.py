"""The C core as a runtime: arrays in, arrays out; everything else happens in ``native/``."""

from typing import Any

import numpy as np

from .. import core
from ..checks import check_at_least
from ..data.arrays import as_row, as_table, check_not_empty, check_width, iterate_blocks
from ..data.sparse import is_sparse
from ..errors import InputError
from ..io import model_to_bytes
from ..model.model import Model

_FLOAT32, _UINT8 = np.dtype(np.float32), np.dtype(np.uint8)  # these are read where they lie
_MOST_THREADS = 256  # RSK_MOST_THREADS in bindings/python/batch.h


class NativeRuntime:
    """Evaluates a model in C. Safe to call from many threads at once."""

    def __init__(self, model: Model, isa: int = -1, compact: bool | None = None) -> None:
        self.model = model
        file, how = (
            model_to_bytes(model) if model.stored is None else model.stored,
            -1 if compact is None else int(compact),
        )
        if isinstance(file, bytes):
            self.native = core.native.Model(file, len(file), how, isa)
        else:  # opened by the reader, and not read again
            self.native = core.native.Model(file, how, isa)
        self._n_features, self._n_outputs = model.n_features, model.n_outputs
        self._predict, self._output_of = self.native.predict, self.native.output_of

    @staticmethod
    def is_available() -> bool:
        """True if the C core is installed."""
        return core.native is not None

    def outputs(self, X: Any, n_threads: int = 1) -> np.ndarray:
        """Raw outputs, float32 (n, C), for a table of inputs.

        Parameters
        ----------
        X : (n, d) array, scipy sparse matrix or numeric data frame
        n_threads : threads at most; no more are started than there are processors, or than 256 in all
        """
        if type(X) is np.ndarray and X.dtype is _FLOAT32 and X.ndim == 2 and X.flags.c_contiguous and X.size:
            # The common case, in few steps: a call for one row should not cost more than the row.
            out = np.empty((len(X), self._n_outputs), np.float32)
            try:
                self._predict(X, out, n_threads)
                return out
            except (TypeError, ValueError):
                pass  # another width, or a value that is not finite: the general way has the messages
        n_threads = min(check_at_least("n_threads", n_threads, 1), _MOST_THREADS)
        if is_sparse(X):
            return self._sparse_outputs(X, n_threads)
        table = as_table(X)
        check_width(table, self._n_features)
        check_not_empty(table)
        out = np.empty((table.shape[0], self._n_outputs), np.float32)
        try:
            if table.dtype in (_FLOAT32, _UINT8) and _has_plain_rows(table):
                self.native.predict(table, out, n_threads)
            else:
                for start, block in iterate_blocks(table, accepts_missing=True):
                    self.native.predict(block, out[start : start + len(block)], n_threads)
        except core.native.NotFinite:
            self._name_bad_value(table)
        return out

    def output_of(self, row: Any) -> float | np.ndarray:
        """Raw output of one row (d,): a float, or float32 (C,) where there are several."""
        try:
            if self._n_outputs == 1:
                return self._output_of(row)
            out = np.empty(self._n_outputs, np.float32)
            self.native.predict_row(row, out)
            return out
        except (TypeError, ValueError):  # not a plain row of finite float32: the general way, with its messages
            outputs = self.outputs(as_row(row, self._n_features))[0]
            return float(outputs[0]) if self._n_outputs == 1 else outputs

    def _sparse_outputs(self, X: Any, n_threads: int) -> np.ndarray:
        out = np.empty((X.shape[0], self._n_outputs), np.float32)
        if X.format == "csr" and X.shape[1:] == (self._n_features,) and len(out) and X.dtype.kind in "biuf":
            try:  # the core checks the arrays as it reads them; what it refuses goes the general way
                self._predict_sparse(X, out, n_threads)
                return out
            except (AttributeError, TypeError, ValueError):
                pass
        table = as_table(X)
        check_width(table, self._n_features)
        check_not_empty(table)
        try:
            self._predict_sparse(table, out, n_threads)
        except core.native.NotFinite:
            self._name_bad_value(table)
        except core.native.NotCsr as error:
            raise InputError("X was changed while it was read; keep other threads from writing to it.") from error
        return out

    def _predict_sparse(self, table: Any, out: np.ndarray, n_threads: int) -> None:
        with np.errstate(over="ignore"):
            data = table.data.astype(np.float32, copy=False)
        ends, columns = (
            array if array.dtype == np.int32 else array.astype(np.int64, casting="same_kind", copy=False)
            for array in (table.indptr, table.indices)
        )
        self.native.predict_sparse(data, ends, columns, out, n_threads)

    def _name_bad_value(self, table: Any) -> None:
        """The error that tells the row and column of the first value that is refused."""
        accepts_missing = self.model.inputs.accepts_missing
        for _ in iterate_blocks(as_table(table), accepts_missing=accepts_missing):
            pass  # raises with the row and column
        raise InputError("X holds NaN or infinities; fill or drop them.")


def _has_plain_rows(table: np.ndarray) -> bool:
    """The core can read the rows where they lie: contiguous, aligned, and one after the other."""
    along, across = table.strides
    is_integer = along % table.itemsize == 0 and across % table.itemsize == 0
    return is_integer and along >= 0 and (across == table.itemsize or table.shape[1] == 1) and table.flags.aligned
