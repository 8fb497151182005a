"""Tree models as peers: LightGBM from Python, the same trees as C if-else, and emlearn's C forest."""

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from repsketch.errors import require

from .baselines.boosted import booster_nbytes, booster_outputs
from .boosters import close_booster, close_forest, small_booster
from .compiled import compiled_engine
from .engine import Engine
from .teachers import Case


def boosters_of(case: Case) -> dict[str, Any]:
    """Fitted LightGBM estimators: one of the teacher's quality, one of about 1 KB."""
    return {"LightGBM": close_booster(case), "LightGBM 1 KB": small_booster(case)}


def lightgbm_engine(name: str, model: Any) -> Engine:
    """A LightGBM estimator called through its Python package."""

    def outputs(X: np.ndarray) -> np.ndarray:
        return booster_outputs(model, X)

    return Engine(name, outputs, row=outputs, nbytes=booster_nbytes(model))


def treelite_engine(name: str, model: Any) -> Engine:
    """A LightGBM estimator as C if-else written by treelite's generator, tl2cgen."""
    treelite, generator = require("treelite", "bench"), require("tl2cgen", "bench")
    with TemporaryDirectory(prefix="repsketch-bench-") as folder:
        with contextlib.redirect_stdout(io.StringIO()):  # it prints that all trees go to one file
            generator.generate_c_code(treelite.frontend.from_lightgbm(model.booster_), folder, {})
        source, header = ((Path(folder) / name).read_text() for name in ("main.c", "header.h"))
    glue = f"""#include "header.h"
static float score_row(const float *row) {{
  union Entry entries[{model.n_features_in_}];
  for (int j = 0; j < {model.n_features_in_}; ++j) entries[j].fvalue = row[j];
  double result[1] = {{0.0}};
  predict(entries, 1, result);
  return (float)result[0];
}}
"""
    return compiled_engine(f"{name} in C (treelite)", {"model.c": source, "header.h": header}, glue)


def m2cgen_engine(name: str, model: Any) -> Engine:
    """A LightGBM estimator as C if-else written by m2cgen; a classifier's output is its probability minus a half."""
    source = require("m2cgen", "bench").export_to_c(model)
    declared, body = "double score(double *);", "return (float)score(values);"
    if hasattr(model, "classes_"):
        declared = "void score(double *, double *);"
        body = "double p[2]; score(values, p); return (float)(p[1] - 0.5);"
    glue = f"""{declared}
static float score_row(const float *row) {{
  double values[{model.n_features_in_}];
  for (int j = 0; j < {model.n_features_in_}; ++j) values[j] = row[j];
  {body}
}}
"""
    return compiled_engine(f"{name} in C (m2cgen)", {"model.c": source}, glue)


def _emlearn() -> Any:
    """The library, without what importing it does to NumPy's handling of floating-point errors."""
    with np.errstate():  # emlearn calls np.seterr(all="raise") for all of the process
        return require("emlearn", "bench")


def emlearn_engine(name: str, model: Any) -> Engine:
    """A scikit-learn forest as C if-else written by emlearn; a classifier's output is its class minus a half."""
    source = _emlearn().convert(model, method="inline", dtype="float").save(name="forest")
    result, shift = ("int32_t", "- 0.5f") if hasattr(model, "classes_") else ("float", "")
    glue = f"""#include <stdint.h>
{result} forest_predict(const float *, int32_t);
static float score_row(const float *row) {{
  return (float)forest_predict(row, {model.n_features_in_}) {shift};
}}
"""
    return compiled_engine(name, {"model.c": source}, glue)


def emlearn_forest(case: Case) -> list[Engine]:
    """A random forest of the teacher's quality, or as near as it gets, in emlearn's C."""
    _emlearn()  # before the forests are trained
    return [emlearn_engine("emlearn forest in C", close_forest(case))]


#: Ways to run a LightGBM estimator.
BOOSTER_ENGINES: dict[str, Callable[[str, Any], Engine]] = {
    "LightGBM": lightgbm_engine,
    "treelite": treelite_engine,
    "m2cgen": m2cgen_engine,
}
