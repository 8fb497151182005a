"""Requirements that were set beforehand, and whether ours meets them: scores at fixed bytes, bytes at fixed scores."""

from statistics import mean

from ..paper.printed import PRINTED
from ..paper.results import mean_and_deviation, over_seeds
from ..paper.tables import table, titled
from .margins import Results, budgets_of, peers_of, scores_of
from .settings import OURS
from .tables import NOTHING, size

#: Test scores to reach by dataset and bytes.
FLOORS = (
    ("a9a", 1024, 0.852),
    ("adult", 1024, 0.871),
    ("phishing", 1024, 0.965),
    ("skin", 1024, 0.999),
    ("susy", 1024, 0.802),
    ("abalone", 1024, 1.49),
    ("yearmsd", 1024, 6.40),
    ("digits", 1024, 0.965),
    ("digits", 4096, 0.975),
)
#: How far behind our network a sketch may be that is counted as the paper counts.
MARGINS = {"a9a": 0.001, "phishing": 0.001, "skin": 0.001, "susy": 0.001, "abalone": 0.01, "yearmsd": 0.05}
TIMES = 10.0  # the paper's own reduction


def floors_table(results: Results) -> str:
    """Scores required at a size, ours, and whether that is enough."""
    rows = []
    for name, budget, floor in FLOORS:
        if name not in results or not (scores := list(scores_of(results[name], OURS, budget).values())):
            continue
        is_less = results[name]["metric"] != "accuracy"
        is_reached = mean(scores) <= floor if is_less else mean(scores) >= floor
        sign = "≤" if is_less else "≥"
        row = [
            titled(name, results[name]),
            size(budget),
            f"{sign} {floor:g}",
            mean_and_deviation(scores, 3 if is_less else 4),
        ]
        rows.append([*row, "yes" if is_reached else "**no**"])
    return table(["", "bytes", "required", "ours", "reached"], rows) if rows else NOTHING


def reductions_table(results: Results, networks: Results) -> str:
    """How many times smaller than our network of the paper's shape ours are, a network's numbers having 64 bits.

    Parameters
    ----------
    results : of the frontier
    networks : of the paper's experiments, on the same test rows
    """
    rows = []
    for name, margin in MARGINS.items():
        if name not in networks or name not in results or OURS not in results[name]["found"]:
            continue
        n_numbers = over_seeds(networks[name], "teacher", "n_numbers")[0]
        network = mean(over_seeds(networks[name], "teacher", "score"))
        printed = PRINTED[name].memory_reduction
        digits = 4 if results[name]["metric"] == "accuracy" else 3
        row = [titled(name, results[name]), f"{network:.{digits}f}", f"{printed:g}x", f"{TIMES * printed:g}x"]
        for bar in (network, best_of_peers(results, name)):
            found = smallest_sketch(results, name, bar, margin)
            if found is None:
                row.append(f"**none reaches {bar:.{digits}f}**")
                continue
            nbytes, score = found
            times = 8 * n_numbers / nbytes
            text = f"{times:,.0f}x: {score:.{digits}f} in {nbytes:,.0f} bytes"
            row.append(text if times >= TIMES * printed else f"**{text}**")
        rows.append(row)
    header = ["", "our network", "the paper", "required", "ours, as good as our network", "ours, as good as any peer"]
    return table(header, rows) if rows else NOTHING


def best_of_peers(results: Results, name: str) -> float:
    """The best mean test score of any peer at any budget."""
    found = (scores_of(results[name], peer, budget) for peer in peers_of(results) for budget in budgets_of(results))
    scores = [mean(by_seed.values()) for by_seed in found if by_seed]
    return max(scores) if results[name]["metric"] == "accuracy" else min(scores)


def smallest_sketch(results: Results, name: str, bar: float, margin: float) -> tuple[float, float] | None:
    """Bytes and score, means over seeds, at the smallest budget where ours is at most ``margin`` behind ``bar``."""
    sign = 1.0 if results[name]["metric"] == "accuracy" else -1.0
    for budget in budgets_of(results):
        scores = list(scores_of(results[name], OURS, budget).values())
        if scores and sign * (mean(scores) - bar) >= -margin:
            return mean(over_seeds(results[name], OURS, budget, "nbytes")), mean(scores)
    return None
