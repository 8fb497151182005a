"""The C core as a runtime: arrays in, arrays out; everything else happens in ``native/``."""

from typing import Any

import numpy as np

from .. import core
from ..arrays import as_table, check_not_empty, check_width, is_sparse, iterate_blocks
from ..errors import InputError
from ..io import form_to_bytes
from ..sketch import Form

_FLOAT32, _UINT8 = np.dtype(np.float32), np.dtype(np.uint8)  # these are read where they lie


class NativeRuntime:
    """Evaluates a form in C. Safe to call from many threads at once."""

    def __init__(self, form: Form, level: int = -1, compact: bool | None = None) -> None:
        self.form = form
        data = form_to_bytes(form) if form.stored is None else form.stored
        self.model = core.native.Model(data, len(data), -1 if compact is None else int(compact), level)
        self._n_features, self._n_outputs = form.n_features, form.n_outputs
        self._predict, self._output_of = self.model.predict, self.model.output_of

    @staticmethod
    def is_available() -> bool:
        """The compiled part is installed."""
        return core.native is not None

    def outputs(self, X: Any, n_threads: int = 1) -> np.ndarray:
        """Raw outputs, float32 (n, C), for a table of inputs."""
        if type(X) is np.ndarray and X.dtype is _FLOAT32 and X.ndim == 2 and X.flags.c_contiguous and X.size:
            # The common case, in few steps: a call for one row should not cost more than the row.
            out = np.empty((len(X), self._n_outputs), np.float32)
            try:
                self._predict(X, out, n_threads)
                return out
            except ValueError:
                pass  # another width, or a value that is not finite: the general way has the messages
        table = as_table(X)
        check_width(table, self._n_features)
        check_not_empty(table)
        out = np.empty((table.shape[0], self._n_outputs), np.float32)
        try:
            if is_sparse(table):
                self._predict_sparse(table, out, n_threads)
            elif table.dtype in (_FLOAT32, _UINT8) and (table.strides[1] == table.itemsize or table.shape[1] == 1):
                self.model.predict(table, out, n_threads)
            else:
                for start, block in iterate_blocks(as_table(table), accepts_missing=True):
                    self.model.predict(block, out[start : start + len(block)], n_threads)
        except core.native.NotFinite:
            self._name_bad_value(table)
        return out

    def output_of(self, row: Any) -> float | np.ndarray:
        """Raw output of one row (d,): a float, or float32 (C,) where there are several."""
        try:
            if self._n_outputs == 1:
                return self._output_of(row)
            out = np.empty(self._n_outputs, np.float32)
            self.model.predict_row(row, out)
            return out
        except (TypeError, ValueError):  # not a plain row of finite float32: the general way, with its messages
            outputs = self.outputs(np.asarray(row)[None])[0]
            return float(outputs[0]) if self._n_outputs == 1 else outputs

    def _predict_sparse(self, table: Any, out: np.ndarray, n_threads: int) -> None:
        if not table.has_canonical_format:
            table = table.copy()
            table.sum_duplicates()
        if table.nnz > np.iinfo(np.int32).max:
            half = table.shape[0] // 2
            self._predict_sparse(table[:half], out[:half], n_threads)
            self._predict_sparse(table[half:], out[half:], n_threads)
            return
        with np.errstate(over="ignore"):
            data = table.data.astype(np.float32, copy=False)
        ends, columns = (array.astype(np.int32, copy=False) for array in (table.indptr, table.indices))
        self.model.predict_sparse(data, ends, columns, out, n_threads)

    def _name_bad_value(self, table: Any) -> None:
        """The error that tells the row and column of the first value that is refused."""
        accepts_missing = self.form.inputs.accepts_missing
        for _ in iterate_blocks(as_table(table), accepts_missing=accepts_missing):
            pass  # raises with the row and column
        raise InputError("X holds NaN or infinities; fill or drop them.")
