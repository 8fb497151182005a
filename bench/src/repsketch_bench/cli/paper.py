"""``repsketch paper``: runs the paper's experiments and writes results and tables."""

import os
from pathlib import Path
from typing import Annotated

import typer

_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "repsketch" / "paper"


def paper(
    datasets: Annotated[list[str] | None, typer.Argument(help="a9a phishing skin susy abalone yearmsd")] = None,
    seeds: Annotated[int, typer.Option(help="runs of each dataset", min=1)] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="one seed, few rows, two budgets: minutes, no result")] = False,
    budget_curve: Annotated[bool, typer.Option(help="Figure 2: every method at every budget")] = True,
    output: Annotated[Path, typer.Option("--output", "-o", help="folder of results, tables and figures")] = Path(
        "bench/results/paper"
    ),
    cache: Annotated[Path, typer.Option(help="folder for trained networks and finished jobs")] = _CACHE,
    workers: Annotated[int, typer.Option(help="processes", min=1)] = 2,
) -> None:
    """Every number of the paper's tables and figure beside ours. Stop it and start it again: it goes on."""
    from rich.console import Console
    from rich.markdown import Markdown

    from ..datasets import load_split, source_of
    from ..paper.figures import draw_convergence, draw_frontier
    from ..paper.results import collect, write_results
    from ..paper.run import jobs_of, run_jobs
    from ..paper.settings import SETTINGS
    from ..paper.store import Store
    from ..paper.tables import tables_text

    names = datasets or list(SETTINGS)
    for name in names:
        source_of(name)
    for name in names:
        load_split(name)  # what is not there is said before an hour has passed
    jobs = jobs_of(names, 1 if quick else seeds, is_quick=quick, has_curve=budget_curve)
    store = Store(cache / "jobs")
    run_jobs(jobs, store, cache, n_workers=workers)
    results = collect(jobs, store)
    if quick and output == Path("bench/results/paper"):
        output = Path("build/paper-quick")  # a quick run must not replace results
    write_results(results, output)
    draw_frontier(results, output)
    draw_convergence(results, output)
    text = tables_text(results)
    (output / "tables.md").write_text(text)
    console = Console()
    console.print(Markdown(text))
    console.print(f"written: {output}/*.json, tables.md, frontier.svg, frontier.png")
