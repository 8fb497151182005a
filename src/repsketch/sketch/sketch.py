"""What users hold: a sketch that predicts, is saved, loaded, quantised and exported.

Two kinds: ``KernelSketch``, the paper's, whose counters are sums of weights and may be added to, merged and
refitted; and ``CompiledSketch``, any other model that is deployed. A sketch never changes: every method
that alters it returns another one.
"""

import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..compare.comparison import Comparison
from ..data.arrays import as_outputs, as_table, check_width, iterate_blocks
from ..data.frames import Columns, as_columns, collected, is_frame, read_row
from ..errors import InputError, MergeError
from ..files import write_atomically
from ..io import model_to_bytes
from ..lsh import Family
from ..model.cost import cost_of_model
from ..model.counters import DEFAULT_STEP, Sums
from ..model.intervals import Intervals
from ..model.model import Model
from ..model.oracle import buckets, query
from ..paper.kernel_counters import KernelCounters, sums_behind
from ..paper.quantize import Change, quantize
from ..paper.refit import refit
from ..paper.standard_errors import half_widths
from ..predictor import Predictor
from ..runtime import runtime_for
from ..theory import Cost
from .notebook import to_html

COMPARISON = "comparison"  # the key of a file's metadata


class Sketch(Predictor):
    """Counters that predict by hashing. ``model`` is all that a prediction needs."""

    @property
    @abstractmethod
    def model(self) -> Model:
        """What is deployed: columns, projection, groups of rows, outputs."""

    def __repr__(self) -> str:
        return repr(self.model).replace("Model", type(self).__name__, 1)

    def _repr_html_(self) -> str:
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
        return KernelSketch.empty(
            family, n_rows, n_buckets, n_features, n_concat, n_outputs=n_outputs, aggregate=aggregate,
            n_groups=n_groups, fold=fold, debias=debias, weight_step=weight_step, random_state=random_state,
        )  # fmt: skip

    @property
    def n_features(self) -> int:
        """Number of input features, d."""
        return self.model.n_features

    @property
    def n_outputs(self) -> int:
        """Number of outputs, C."""
        return self.model.n_outputs

    @property
    def n_rows(self) -> int:
        """Rows of counters, L."""
        return self.model.n_rows

    @property
    def precision(self) -> str:
        """Which arithmetic predicts: "float32" or "int"."""
        return self.model.precision

    @property
    def nbytes(self) -> int:
        """Bytes a device must hold: header with seed and sizes, and every stored number."""
        return self.model.nbytes

    @abstractmethod
    def cost(self) -> Cost:
        """What one prediction costs: numbers, operations, energy."""

    def outputs(self, X: Any, n_threads: int = 1) -> np.ndarray:
        """Raw outputs, float32 of shape (n, C), computed by the C core in ``n_threads`` threads.

        No more threads are started than there are processors, or than 256 in all.

        Columns of a data frame are found by their names, and categories by theirs, if the sketch has them.
        """
        X = collected(X)
        if self.model.feature_names is not None and is_frame(X):
            X = as_columns(X, known=self.columns).numbers
        return self._runtime.outputs(X, n_threads)

    @cached_property
    def columns(self) -> Columns:
        """What a data frame must have: names of the columns, labels of those with categories, and which are used."""
        inputs, labels = self.model.inputs, iter(self.model.categories or ())
        places = np.arange(self.n_features) if inputs.columns is None else inputs.columns
        kinds = np.zeros(inputs.n_columns, np.int64) if inputs.kinds is None else inputs.kinds
        known = self.model.categories is not None
        categories = {int(p): next(labels) for p, kind in zip(places, kinds, strict=True) if known and kind > 1}
        used = set(places.tolist())
        return Columns(np.empty((0, self.n_features), np.float32), self.model.feature_names, categories, used)

    def predict_interval(self, X: Any, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Low and high ends of intervals around the predictions, float64 of the shape that ``predict`` gives.

        The paper's counters, not refitted: the interval holds the kernel model's f_K(x), not the label, with
        probability ``confidence`` over the draw of the hash functions, by the standard deviation of the rows. Any other
        sketch: it holds the true value of a row like those given to ``with_intervals``, or like the validation rows
        of ``compress``; each output on its own.

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
        if self.model.intervals is None:
            raise InputError(
                "this sketch has no intervals, and its counters are not the plain sums that intervals could come from; "
                "with_intervals(X, y), with rows that it was not trained on, gives it some."
            )
        return self.model.intervals.half_widths(outputs, confidence)

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
        return CompiledSketch(replace(self.model, intervals=Intervals.of(outputs, values)))

    def predict_one(self, row: Any) -> Any:
        """The prediction for one row, (d,): a label, or a number; for hot loops, where a table of one row costs more.

        A row is an array or a list in the order of the columns or, where the sketch has their names, a mapping or a
        pandas Series. Categories are labels in a list or mapping, and places among the labels in an array of numbers.

        >>> from repsketch import lsh
        >>> density = Sketch.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=2).add([[0.0, 0.0]])
        >>> density.predict_one(np.zeros(2, np.float32))
        1.0
        """
        return self._predict_row(row)

    @cached_property
    def _predict_row(self) -> Callable[[Any], Any]:
        """The function behind ``predict_one``; for numbers it calls the runtime directly."""
        output_of = self._runtime.output_of if self.model.feature_names is None else self._output_of_named
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
        return runtime_for(self.model)

    def _outputs(self, block: np.ndarray) -> np.ndarray:
        return query(self.model, block)

    def save(self, path: str | os.PathLike, metadata: dict[str, Any] | None = None) -> None:
        """Write a .rsk file, in one step; ``metadata`` is a small JSON object stored with it."""
        write_atomically(path, self.to_bytes(metadata))

    def to_bytes(self, metadata: dict[str, Any] | None = None) -> bytes:
        """The bytes of a .rsk file with this sketch; ``metadata`` is a small JSON object stored with it."""
        return model_to_bytes(self.model, self._file_sums, {**self._file_metadata, **(metadata or {})})

    @property
    def _file_sums(self) -> Sums | None:
        """The sums behind the counters, which a file keeps beside the model."""
        return None

    @property
    def _file_metadata(self) -> dict[str, Any]:
        """What a file keeps in its metadata beside what the user gives."""
        return {}

    def buckets(self, X: Any) -> np.ndarray:
        """Bucket of every input in every row, int32 (n, L)."""
        table = as_table(X)
        check_width(table, self.n_features)
        result = np.empty((table.shape[0], self.n_rows), np.int32)
        for start, block in iterate_blocks(table):
            result[start : start + len(block)] = buckets(self.model, block)
        return result


@dataclass(frozen=True, eq=False, repr=False)
class CompiledSketch(Sketch):
    """A sketch that is its deployed model: quantised, trained beyond the paper, or loaded from a file."""

    compiled: Model
    change: Change | None = None  #: what quantising did to the outputs
    summary: Comparison | None = None  #: other models of the same bytes, as ``compress`` found them

    @property
    def model(self) -> Model:
        """What is deployed: columns, projection, groups of rows, outputs."""
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
        return cost_of_model(self.compiled)

    def cost(self) -> Cost:
        """What one prediction costs: numbers, operations, energy."""
        return self._cost

    @property
    def _file_metadata(self) -> dict[str, Any]:
        return {} if self.summary is None else {COMPARISON: self.summary.to_dict()}

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


@dataclass(frozen=True, eq=False, repr=False)
class KernelSketch(KernelCounters, Sketch):
    """The paper's sketch: counters that are sums of weights of hashed points, or refitted in their place.

    Made by ``build_sketch`` from a kernel model or by ``Sketch.empty`` for a stream of points. ``add``, ``subtract``,
    ``merge`` and ``scale`` are exact. Attributes as in ``KernelCounters``.
    """

    @property
    def _file_sums(self) -> Sums | None:
        return sums_behind(self)

    def calibrate(self, X: Any, targets: Any) -> "KernelSketch":
        """The sketch with two numbers an output, scale and bias, fitted to ``targets`` by least squares.

        Parameters
        ----------
        X : (n, d) inputs; targets : (n,) or (n, C), for example the teacher's outputs

        >>> from repsketch import lsh
        >>> X = np.linspace(-1.0, 1.0, 50)[:, None]
        >>> sketch = Sketch.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1).add(X)
        >>> calibrated = sketch.calibrate(X, 3.0 * sketch.outputs(X) + 1.0)
        >>> bool(np.allclose(calibrated.outputs(X), 3.0 * sketch.outputs(X) + 1.0, rtol=1e-4))
        True
        """
        outputs = self.outputs(X).astype(np.float64)
        return self.scaled_to(outputs, as_outputs(targets, len(outputs)))

    def _half_widths(self, X: Any, outputs: np.ndarray, confidence: float) -> np.ndarray:
        if self.sums is None:
            return super()._half_widths(X, outputs, confidence)
        return half_widths(self, X, confidence)

    def quantize(self, X: Any = None, **options: Any) -> CompiledSketch:
        """The int precision of the same sketch; its ``change`` says what that does to the outputs.

        Options as for ``repsketch.paper.quantize.quantize``.
        """
        return CompiledSketch(*quantize(self, X, **options))

    def refit(self, X: Any, targets: Any, **options: Any) -> "KernelSketch":
        """The sketch with counters fitted to ``targets``, hashes unchanged; see ``repsketch.paper.refit.refit``."""
        return refit(self, X, targets, **options)


def as_kernel_sketch(counters: KernelCounters) -> KernelSketch:
    """The sketch of these counters."""
    return KernelSketch(**{field.name: getattr(counters, field.name) for field in fields(counters)})
