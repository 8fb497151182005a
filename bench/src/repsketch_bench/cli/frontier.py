"""``repsketch bench frontier``: accuracy against bytes, ours and every peer."""

import os
from pathlib import Path
from typing import Annotated

import typer

_CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "repsketch" / "frontier"
_OUTPUT = Path("bench/results/frontier")


def _methods(text: str) -> list[str]:
    from repsketch.checks import check_choice

    from ..frontier.ablation import ABLATIONS
    from ..frontier.settings import METHODS, OURS

    if not text:
        return list(METHODS)
    if text == "ablation":
        return [OURS, *ABLATIONS]
    return list(dict.fromkeys(check_choice("methods", name.strip(), METHODS) for name in text.split(",")))


def frontier(
    datasets: Annotated[list[str] | None, typer.Argument(help="such as abalone digits; all without any")] = None,
    seeds: Annotated[int, typer.Option(help="runs of each dataset", min=1)] = 5,
    budgets: Annotated[str, typer.Option(help="such as 512B,4KB; all seven without any")] = "",
    methods: Annotated[
        str, typer.Option(help="such as ours,boosted,network; all without any; ablation: ours with one trainer off")
    ] = "",
    output: Annotated[Path, typer.Option("--output", "-o", help="folder of results, tables and curves")] = _OUTPUT,
    cache: Annotated[Path, typer.Option(help="folder for finished jobs and teachers' soft labels")] = _CACHE,
    quick: Annotated[bool, typer.Option("--quick", help="one seed, few rows, two budgets: minutes, no result")] = False,
    workers: Annotated[int, typer.Option(help="processes", min=1)] = 2,
) -> None:
    """Sketches and their peers at equal bytes, tuned alike. Stop it and start it again: it goes on.

    What the results in the output folder hold already is not measured again; give another folder for that.
    """
    from rich.console import Console
    from rich.markdown import Markdown

    from repsketch.train.budget import parse_budget

    from ..frontier.data import DATASETS, dataset_of
    from ..frontier.report import write_report
    from ..frontier.results import collect, read_results, restore
    from ..frontier.run import jobs_of, run_jobs
    from ..frontier.settings import BUDGETS, METHODS, N_SEEDS, QUICK_BUDGETS
    from ..jobs import Store
    from ..paper.results import write_results

    names = datasets or list(DATASETS)
    sizes = [parse_budget(text.strip()) for text in budgets.split(",")] if budgets else None
    chosen = _methods(methods)
    for dataset in [dataset_of(name) for name in names]:
        dataset.load(0)  # what is not there is said before hours have passed
    all_sizes = sorted(set(sizes or (QUICK_BUDGETS if quick else BUDGETS)))
    jobs = every = jobs_of(names, 1 if quick else seeds, all_sizes, chosen, is_quick=quick)
    is_ablation = methods == "ablation"
    if output == _OUTPUT and (quick or budgets or is_ablation):
        output = Path("build/frontier")  # other jobs than those of the results
    elif output == _OUTPUT:  # the jobs of this run are added to the results
        every = jobs_of(DATASETS, max(seeds, N_SEEDS), BUDGETS, METHODS)
    store = Store(cache / "jobs")
    restore(read_results(output), every, store)
    try:
        run_jobs(jobs, store, cache, n_workers=workers)
    finally:  # a run that is stopped leaves the results of its finished jobs
        results = collect(every, store)
        write_results(results, output)
    text = write_report(results, output, is_ablation=is_ablation)
    console = Console()
    console.print(Markdown(text))
    console.print(f"written: {output}/*.json, tables.md{'' if is_ablation else ', frontier.svg, frontier.png'}")
