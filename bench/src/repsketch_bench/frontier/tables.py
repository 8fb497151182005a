"""The frontier's tables as Markdown, our losses first. Every number comes from result files."""

from collections.abc import Iterator
from statistics import mean
from typing import Any

from ..paper.results import mean_and_deviation
from ..paper.tables import named, table, titled
from .margins import (
    Cell,
    Results,
    against,
    against_best,
    budgets_of,
    compare,
    count,
    peers_of,
    scores_of,
    two_standard_errors,
)
from .settings import N_SEEDS, OURS

NOTHING = "Nothing was measured yet: run `repsketch bench frontier`."


def losses_table(results: Results) -> str:
    """Cells in which some peer is better than ours beyond the noise, the largest loss first."""
    cells = [cell for cell in against_best(results) if cell.outcome == "loss"]
    if not cells:
        return "None." if any(True for _ in against_best(results)) else NOTHING
    cells.sort(key=lambda cell: cell.lead / max(abs(cell.theirs), 1e-12))
    rows = [
        [
            named(cell.dataset, results[cell.dataset]),
            size(cell.budget),
            cell.peer,
            f"{cell.theirs:.{digits(results, cell)}f}",
            f"{cell.ours:.{digits(results, cell)}f}",
            lead_text(cell, digits(results, cell)),
        ]
        for cell in cells
    ]
    return table(["", "bytes", "best peer", "its score", "ours", "our lead"], rows)


def summary_table(results: Results) -> str:
    """Wins, ties and losses of ours against each peer, and against the best one of each cell."""
    lines = {peer: count(against(results, peer)) for peer in peers_of(results)}
    lines = {"**the best of all, by test score**": count(against_best(results)), **lines}
    rows = [[peer, *(str(counts[outcome]) for outcome in ("loss", "tie", "win"))] for peer, counts in lines.items()]
    return table(["ours against", "worse", "within noise", "better"], rows) if peers_of(results) else NOTHING


def halved_text(results: Results) -> str:
    """In how many cells ours keeps up with the best peer with at most half its bytes."""
    cells = list(against_best(results, is_halved=True))
    if not cells:
        return NOTHING
    counts = count(cells)
    return (
        f"With at most half the bytes of the best peer, ours is better in {counts['win']}, within noise in "
        f"{counts['tie']} and worse in {counts['loss']} of {len(cells)} cells."
    )


def scores_table(results: Results) -> str:
    """Test scores of every method at every budget, mean and standard deviation over seeds; the best in bold."""
    rows = []
    methods = [OURS, *peers_of(results)]
    for name, result in results.items():
        is_less = result["metric"] != "accuracy"
        for budget in budgets_of(results):
            scores = {method: list(scores_of(result, method, budget).values()) for method in methods}
            known = {method: mean(values) for method, values in scores.items() if values}
            if not known:
                continue
            best = (min if is_less else max)(known, key=lambda method: known[method])
            cells = [mean_and_deviation(values, 3 if is_less else 4) for values in scores.values()]
            cells = [f"**{cell}**" if method == best else cell for method, cell in zip(methods, cells, strict=True)]
            rows.append([titled(name, result), size(budget), *cells])
    return table(["", "bytes", *methods], rows) if rows else NOTHING


def short_table(results: Results, budgets: tuple[int, ...] = (512, 1024, 4096)) -> str:
    """Ours (mean, standard deviation) beside the best peer at a few budgets; a star marks a lead beyond the noise."""
    cells = {(cell.dataset, cell.budget): cell for cell in against_best(results)}
    rows = []
    for name, result in results.items():
        row = [titled(name, result)]
        for budget in budgets:
            cell = cells.get((name, budget))
            scores = list(scores_of(result, OURS, budget).values())
            row.append("–" if cell is None else _duel(cell, scores, digits(results, cell)))
        rows.append(row)
    return table(["ours / best peer", *map(size, budgets)], rows) if cells else NOTHING


def _duel(cell: Cell, scores: list[float], n_digits: int) -> str:
    stars = {"win": ("*", ""), "loss": ("", "*"), "tie": ("", "")}[cell.outcome]
    return f"{mean_and_deviation(scores, n_digits)}{stars[0]} / {cell.theirs:.{n_digits}f}{stars[1]} ({cell.peer})"


def readme_text(results: Results) -> str:
    """The short table, and how often ours is worse."""
    cells = list(against_best(results))
    if not cells:
        return NOTHING
    counts = count(cells)
    return (
        f"{short_table(results)}\n\n{_seeds_text(results)} Of {len(cells)} cells (datasets times seven budgets) the "
        f"best peer is ahead beyond the noise in {counts['loss']}, within it in {counts['tie']}, behind in "
        f"{counts['win']}."
    )


def ablation_table(results: Results) -> str:
    """What is lost with one component switched off: validation loss, over all cells; scores, mean over seeds and noise.

    A star marks a difference beyond the noise.
    """
    rows = []
    for name in peers_of(results):
        rises = [rise for dataset in results.values() for rise in _rises(dataset, name)]
        row = [name, "–" if not rises else f"{mean(rises):+.2f} ± {two_standard_errors(rises):.2f} %"]
        for dataset, result in results.items():
            for budget in budgets_of(results):
                cell = compare(dataset, result, name, budget)
                star = "*" if cell is not None and len(cell.differences) > 1 and cell.outcome != "tie" else ""
                row.append("–" if cell is None else f"{lead_text(cell, digits(results, cell))}{star}")
        rows.append(row)
    columns = [
        f"{titled(dataset, result)}, {size(budget)}"
        for dataset, result in results.items()
        for budget in budgets_of(results)
    ]
    return table(["what is lost", "validation loss, mean of all", *columns], rows) if rows else NOTHING


def _rises(result: dict[str, Any], name: str) -> Iterator[float]:
    """By how many per cent the validation loss is larger than ours, at every seed and budget of a dataset."""
    for seed, entries in result["found"].get(name, {}).items():
        for budget, entry in entries.items():
            ours = result["found"][OURS].get(seed, {}).get(budget, {})
            if "loss" in entry and "loss" in ours:
                yield 100.0 * (entry["loss"] - ours["loss"]) / abs(ours["loss"])


def teachers_table(results: Results) -> str:
    """Rows, and which teacher had the smallest out-of-fold loss, by seeds."""
    rows = []
    for name, result in results.items():
        found = list(result["found"].get("teacher", {}).values())
        if not found:
            continue
        names = [entry["best"] for entry in found]
        chosen = ", ".join(f"{kind} {names.count(kind)}x" for kind in dict.fromkeys(names))
        first = found[0]
        sizes = (f"{first[key]:,}" for key in ("n_train", "n_test", "n_columns"))
        rows.append([named(name, result), *sizes, chosen, f"{sum(result['jobs'].values()) / 60:.0f}"])
    header = ["", "training rows", "test rows", "columns", "best teacher", "core minutes"]
    return table(header, rows) if rows else NOTHING


def run_text(results: Results) -> str:
    """What was run: seeds, settings tried, machine, versions, subsets."""
    if not results:
        return NOTHING
    first = next(iter(results.values()))
    versions = ", ".join(f"{name} {version}" for name, version in first["environment"]["libraries"].items())
    settings = first["settings"]
    text = (
        f"{_seeds_text(results)} {settings['n_screened']} settings of every peer tried on "
        f"{settings['screening_rows']:,} rows, the best {settings['n_final']} again on all (at most "
        f"{settings['most_rows']:,}){_tried_by_ours(results)}; {first['environment']['cpu']}; {versions}."
    )
    notes = [f"- {name}: {result['note']}" for name, result in results.items() if result["note"]]
    return "\n".join([text, "", *notes]) if notes else text


def _seeds_text(results: Results) -> str:
    """How many seeds, and whether that is all."""
    methods = [OURS, *peers_of(results)]
    counts = [len(result["found"].get(method, {})) for result in results.values() for method in methods]
    n_seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    if min(counts) < N_SEEDS:
        return f"**Not finished: {n_seeds} of {N_SEEDS} seeds; differences may be noise.**"
    return f"{n_seeds} seeds."


def _tried_by_ours(results: Results) -> str:
    """How many sketches ours tried at a budget, where that was written down."""
    entries = [entry for result in results.values() for found in result["found"].get(OURS, {}).values()
               for entry in found.values()]  # fmt: skip
    tried = [entry["n_tried"] for entry in entries if "n_tried" in entry]
    return f", of ours {min(tried)} to {max(tried)}, on average {mean(tried):.0f}" if tried else ""


def size(nbytes: int) -> str:
    """A budget in bytes or kilobytes.

    >>> size(512), size(4096)
    ('512 B', '4 KB')
    """
    return f"{nbytes} B" if nbytes < 1024 or nbytes % 1024 else f"{nbytes // 1024} KB"


def digits(results: Results, cell: Cell) -> int:
    """Digits of a score worth printing."""
    return 4 if results[cell.dataset]["metric"] == "accuracy" else 3


def lead_text(cell: Cell, n_digits: int) -> str:
    """Mean lead and its noise."""
    noise = f" ± {cell.noise:.{n_digits}f}" if len(cell.differences) > 1 else ""
    return f"{cell.lead:+.{n_digits}f}{noise}"


def chosen_on(results: Results, *, is_set_aside: bool = False) -> Results:
    """The results on datasets that choices were made on; or on those set aside."""
    return {name: result for name, result in results.items() if result["is_set_aside"] is is_set_aside}


def tables_text(results: Results) -> str:
    """All tables, each under its heading; datasets set aside in a section of their own."""
    sections = []
    for is_set_aside in (False, True):
        some = chosen_on(results, is_set_aside=is_set_aside)
        if some:
            where = " on data set aside" if is_set_aside else ""
            sections += [
                (f"Where a peer is better{where}", losses_table(some)),
                (f"Ours against each{where}", f"{summary_table(some)}\n\n{halved_text(some)}"),
                (f"All scores{where}", scores_table(some)),
                (f"Data and teachers{where}", teachers_table(some)),
            ]
    return "\n\n".join(f"## {title}\n\n{body}" for title, body in [*sections, ("Run", run_text(results))]) + "\n"
