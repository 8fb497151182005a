"""ONNX files as teachers, run by ONNX Runtime on the CPU."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..data.arrays import BLOCK_ROWS
from ..errors import TeacherError, require
from .reading import Reading
from .teacher import Teacher

ONNX_INPUTS = {"tensor(float)": np.float32, "tensor(double)": np.float64}
ONNX_SCORES = ("tensor(float)", "tensor(double)", "tensor(float16)", "seq(map(")


def adapt_onnx(path: Path, requested: Reading) -> Teacher:
    """A teacher of the last floating output of an ONNX file."""
    if path.suffix.lower() != ".onnx":
        raise TeacherError(f"{str(path)!r} does not end in .onnx, as a path must; load it and pass the model object.")
    if not path.is_file():
        raise TeacherError(f"there is no file {str(path)!r}; pass the path of an .onnx file that exists.")
    runtime = require("onnxruntime", "onnx")
    try:
        session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:
        raise TeacherError(f"ONNX Runtime cannot load {str(path)!r}: {error}") from error
    inputs, outputs = session.get_inputs(), session.get_outputs()
    scores = [output for output in outputs if output.type.startswith(ONNX_SCORES)]
    if len(inputs) != 1 or inputs[0].type not in ONNX_INPUTS or len(inputs[0].shape) != 2 or not scores:
        given = f"takes {[(node.type, node.shape) for node in inputs]}, gives {[node.type for node in outputs]}"
        allowed = f"one input (n, d) of type {' or '.join(ONNX_INPUTS)}, and a floating output"
        raise TeacherError(f"{path.name} {given}; allowed is {allowed}. Export the model so.")
    batch, width = (size if isinstance(size, int) else None for size in inputs[0].shape)
    predict = partial(_onnx_outputs, session, inputs[0], scores[-1].name, batch)
    return Teacher(path.name, width, predict, requested, True, batch or BLOCK_ROWS)


def _onnx_outputs(session: Any, source: Any, target: str, batch: int | None, rows: np.ndarray) -> Any:
    # A model exported for a fixed batch size gets its last block filled up with copies of its rows.
    filled = np.resize(rows, (batch or len(rows), rows.shape[1])).astype(ONNX_INPUTS[source.type], copy=False)
    return session.run([target], {source.name: filled})[0][: len(rows)]
