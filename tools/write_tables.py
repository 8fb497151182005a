"""Write the tables of README and docs from bench/results; with --check only say whether they are up to date.

python tools/write_tables.py [--check]
"""

import json
import sys
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from statistics import mean, median

from repsketch_bench.frontier import margins, requirements
from repsketch_bench.frontier import tables as frontier
from repsketch_bench.frontier.results import read_results as read_frontier
from repsketch_bench.paper import tables as paper
from repsketch_bench.paper.results import mean_and_deviation, read_results

ROOT = Path(__file__).parent.parent
NOT_YET = "Nothing was measured yet: run `python bench/experiments/{}.py`."
README_BUDGET, LARGEST_BUDGET = 1024, 65_536
MANY_CLASSES = ("digits", "letter", "wine")  # of the frontier's datasets those with more than two classes
BEGIN, END = "<!-- generated: {} -->", "<!-- /generated -->"


def readme_table() -> str:
    """Ours and the best peer at 1 KB, on four datasets that a rule picks: see ``readme_datasets``."""
    results = read_frontier(ROOT / "bench/results/frontier")
    rows = []
    for kind, name in readme_datasets(results).items():
        some = {name: results[name]}
        cells = {cell.budget: cell for cell in margins.against_best(some)}
        cell, large = cells[README_BUDGET], cells[LARGEST_BUDGET]
        n_digits = frontier.digits(results, cell)
        lead = frontier.lead_text(cell, n_digits)
        ours, peer, larger = (
            mean_and_deviation(list(margins.scores_of(results[name], method, budget).values()), n_digits)
            for method, budget in (("ours", cell.budget), (cell.peer, cell.budget), (large.peer, large.budget))
        )
        rows.append(
            [
                f"{paper.titled(name, results[name])} ({kind})",
                ours,
                f"{peer} ({cell.peer})",
                lead if abs(cell.lead) <= cell.noise else f"**{lead}**",
                f"{larger} ({large.peer})",
            ]
        )
    return paper.table(["test score", "ours, 1 KB", "best peer, 1 KB", "our lead", "best peer, 64 KB"], rows)


def readme_datasets(results: paper.Results) -> dict[str, str]:
    """The dataset with the most training rows of each kind, and of those that no choice was made on."""
    kinds: dict[str, list[str]] = {"two classes": [], "many classes": [], "regression": [], "set aside": []}
    for name, result in results.items():
        of_classes = "many classes" if name in MANY_CLASSES else "two classes"
        of_task = of_classes if result["metric"] == "accuracy" else "regression"
        kinds["set aside" if result["is_set_aside"] else of_task].append(name)
    return {
        kind: max(names, key=lambda name: results[name]["found"]["teacher"]["0"]["n_train"])
        for kind, names in kinds.items()
    }


def speed_list() -> str:
    """What bench/experiments/speed.py measured."""
    result = json.loads((ROOT / "bench/results/speed.json").read_text())
    kernel, a9a, build = result["kernel"], result["a9a"], result["build"]
    return "\n".join(
        [
            f"- kernel evaluations while distilling, against the same formula in plain torch: as hashed "
            f"{kernel['as hashed']['ratio']:.0f}x, closed form {kernel['closed form']['ratio']:.1f}x;",
            f"- distilling a9a ({a9a['distill_error_of_variance']:.4f} of the teacher's variance left): "
            f"{a9a['distill_seconds']:.0f} s on {result['environment']['cpu']};",
            f"- the NumPy oracle, L = 500: {a9a['oracle_rows']:,} rows in {a9a['oracle_seconds']:.2f} s;",
            f"- a sketch of {build['points']:,} weighted points (p = 8, L = 100): {build['seconds']:.0f} s, "
            f"{build['peak_bytes'] / 2**30:.1f} GiB at the peak, data included.",
        ]
    )


def runtime_table() -> str:
    """Speed-up of our sketches over the teacher in ONNX Runtime, and times of compiled boosters."""
    result = json.loads((ROOT / "bench/results/runtime.json").read_text())
    datasets = result["datasets"]
    lines = ["| times faster than ONNX Runtime float32 | " + " | ".join([*datasets, "geometric mean"]) + " |"]
    lines.append("|---" * (len(datasets) + 2) + "|")
    ours = [(entry["engine"], entry["kind"]) for entry in next(iter(datasets.values()))["contestants"] if entry["ours"]]
    for engine, kind in ours:
        if kind == "row_c":
            continue
        ratios = [_ratio_to_onnxruntime(measured, engine, kind) for measured in datasets.values()]
        name = f"{engine}, {result['kinds'][kind]}"
        cells = [f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}" for ratio in (*ratios, _geometric_mean(ratios))]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines += ["", "| nanoseconds, one row from C | " + " | ".join(datasets) + " |", "|---" * (len(datasets) + 1) + "|"]
    entries = [entry for measured in datasets.values() for entry in measured["contestants"]]
    engines = {entry["engine"] for entry in entries if entry["kind"] == "row_c"}
    for engine in sorted(engines, key=lambda name: (not name.startswith("sketch"), name)):
        cells = [_nanoseconds(measured, engine) for measured in datasets.values()]
        lines.append(f"| {engine} | " + " | ".join(cells) + " |")
    note = "synthetic data" if any(measured["synthetic"] for measured in datasets.values()) else "real data"
    machine = result["environment"]["cpu"]
    lines += ["", f"Medians of {result['n_rounds']} interleaved rounds, one thread each, {note}, {machine}."]
    return "\n".join(lines)


def instructions_table() -> str:
    """Operations the algorithm needs and instructions spent on them."""
    datasets = json.loads((ROOT / "bench/results/runtime.json").read_text())["datasets"]
    lines = [
        "| dataset | sketch | operations | one row | times | batch, AVX2 | times (operations / 16 lanes) |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, measured in datasets.items():
        for sketch, counted in measured.get("instructions", {}).items():
            if "batch" not in counted:
                continue
            operations, row, batch = (counted[key] for key in ("operations", "row", "batch"))
            lines.append(
                f"| {name} | {sketch} | {operations:,.0f} | {row:,.0f} | {row / operations:.1f} | {batch:,.0f} | "
                f"{counted['batch_ratio']:.1f} |"
            )
    return "\n".join(lines)


def classes_table() -> str:
    """Bytes of one sketch for each class, and of the smallest sketch of shared rows that is as accurate."""
    rows = []
    for name, found in _found("classes").items():
        for each in filter(None, found["one each"]):
            better = [point for point in filter(None, found["shared"]) if point["accuracy"] >= each["accuracy"]]
            row = [f"{name}, {found['n_classes']} classes", f"{each['nbytes']:,}", f"{each['accuracy']:.4f}"]
            if better:
                row += [f"{better[0]['nbytes']:,}", f"{better[0]['accuracy']:.4f}"]
                row.append(f"{each['nbytes'] / better[0]['nbytes']:.1f}x")
            rows.append(row if better else [*row, "none", "", ""])
    header = ["", "one sketch each: bytes", "accuracy", "shared rows: bytes", "accuracy", "times fewer"]
    return paper.table(header, rows) if rows else NOT_YET.format("classes")


def cost_table() -> str:
    """What bench/experiments/cost.py measured."""
    cases = _found("cost").get("cases", [])
    header = ["rows", "columns", "task", "effort", "seconds", "MB in all", "bytes", "accuracy or R2 on other rows"]
    rows = [
        [f"{case['n_rows']:,}", str(case["n_columns"]), case["task"], case["effort"], f"{case['seconds']:.1f}",
         f"{case['peak_bytes'] / 1e6:,.0f}", f"{case['nbytes']:,}", f"{case['score']:.4f}"]
        for case in cases
    ]  # fmt: skip
    return paper.table(header, rows) if cases else NOT_YET.format("cost")


def efforts_text() -> str:
    """What bench/experiments/efforts.py measured."""
    cells = _found("efforts").get("cells", [])
    if not cells:
        return NOT_YET.format("efforts")
    rises = sorted(100.0 * (cell["fast"]["loss"] / cell["normal"]["loss"] - 1.0) for cell in cells)
    worst = max(cells, key=lambda cell: cell["fast"]["loss"] / cell["normal"]["loss"])
    return (
        f"Over {len(cells)} cells of the development datasets, at 1 KB and 4 KB, without a model of the user, the "
        f'validation loss with `effort="fast"` differs from that with the normal effort by {median(rises):+.1f} % '
        f"in the median, from {rises[0]:+.1f} % to {rises[-1]:+.1f} % ({worst['dataset']}; "
        "`python bench/experiments/efforts.py`)."
    )


def intervals_table() -> str:
    """Coverage of intervals that were calibrated on validation rows, in per cent."""
    result = _found("calibration")
    wanted = [f"{100 * confidence:g} %" for confidence in result["confidences"]]
    rows = [
        [f"{name}, {kind}", *(f"{100 * value:.1f}" for value in found[f"validation, {kind}"]["mean"])]
        for name, found in result["intervals"].items()
        for kind in ("coverage", "coverage of the worst quarter")
    ]
    return paper.table(["confidence", *wanted], rows)


def probabilities_table() -> str:
    """Brier score and calibration error of teachers and their sketches."""
    kinds = ("accuracy", "Brier score", "calibration error")
    rows = [
        [f"{name}, {who}", *(f"{found[f'{who}, {kind}']['mean']:.4f}" for kind in kinds)]
        for name, found in _found("calibration")["probabilities"].items()
        for who in ("teacher", "sketch")
    ]
    return paper.table(["", *kinds], rows)


def _found(name: str) -> dict:
    """What bench/experiments/<name>.py measured, without where; nothing if it was never run."""
    path = ROOT / f"bench/results/{name}.json"
    found = json.loads(path.read_text()) if path.is_file() else {}
    return {key: value for key, value in found.items() if key != "environment"}


def _ratio_to_onnxruntime(measured: dict, engine: str, kind: str) -> float:
    found = [
        r for r in measured["ratios"] if (r["peer"], r["ours"], r["kind"]) == ("ONNX Runtime float32", engine, kind)
    ]
    return found[0]["median"]


def _nanoseconds(measured: dict, engine: str) -> str:
    found = [e for e in measured["contestants"] if (e["engine"], e["kind"]) == (engine, "row_c")]
    return f"{found[0]['ns']['median']:,.0f}" if found else ""


def _geometric_mean(values: list[float]) -> float:
    return exp(mean(log(value) for value in values))


def replaced(text: str, name: str, content: str) -> str:
    """``text`` with ``content`` between the markers of ``name``."""
    begin = BEGIN.format(name)
    before, rest = text.split(begin, 1)
    _, after = rest.split(END, 1)
    return f"{before}{begin}\n{content}\n{END}{after}"


def paper_results() -> paper.Results:
    """What ``repsketch paper`` found."""
    return read_results(ROOT / "bench/results/paper")


def from_paper(table: Callable[[paper.Results], str]) -> Callable[[], str]:
    """A table of what ``repsketch paper`` found."""
    return lambda: table(paper_results())


def from_frontier(
    table: Callable[[paper.Results], str], *, is_set_aside: bool = False, name: str = "frontier"
) -> Callable[[], str]:
    """A table of what ``repsketch bench frontier`` found."""
    folder = ROOT / "bench/results" / name
    return lambda: table(frontier.chosen_on(read_frontier(folder), is_set_aside=is_set_aside))


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "README.md": {
        "frontier": readme_table,
    },
    "docs/speed.md": {"runtime": runtime_table, "instructions": instructions_table, "training": speed_list},
    "docs/reproduction.md": {
        "run": from_paper(paper.run_text),
        "summary": from_paper(paper.readme_table),
        "outcomes": from_paper(paper.outcome_table),
        "scores": from_paper(paper.main_table),
        "costs": from_paper(paper.cost_table),
        "settings": from_paper(paper.settings_table),
        "wins": from_paper(paper.wins_table),
        "winners": from_paper(paper.winners_table),
        "curve": from_paper(paper.curve_table),
        "deployed": from_paper(paper.deployed_table),
        "ablation": from_paper(paper.ablation_table),
        "grouped": from_paper(paper.grouped_table),
    },
    "docs/frontier.md": {
        "run": from_frontier(frontier.run_text),
        "short": from_frontier(frontier.readme_text),
        "losses": from_frontier(frontier.losses_table),
        "summary": from_frontier(frontier.summary_table),
        "halved": from_frontier(frontier.halved_text),
        "floors": from_frontier(requirements.floors_table),
        "reductions": from_frontier(lambda results: requirements.reductions_table(results, paper_results())),
        "scores": from_frontier(frontier.scores_table),
        "teachers": from_frontier(frontier.teachers_table),
        "ablation": from_frontier(frontier.ablation_table, name="ablation"),
        "classes": classes_table,
        "cost": cost_table,
        "efforts": efforts_text,
        "intervals": intervals_table,
        "probabilities": probabilities_table,
        "aside-losses": from_frontier(frontier.losses_table, is_set_aside=True),
        "aside-scores": from_frontier(frontier.scores_table, is_set_aside=True),
    },
}


def main() -> None:
    """Write the tables, or compare."""
    for file, tables in TABLES.items():
        path = ROOT / file
        old = new = path.read_text()
        for name, table in tables.items():
            new = replaced(new, name, table())
        if "--check" in sys.argv[1:] and new != old:
            sys.exit(f"the tables of {file} are not those of bench/results; run: make tables")
        path.write_text(new)


if __name__ == "__main__":
    main()
