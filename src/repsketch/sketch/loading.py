"""From a file to the sketch that users hold."""

import os
from typing import Any

from ..compare.comparison import Comparison
from ..io import Contents, read_file, read_model
from ..io.framing import FILE_CAP
from ..io.totals import MEMORY_CAP, WORK_CAP
from ..paper.kernel_counters import counters_behind
from .sketch import COMPARISON, CompiledSketch, Sketch, as_kernel_sketch


def load(
    path: str | os.PathLike,
    *,
    max_nbytes: int = FILE_CAP,
    max_memory: int = MEMORY_CAP,
    max_work: int = WORK_CAP,
) -> Sketch:
    """The sketch in a .rsk file.

    A file is refused if predicting with it could take more memory or work than accepted: raise the limits for a large
    sketch from a source that you trust.

    Parameters
    ----------
    path : a regular file
    max_nbytes : largest file accepted
    max_memory : bytes that predicting may take in one thread
    max_work : operations that the prediction of one row may take

    >>> import tempfile
    >>> from repsketch import lsh
    >>> density = Sketch.empty(lsh.L1(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=1).add([[0.5]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     density.save(os.path.join(folder, "density.rsk"))
    ...     again = load(os.path.join(folder, "density.rsk"))
    >>> bool(again.predict([[0.5]]) == density.predict([[0.5]]))
    True
    """
    data = read_file(path, max_nbytes)
    return from_bytes(data, max_nbytes=max_nbytes, max_memory=max_memory, max_work=max_work, name=os.fspath(path))


def from_bytes(data: bytes, **options: Any) -> Sketch:
    """The sketch in the bytes of a .rsk file; options as for ``repsketch.io.read_model``."""
    return _as_sketch(read_model(data, **options))


def _as_sketch(contents: Contents) -> Sketch:
    """The paper's kind of sketch where the model is of that kind, so that it can be added to or refitted again."""
    model = contents.model
    counters = counters_behind(model, contents.sums)
    if counters is None:
        return CompiledSketch(model, summary=Comparison.from_dict(contents.metadata.get(COMPARISON)))
    sketch = as_kernel_sketch(counters)
    vars(sketch)["model"] = model  # read from a checked file, which the C core runs as it is
    return sketch
