"""The paper's tables, ours beside them, as Markdown. Every number comes from result files."""

from collections.abc import Iterable, Iterator
from statistics import mean, stdev
from typing import Any, NamedTuple

from ..datasets import PAPER_SIZES
from .printed import PRINTED
from .results import mean_and_deviation, over_seeds
from .settings import REDUCTIONS, TABLE_REDUCTIONS

#: How far a refitted sketch of the paper's size may be behind our network: half a point, 0.03 and 0.15 of MAE.
ALLOWED = {"a9a": 0.005, "phishing": 0.005, "skin": 0.005, "susy": 0.005, "abalone": 0.03, "yearmsd": 0.15}
Results = dict[str, dict[str, Any]]
METHODS = (
    "sketch, refitted",
    "sketch, as in the paper",
    "pruned once",
    "pruned gradually",
    "distilled",
    "Fourier features, seeded",
    "Nyström",
    "LightGBM",
    "linear",
)
PAPER_METHODS = ("pruned once", "pruned gradually", "distilled")  # those of its Figure 2
PAPER_VARIANTS = ("Euclidean", "sign bits")  # readings of its hash
KIND_OF = {
    "sketch, refitted": "sketch",
    "sketch, as in the paper": "sketch",
    "pruned once": "pruning",
    "pruned gradually": "pruning",
    "distilled": "distilled",
}


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    header = list(header)
    lines = [header, ["---"] * len(header), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main_table(results: Results) -> str:
    """Table 1: scores of all stages, ours and the paper's."""
    columns = {
        "Kernel": ("Euclidean", "kernel"),
        "Kernel, sign bits": ("sign bits", "kernel"),
        "RS": ("Euclidean", "sketch"),
        "RS, sign bits": ("sign bits", "sketch"),
        "RS, sign bits, calibrated": ("sign bits", "calibrated"),
        "RS + linear term": ("linear term", "sketch"),
        "RS refitted": ("Euclidean", "refitted"),
        "RS, sign bits, refitted": ("sign bits", "refitted"),
        "RS + linear term, refitted": ("linear term", "refitted"),
        "the last in int8": ("linear term", "int8"),
    }
    rows = []
    for name, result in results.items():
        printed, digits = PRINTED[name], 4 if result["task"] == "classification" else 3
        network = mean_and_deviation(over_seeds(result, "teacher", "score"), digits)
        cells = [mean_and_deviation(over_seeds(result, "stages", *path, "score"), digits) for path in columns.values()]
        paper = f"{printed.network:g} / {printed.kernel:g} / {printed.sketch:g}"
        rows.append([titled(name, result), paper, network, *cells])
    return table(["", "the paper's NN / Kernel / RS", "NN", *columns], rows)


def outcome_table(results: Results) -> str:
    """Whether its own method reaches the paper's figure, and what is left of our network once counters are refitted.

    Which hash, and whether with a linear term, is chosen by the validation rows, mean over seeds.
    """
    rows = []
    for name, result in results.items():
        printed, sign = PRINTED[name], 1.0 if result["task"] == "classification" else -1.0
        network = mean(over_seeds(result, "teacher", "score"))
        plain = _chosen(result, PAPER_VARIANTS, "sketch")
        refitted = _chosen(result, (*PAPER_VARIANTS, "linear term"), "refitted")
        scores = {stage: over_seeds(result, "stages", variant, stage, "score")
                  for stage, variant in (("sketch", plain), ("refitted", refitted))}  # fmt: skip
        is_reached = sign * (mean(scores["sketch"]) - printed.sketch) >= 0
        gap = sign * (mean(scores["refitted"]) - network)
        rows.append(
            [
                titled(name, result),
                f"{printed.sketch:g}",
                f"{mean_and_deviation(scores['sketch'])} ({plain})",
                "yes" if is_reached else "**no**",
                f"{network:.4f}",
                f"{mean_and_deviation(scores['refitted'])} ({refitted})",
                f"{gap:+.4f}",
                "yes" if gap >= -ALLOWED[name] else f"**no** ({ALLOWED[name]:g} required)",
            ]
        )
    header = ["", "the paper's RS", "ours, as in the paper", "reached", "our NN", "RS refitted", "lead", "close"]
    return table(header, rows)


def _chosen(result: dict[str, Any], variants: Iterable[str], stage: str) -> str:
    return max(variants, key=lambda variant: mean(over_seeds(result, "stages", variant, stage, "validation")))


def named(name: str, result: dict[str, Any]) -> str:
    """A dataset, with a mark where its numbers are those of a subset.

    >>> named("a9a", {"note": ""}), named("susy", {"note": "40,924 of 5,000,000 rows"})
    ('a9a', 'susy (subset)')
    """
    return f"{name} (subset)" if result["note"] else name


def titled(name: str, result: dict[str, Any]) -> str:
    """A dataset with its metric."""
    return f"{named(name, result)}, {result['metric']}"


def readme_table(results: Results) -> str:
    """The short of it: the paper's figure, our network, and sketches of the paper's size."""
    header = ["test score", "the paper's network → sketch", "our network", "sketch, as in the paper", "refitted"]
    header += ["numbers", "bytes (float32 → int8)"]
    rows = []
    for name, result in results.items():
        printed, digits = PRINTED[name], 4 if result["task"] == "classification" else 3
        plain = _chosen(result, PAPER_VARIANTS, "sketch")
        refitted = _chosen(result, (*PAPER_VARIANTS, "linear term"), "refitted")
        stages = [mean_and_deviation(over_seeds(result, "stages", *path), digits)
                  for path in ((plain, "sketch", "score"), (refitted, "refitted", "score"))]  # fmt: skip
        network = over_seeds(result, "teacher", "n_numbers")[0]
        numbers, size, small = (
            mean(over_seeds(result, "stages", refitted, *path))
            for path in (("refitted", "n_numbers"), ("refitted", "file_nbytes"), ("int8", "file_nbytes"))
        )
        rows.append(
            [
                titled(name, result),
                f"{printed.network:g} → {printed.sketch:g}",
                mean_and_deviation(over_seeds(result, "teacher", "score"), digits),
                *stages,
                f"{numbers:,.0f} ({network / numbers:.0f}x fewer)",
                f"{size:,.0f} → {small:,.0f}",
            ]
        )
    return table(header, rows)


def wins_table(results: Results) -> str:
    """How often sketches are best at equal memory, within noise of the best, and worse."""
    rows = []
    for ours in METHODS[:2]:
        for title, others in (("pruning and distillation", PAPER_METHODS), ("all other methods", METHODS[2:])):
            differences = [line.differences for line in _winners(results, TABLE_REDUCTIONS, ours, others)]
            clear = [mean(lead) for lead in differences if not _is_noise(lead)]
            won, lost = sum(lead > 0 for lead in clear), sum(lead < 0 for lead in clear)
            rows.append([ours, title, f"{won}", f"{len(differences) - won - lost}", f"{lost}"])
    cases = f"{len(results)} datasets at {', '.join(f'{r}x' for r in TABLE_REDUCTIONS)} fewer numbers"
    return table([cases, "against the best of", "better", "within noise", "worse"], rows)


def run_text(results: Results) -> str:
    """What was run: seeds, time, machine, versions, subsets."""
    first = next(iter(results.values()))
    minutes = sum(result["seconds"] for result in results.values()) / 60
    versions = ", ".join(f"{name} {version}" for name, version in first["environment"]["libraries"].items())
    notes = [f"- {name}: {result['note']}" for name, result in results.items() if result["note"]]
    text = (
        f"{len(first['found']['teacher'])} seeds, {minutes:.0f} core minutes in all, "
        f"{first['environment']['cpu']}; {versions}."
    )
    return "\n".join([text, "", *notes]) if notes else text


def cost_table(results: Results) -> str:
    """Table 1, right half: memory and operations the paper's way, and bytes as deployed."""
    header = ["", "NN numbers", "RS numbers", "fewer (paper)", "NN FLOPs", "RS FLOPs", "fewer (paper)"]
    header += ["NN float32 bytes", "NN int8 bytes", ".rsk float32", ".rsk int8"]
    rows = []
    for name, result in results.items():
        network, flops = (over_seeds(result, "teacher", key)[0] for key in ("n_numbers", "flops"))
        numbers, ours = (over_seeds(result, "stages", "Euclidean", "sketch", key)[0] for key in ("n_numbers", "flops"))
        sizes = (over_seeds(result, "stages", "Euclidean", stage, "file_nbytes") for stage in ("refitted", "int8"))
        files = [mean(size) for size in sizes]
        printed = PRINTED[name]
        rows.append(
            [
                named(name, result),
                *(f"{network:,.0f}", f"{numbers:,.0f}", f"{network / numbers:.0f}x ({printed.memory_reduction:g}x)"),
                *(f"{flops:,.0f}", f"{ours:,.0f}", f"{flops / ours:.1f}x ({printed.flops_reduction:g}x)"),
                *(f"{4 * network:,.0f}", f"{network:,.0f}", *(f"{size:,.0f}" for size in files)),
            ]
        )
    return table(header, rows)


def settings_table(results: Results) -> str:
    """Table 2: data and settings."""
    rows = []
    for name, result in results.items():
        sizes = PAPER_SIZES[name]
        shape = "/".join(map(str, sizes.hidden))
        rows.append(
            [
                named(name, result),
                result["task"],
                f"{sizes.n_features}",
                shape,
                f"{sizes.n_rows}",
                f"{sizes.n_concat}",
                f"{2**sizes.n_concat}",
                f"{sizes.n_components}",
                f"{len(result['found'].get('teacher', {}))}",
                f"{result['seconds'] / 60:.0f}",
            ]
        )
    return table(["", "task", "d", "network", "L", "K", "R", "p", "seeds", "core minutes"], rows)


class _Line(NamedTuple):
    """One line of the table of winners."""

    dataset: str
    reduction: int
    ours: float
    best: str  # of the others
    best_score: float
    differences: list[float]  # of ours, by seed; positive is better


def _winners(
    results: Results, reductions: Iterable[int], ours: str = METHODS[0], others: Iterable[str] = METHODS[1:]
) -> Iterator[_Line]:
    others = list(others)
    for name, result in results.items():
        sign = 1.0 if result["task"] == "classification" else -1.0
        for reduction in reductions:
            scores = {method: found for method in (ours, *others) if (found := scores_of(result, method, reduction))}
            if ours in scores and len(scores) > 1:
                best = max(scores.keys() - {ours}, key=lambda method: (sign * mean(scores[method]), method))
                differences = [sign * (a - b) for a, b in zip(scores[ours], scores[best], strict=True)]
                yield _Line(named(name, result), reduction, mean(scores[ours]), best, mean(scores[best]), differences)


def winners_table(results: Results, reductions: Iterable[int] = TABLE_REDUCTIONS) -> str:
    """Which method is best at each reduction, and what the sketch loses or wins against the best of the others.

    The lead is the mean over seeds, with two standard errors of the seeds' differences.
    """
    rows = [
        [
            line.dataset,
            f"{line.reduction}x",
            f"**{METHODS[0] if mean(line.differences) > 0 else line.best}**",
            f"{line.ours:.4f}",
            f"{line.best_score:.4f} ({line.best})",
            _lead(line.differences),
        ]
        for line in _winners(results, reductions)
    ]
    return table(["", "reduction", "winner", METHODS[0], "best other", "the sketch's lead"], rows)


def _lead(differences: list[float]) -> str:
    """Mean and two standard errors; a lead within them is called noise.

    >>> _lead([0.01, 0.012]), _lead([-0.01, 0.012]), _lead([0.5])
    ('+0.0110 ± 0.0020', '+0.0010 ± 0.0220, noise', '+0.5000')
    """
    if len(differences) == 1:
        return f"{mean(differences):+.4f}"
    return f"{mean(differences):+.4f} ± {_two_errors(differences):.4f}" + (", noise" if _is_noise(differences) else "")


def _two_errors(differences: list[float]) -> float:
    return 2.0 * stdev(differences) / len(differences) ** 0.5


def _is_noise(differences: list[float]) -> bool:
    return len(differences) > 1 and abs(mean(differences)) <= _two_errors(differences)


def curve_table(results: Results) -> str:
    """Figure 2 as numbers: mean test score of every method at every reduction."""
    rows = []
    for name, result in results.items():
        for method in METHODS:
            cells = [mean_score(result, method, reduction) for reduction in REDUCTIONS]
            rows.append([named(name, result), method, *("–" if cell is None else f"{cell:.4f}" for cell in cells)])
        int8 = over_seeds(result, "others", "int8 network", "score")
        if int8:
            size = mean(over_seeds(result, "others", "int8 network", "nbytes"))
            fewer = 4 * over_seeds(result, "teacher", "n_numbers")[0] / size
            title = f"int8 network ({fewer:.1f}x fewer bytes than in float32)"
            rows.append([named(name, result), title, f"{mean(int8):.4f}", *[""] * (len(REDUCTIONS) - 1)])
    return table(["", "method", *(f"{reduction}x" for reduction in REDUCTIONS)], rows)


def deployed_table(results: Results, reduction: int = 100) -> str:
    """Bytes that a device has to hold at one reduction: sketches in int8, networks in float32 with their indices."""
    rows = []
    for name, result in results.items():
        for method in METHODS:
            path = (KIND_OF.get(method, "others"), method, reduction)
            score = over_seeds(result, *path, "int8_score") or over_seeds(result, *path, "score")
            if score:
                numbers, size = (mean(over_seeds(result, *path, key)) for key in ("n_numbers", "nbytes"))
                rows.append([named(name, result), method, f"{mean(score):.4f}", f"{numbers:,.0f}", f"{size:,.0f}"])
    return table(["", f"method at {reduction}x", "score as deployed", "numbers", "bytes"], rows)


def ablation_table(results: Results) -> str:
    """Test scores of the paper's counters, calibrated and refitted, by choice."""
    names = dict.fromkeys(
        name for result in results.values() for found in result["found"].get("ablation", {}).values() for name in found
    )
    rows = []
    for name in names:
        cells = []
        for result in results.values():
            scores = (over_seeds(result, "ablation", name, stage) for stage in ("score", "calibrated", "refitted"))
            cells.append(" / ".join(f"{mean(score):.3f}" if score else "–" for score in scores))
        rows.append([name, *cells])
    titles = [named(name, result) for name, result in results.items()]
    return table(["plain / calibrated / refitted", *titles], rows)


def grouped_table(results: Results) -> str:
    """Scores with equal rows on both sides of the split, and with all of them on one side."""
    stages: dict[str, tuple[str, ...]] = {"NN": ("teacher",)}
    for variant in PAPER_VARIANTS:
        stages |= {f"{stage}, {variant}": (variant, stage) for stage in ("kernel", "sketch", "refitted")}
    rows = []
    for name, result in results.items():
        if "grouped" in result["found"]:
            for stage, path in stages.items():
                random = over_seeds(result, "teacher" if stage == "NN" else "stages", *path[stage == "NN" :], "score")
                grouped = over_seeds(result, "grouped", *path, "score")
                rows.append([named(name, result), stage, mean_and_deviation(random), mean_and_deviation(grouped)])
    return table(["", "stage", "random split", "equal rows on one side"], rows)


def scores_of(result: dict[str, Any], method: str, reduction: int) -> list[float]:
    """Test scores of a method at a reduction, one a seed; none where it cannot be so small."""
    return over_seeds(result, KIND_OF.get(method, "others"), method, reduction, "score")


def mean_score(result: dict[str, Any], method: str, reduction: int) -> float | None:
    """Mean test score of a method at a reduction, or None where it cannot be so small."""
    scores = scores_of(result, method, reduction)
    return mean(scores) if scores else None


def tables_text(results: Results) -> str:
    """All tables, each under its heading."""
    sections = [
        ("Is the paper's figure reached?", outcome_table(results)),
        ("Table 1: scores", main_table(results)),
        ("Table 1: memory and operations", cost_table(results)),
        ("Table 2: data and settings", settings_table(results)),
        ("Figure 2: wins and losses", wins_table(results)),
        ("Figure 2: who wins at equal memory", winners_table(results)),
        ("Figure 2: all methods", curve_table(results)),
        ("Bytes as deployed", deployed_table(results)),
        ("What each choice is worth", ablation_table(results)),
        ("Equal rows on one side", grouped_table(results)),
    ]
    notes = [f"- {result['note']}" for result in results.values() if result["note"]]
    text = "\n\n".join(f"## {title}\n\n{body}" for title, body in sections)
    return text + ("\n\n" + "\n".join(notes) if notes else "") + "\n"
