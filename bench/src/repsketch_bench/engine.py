"""Contestants of the speed benchmark: an engine is one way to run one model, a peer one way to call it.

Our own sketches enter exactly as the others do: as an ``Engine``, turned into peers by ``peers_of``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .teachers import N_QUERIES, Case
from .timing import Contestant

KINDS = {"batch": "many rows a call", "row_python": "one row, from Python", "row_c": "one row, from C"}
ROWS_IN_PYTHON = 64  # different rows of one timed call: the loop around them costs some 10 ns a row

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Engine:
    """One way to run one model.

    Parameters
    ----------
    name : unique within a dataset
    predict : (n, d) C-contiguous float32 -> (n,) outputs, by the fastest way for many rows; a positive one says class 1
    row : the call a Python program makes for one row (1, d), or None
    rows_in_c : as ``predict``, but each row by a C call of its own (see ``compiled.call_rows``), or None
    nbytes : size of the model, or None where it says nothing
    is_model : False for what returns without predicting, such as an empty graph: it has no score
    """

    name: str
    predict: Predict
    row: Callable[[np.ndarray], object] | None = None
    rows_in_c: Predict | None = None
    nbytes: int | None = None
    is_model: bool = True


@dataclass(frozen=True)
class Peer(Contestant):
    """A contestant of a known kind, with the quality and the size of its model.

    ``name`` is the engine's name and the kind, "LightGBM: batch"; ``metric`` is taken on the test rows.
    """

    engine: str
    kind: str  # a key of KINDS
    metric: float | None
    nbytes: int | None


def peers_of(engine: Engine, case: Case, n_queries: int = N_QUERIES) -> list[Peer]:
    """The peers of one engine, one for each kind of call it offers, with ``n_queries`` rows."""
    X = case.queries(n_queries)
    metric = case.score(engine.predict(case.X_test), case.y_test) if engine.is_model else None

    def peer(kind: str, call: Callable[[], object], n: int) -> Peer:
        return Peer(f"{engine.name}: {kind}", call, n, engine.name, kind, metric, engine.nbytes)

    peers = [peer("batch", lambda: engine.predict(X), len(X))]
    if (row := engine.row) is not None:
        rows = [X[i : i + 1].copy() for i in range(min(ROWS_IN_PYTHON, len(X)))]

        def ask_each() -> None:
            for x in rows:
                row(x)

        peers.append(peer("row_python", ask_each, len(rows)))
    if (rows_in_c := engine.rows_in_c) is not None:
        peers.append(peer("row_c", lambda: rows_in_c(X), len(X)))
    return peers
