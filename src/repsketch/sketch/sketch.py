"""What users hold: a sketch that predicts, is saved, loaded, quantised and exported.

Two kinds: ``KernelSketch``, the paper's, whose counters are sums of weights and may be added to, merged and
refitted; and ``CompiledSketch``, anything else in the deployed form. A sketch never changes: every method
that alters it returns another one.
"""

import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import as_outputs, as_table, check_width, iterate_blocks
from ..comparison import Comparison
from ..errors import InputError, MergeError
from ..frames import Columns, as_columns, collected, is_frame, read_row
from ..lsh import Family, RowHashes
from ..lsh.generator import resolve_seed
from ..predictor import Predictor
from ..settings import check_count
from ..theory import Cost
from .aggregate import choose_groups
from .counters import DEFAULT_STEP, Counters
from .form import MAX_OUTPUTS, Form
from .intervals import Intervals
from .query import buckets, query

if TYPE_CHECKING:
    from .kernel_sketch import KernelSketch
    from .quantize import Change


class Sketch(Predictor):
    """Counters that predict by hashing. ``form`` is all that a prediction needs."""

    @property
    @abstractmethod
    def form(self) -> Form:
        """The deployed form: columns, projection, parts of rows, outputs."""

    def __repr__(self) -> str:
        return repr(self.form).replace("Form", type(self).__name__, 1)

    def _repr_html_(self) -> str:
        from .notebook import to_html

        return to_html(self)

    @staticmethod
    def empty(
        family: Family,
        n_rows: int,
        n_buckets: int,
        n_features: int,
        n_concat: int = 1,
        *,
        n_outputs: int = 1,
        aggregate: str = "mean",
        n_groups: int | None = None,
        fold: str = "universal",
        debias: bool = True,
        weight_step: float = DEFAULT_STEP,
        random_state: Any = 0,
    ) -> "KernelSketch":
        """A sketch without points, to ``add`` weighted points to: a weighted RACE sketch.

        >>> from repsketch import lsh
        >>> density = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=2)
        >>> density = density.add([[0.0, 0.0], [9.0, 9.0]], [2.0, 1.0])
        >>> density.predict([[0.0, 0.0]]).round()
        array([2.], dtype=float32)
        """
        from .kernel_sketch import KernelSketch

        hashes = RowHashes(family, n_rows, n_buckets, n_features, n_concat, resolve_seed(random_state), fold)
        check_count("n_outputs", n_outputs, MAX_OUTPUTS)
        n_groups = choose_groups(aggregate, n_groups, n_rows)
        sums = Counters.zeros(n_rows, n_buckets, n_outputs, weight_step)
        return KernelSketch(hashes, sums, debias=debias, n_groups=n_groups)

    @property
    def n_features(self) -> int:
        """Number of input features, d."""
        return self.form.n_features

    @property
    def n_outputs(self) -> int:
        """Number of outputs, C."""
        return self.form.n_outputs

    @property
    def n_rows(self) -> int:
        """Rows of counters, L."""
        return self.form.n_rows

    @property
    def precision(self) -> str:
        """Which arithmetic predicts: "float32" or "int"."""
        return self.form.precision

    @property
    def nbytes(self) -> int:
        """Bytes a device must hold: header with seed and sizes, and every stored number."""
        return self.form.nbytes

    @abstractmethod
    def cost(self) -> Cost:
        """What one prediction costs: numbers, operations, energy."""

    def outputs(self, X: Any, n_threads: int = 1) -> np.ndarray:
        """Raw outputs, float32 of shape (n, C), computed by the C core in ``n_threads`` threads.

        No more threads are started than there are processors, or than 256 in all.

        Columns of a data frame are found by their names, and categories by theirs, if the sketch knows them.
        """
        X = collected(X)
        if self.form.feature_names is not None and is_frame(X):
            X = as_columns(X, known=self.columns).numbers
        return self._runtime.outputs(X, n_threads)

    @cached_property
    def columns(self) -> Columns:
        """What a data frame must have: names of the columns, labels of those with categories, and which are used."""
        inputs, labels = self.form.inputs, iter(self.form.categories or ())
        places = np.arange(self.n_features) if inputs.columns is None else inputs.columns
        kinds = np.zeros(inputs.n_columns, np.int64) if inputs.kinds is None else inputs.kinds
        known = self.form.categories is not None
        categories = {int(p): next(labels) for p, kind in zip(places, kinds, strict=True) if known and kind > 1}
        used = set(places.tolist())
        return Columns(np.empty((0, self.n_features), np.float32), self.form.feature_names, categories, used)

    def predict_interval(self, X: Any, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Low and high ends of intervals around the predictions, float64 of the shape that ``predict`` gives.

        The paper's counters, not refitted: the interval holds the kernel model's f_K(x), not the label, with
        probability ``confidence`` over the draw of the hash functions; judged by the spread of the rows. Any other
        sketch: it holds the true value of a row like those given to ``with_intervals``, or held out by ``compress``;
        each output on its own.

        >>> from repsketch import lsh
        >>> density = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=200, n_buckets=16, n_features=1).add([[0.0], [0.5]])
        >>> low, high = density.predict_interval([[0.1]])
        >>> bool(low < density.predict([[0.1]]) < high)
        True
        """
        if self.task == "classification":
            raise InputError("predict_interval on a classifier; predict_proba says how sure it is.")
        outputs = self.outputs(X).astype(np.float64)
        half_widths = self._half_widths(X, outputs, confidence)
        low, high = outputs - half_widths, outputs + half_widths
        return (low[:, 0], high[:, 0]) if self.n_outputs == 1 else (low, high)

    def _half_widths(self, X: Any, outputs: np.ndarray, confidence: float) -> np.ndarray:
        """Half the width of each output's interval, (n, C) float64."""
        if self.form.intervals is None:
            raise InputError(
                "this sketch has no intervals, and its counters are not the plain sums whose spread would tell; "
                "with_intervals(X, y), with rows that it was not trained on, gives it some."
            )
        return self.form.intervals.half_widths(outputs, confidence)

    def with_intervals(self, X: Any, y: Any) -> "CompiledSketch":
        """The sketch with intervals that hold true values, from rows it was not trained on: at least 99 for 99 %.

        It predicts as before, but takes no further points: add, merge or refit first.

        Parameters
        ----------
        X : (n, d) inputs, as for ``predict``
        y : (n,) or (n, C) their true values

        >>> from repsketch import lsh
        >>> X, noise = np.random.default_rng(0).normal(size=(2, 500, 1))
        >>> sketch = Sketch.empty(lsh.L2(bandwidth=1.0), n_rows=40, n_buckets=8, n_features=1).refit(X[:300], X[:300])
        >>> low, high = sketch.with_intervals(X[300:], X[300:] + noise[300:]).predict_interval(X, confidence=0.9)
        >>> bool(3.0 < np.mean(high - low) < 4.0)
        True
        """
        if self.task == "classification":
            raise InputError("with_intervals on a classifier; predict_proba says how sure it is.")
        outputs = self.outputs(X)
        values = as_outputs(y, len(outputs), "y")
        if values.shape != outputs.shape:
            raise InputError(f"y has {values.shape[1]} columns; this sketch has {self.n_outputs} outputs.")
        return CompiledSketch(replace(self.form, intervals=Intervals.of(outputs, values)))

    def predict_one(self, row: Any) -> Any:
        """The prediction for one row, (d,): a label, or a number; for hot loops, where a table of one row costs more.

        A row is an array or a list in the order of the columns or, where the sketch knows their names, a mapping or a
        pandas Series. Categories are labels in a list or mapping, and places among the labels in an array of numbers.

        >>> from repsketch import lsh
        >>> density = Sketch.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=2).add([[0.0, 0.0]])
        >>> density.predict_one(np.zeros(2, np.float32))
        1.0
        """
        return self._answer(row)

    @cached_property
    def _answer(self) -> Callable[[Any], Any]:
        """What ``predict_one`` calls: for numbers the runtime itself, so that nothing stands between."""
        output_of = self._runtime.output_of if self.form.feature_names is None else self._output_of_named
        if self.task != "classification":
            return output_of
        labels = self._labels
        if self.n_outputs == 1:
            return lambda row: labels[int(output_of(row) > 0)]
        return lambda row: labels[int(np.argmax(output_of(row)))]

    def _output_of_named(self, row: Any) -> float | np.ndarray:
        """Raw output of one row whose columns have names: numbers in an array, or anything that ``read_row`` reads."""
        if type(row) is np.ndarray and row.dtype.kind in "fiub":
            return self._runtime.output_of(row)
        return self._runtime.output_of(read_row(row, self.columns))

    @cached_property
    def _runtime(self) -> Any:
        from ..runtime import runtime_for

        return runtime_for(self.form)

    def _outputs(self, block: np.ndarray) -> np.ndarray:
        return query(self.form, block)

    def save(self, path: str | os.PathLike, metadata: dict[str, Any] | None = None) -> None:
        """Write a .rsk file, in one step; ``metadata`` is a small JSON object kept with it."""
        from ..io import save

        save(self, path, metadata)

    def buckets(self, X: Any) -> np.ndarray:
        """Bucket of every input in every row, int32 (n, L)."""
        table = as_table(X)
        check_width(table, self.n_features)
        result = np.empty((table.shape[0], self.n_rows), np.int32)
        for start, block in iterate_blocks(table):
            result[start : start + len(block)] = buckets(self.form, block)
        return result


@dataclass(frozen=True, eq=False, repr=False)
class CompiledSketch(Sketch):
    """A sketch that is its deployed form: quantised, trained beyond the paper, or loaded from a file."""

    compiled: Form
    change: "Change | None" = None  #: what quantising did to the outputs
    summary: Comparison | None = None  #: other models of the same bytes, as ``compress`` found them

    @property
    def form(self) -> Form:
        """The deployed form: columns, projection, parts of rows, outputs."""
        return self.compiled

    @property
    def task(self) -> str | None:  # type: ignore[override]
        """What the outputs mean."""
        return self.compiled.task

    @property
    def classes(self) -> np.ndarray | None:  # type: ignore[override]
        """Class labels, or None."""
        return self.compiled.classes

    @cached_property
    def _cost(self) -> Cost:
        from .cost import cost_of_form

        return cost_of_form(self.compiled)

    def cost(self) -> Cost:
        """What one prediction costs: numbers, operations, energy."""
        return self._cost

    def _refuse(self, *_: Any, **__: Any) -> Any:
        """Counters that are no sums of point weights cannot be added to, merged, scaled or refitted."""
        raise MergeError(
            f"a sketch of precision {self.precision!r} without its sums takes no points and no refit; do that to the "
            "sketch it was made from, then quantise or save again."
        )

    def quantize(self, X: Any = None, **options: Any) -> "CompiledSketch":
        """The same sketch, if it is in the int precision already."""
        if self.precision != "int":
            raise MergeError(
                "only a sketch made by build_sketch or Sketch.empty can be quantised; this one is trained."
            )
        return self

    add = subtract = merge = scale = calibrate = refit = _refuse
