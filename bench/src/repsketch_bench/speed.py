"""``repsketch bench speed``: all contestants of all datasets, timed in one process and one run, as a dictionary.

Our side is a mapping of builders like that of the peers: ``ours={"sketch": build}`` with ``build(case)``
giving engines. Ratios are those of each peer to each of ours that is called the same way.
"""

import os
from collections.abc import Iterable, Mapping
from math import exp, log
from typing import TYPE_CHECKING, Any

from repsketch_bench.threads import one_torch_thread

from .datasets import PAPER_SIZES
from .engine import KINDS, Peer, peers_of
from .layers import layers_of
from .runtimes import Builder, build_peers
from .teachers import N_QUERIES, Case, load_case
from .timing import measure

if TYPE_CHECKING:
    from rich.table import Table


def bench_speed(
    names: Iterable[str] | None = None,
    *,
    cache: str | os.PathLike,
    ours: Mapping[str, Builder] | None = None,
    n_queries: int = N_QUERIES,
    n_rounds: int = 15,
    seed: int = 0,
    progress: bool = True,
) -> dict[str, Any]:
    """Nanoseconds a query, quality, size and ratios of every contestant, ready for JSON.

    Parameters
    ----------
    names : datasets, all six by default
    cache : folder for trained teachers
    ours : name -> function that makes engines of a case; an error there ends the run
    n_queries : rows that a batch holds
    """
    chosen = list(PAPER_SIZES if names is None else names)
    datasets = {}
    for name in chosen:
        case = load_case(name, cache, seed=seed, progress=progress)
        datasets[name] = bench_case(case, ours, n_queries=n_queries, n_rounds=n_rounds, progress=progress)
    return {"n_rounds": n_rounds, "seed": seed, "threads": 1, "kinds": KINDS, "datasets": datasets}


def bench_case(
    case: Case,
    ours: Mapping[str, Builder] | None = None,
    *,
    n_queries: int = N_QUERIES,
    n_rounds: int = 15,
    progress: bool = True,
) -> dict[str, Any]:
    """The results of ``bench_speed`` for one teacher and its data."""
    engines = [engine for build in (ours or {}).values() for engine in build(case)]
    own = [peer for engine in engines for peer in peers_of(engine, case, n_queries)]
    others, left_out = build_peers(case, n_queries, progress=progress)
    with one_torch_thread():
        timing = measure([*own, *others], n_rounds=n_rounds, progress=progress)
    layers = layers_of(case.teacher)
    return {
        "synthetic": case.is_synthetic,
        "task": case.task,
        "metric": "accuracy" if case.task == "classification" else "MAE",
        "widths": [layers[0][0].shape[1], *(len(bias) for _, bias in layers)],
        "n_queries": len(case.queries(n_queries)),
        "contestants": [
            {
                "engine": peer.engine,
                "kind": peer.kind,
                "ours": peer in own,
                "metric": peer.metric,
                "nbytes": peer.nbytes,
                "ns": vars(timing.quartiles(peer.name)),
            }
            for peer in [*own, *others]
        ],
        "ratios": [_ratio(timing, peer, mine) for mine in own for peer in others if peer.kind == mine.kind],
        "left_out": left_out,
    }


def speed_table(name: str, result: Mapping[str, Any]) -> "Table":
    """A rich table of one dataset of ``bench_speed``: nanoseconds a query by kind of call."""
    from rich.table import Table

    notes = [f"left out: {peer} ({reason})" for peer, reason in result["left_out"].items()]
    data = "synthetic data" if result["synthetic"] else "real data"
    widths = "/".join(map(str, result["widths"]))
    title = f"{name}, {widths}, {data}: ns a query (± half the quartiles' distance)"
    table = Table(title=title, caption="\n".join(notes) or None)
    table.add_column("engine")
    for column in (*KINDS.values(), result["metric"], "bytes"):
        table.add_column(column, justify="right")
    engines: dict[str, dict[str, Any]] = {}
    for entry in result["contestants"]:
        engines.setdefault(entry["engine"], {})[entry["kind"]] = entry
    for engine, kinds in engines.items():
        one = next(iter(kinds.values()))
        cells = [_cell(kinds[kind]["ns"]) if kind in kinds else "" for kind in KINDS]
        size = "" if one["nbytes"] is None else f"{one['nbytes']:,}"
        metric = "" if one["metric"] is None else f"{one['metric']:.4f}"
        table.add_row(engine, *cells, metric, size, style="bold" if one["ours"] else None)
    return table


def ratio_table(result: Mapping[str, Any]) -> "Table":
    """How many times faster than the teacher in onnxruntime float32 our sketches are, by dataset and kind of call."""
    from rich.table import Table

    table = Table(title="times faster than the teacher in onnxruntime float32 (± half the quartiles' distance)")
    table.add_column("dataset", no_wrap=True)
    all_ratios = ratios_to(result, "ONNX Runtime float32")
    for sketch, kind in all_ratios:
        table.add_column(f"{sketch}: {KINDS[kind]}", justify="right")
    for name, ratios in zip(result["datasets"], zip(*all_ratios.values(), strict=True), strict=True):
        table.add_row(name, *(_cell(ratio, ".1f") for ratio in ratios))
    means = (exp(sum(log(ratio["median"]) for ratio in ratios) / len(ratios)) for ratios in all_ratios.values())
    table.add_row("mean", *(f"{mean:.1f}" for mean in means), style="bold")
    return table


def ratios_to(result: Mapping[str, Any], peer: str) -> dict[tuple[str, str], list[dict[str, float]]]:
    """For each of our sketches and kinds of call, the ratios to one peer over all datasets."""
    ratios: dict[tuple[str, str], list[dict[str, float]]] = {}
    for found in result["datasets"].values():
        for ratio in found["ratios"]:
            if ratio["peer"] == peer:
                ratios.setdefault((ratio["ours"], ratio["kind"]), []).append(ratio)
    return ratios


def _ratio(timing, peer: Peer, mine: Peer) -> dict[str, Any]:
    ratio = timing.ratio(peer.name, mine.name)
    return {"peer": peer.engine, "ours": mine.engine, "kind": mine.kind, **vars(ratio)}


def _cell(quartiles: Mapping[str, float], spec: str = ",.0f") -> str:
    half = 50.0 * (quartiles["high"] - quartiles["low"]) / quartiles["median"]
    return f"{quartiles['median']:{spec}} ±{half:.0f}%"
