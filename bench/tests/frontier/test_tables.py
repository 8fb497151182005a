"""Tables of hand-made results: losses first, ties by paired standard errors, half the bytes."""

import pytest

from repsketch_bench.frontier import margins, tables
from repsketch_bench.frontier.ablation import ABLATIONS
from repsketch_bench.frontier.figures import draw_curves
from repsketch_bench.frontier.report import write_report
from support.findings import result_of


@pytest.fixture
def results():
    return {
        "a9a": result_of({
            "ours": {512: [0.85, 0.86, 0.87], 1024: [0.80, 0.81, 0.82]},
            "linear": {512: [0.84, 0.85, 0.86], 1024: [0.90, 0.91, 0.93]},
            "boosted": {512: [0.70, 0.99, 0.90], 1024: [0.81, 0.82, 0.83]},
        }),
        "abalone": result_of(
            {"ours": {512: [1.5, 1.5], 1024: [1.4, 1.5]}, "linear": {512: [1.4, 1.4], 1024: [1.5, 1.6]}}, "MAE"
        ),
    }  # fmt: skip


def test_losses_come_first_and_the_largest_of_them(results):
    text = tables.tables_text(results)
    assert text.startswith("## Where a peer is better\n")
    lines = text.split("\n\n")[1].splitlines()[2:]
    assert lines == [
        "| a9a | 1 KB | linear | 0.9133 | 0.8100 | -0.1033 ± 0.0067 |",
        "| abalone | 512 B | linear | 1.400 | 1.500 | -0.100 ± 0.000 |",
    ]


def test_an_unfinished_run_says_so():
    five = {method: {512: [0.8] * 5} for method in ("teacher", "ours", "linear")}
    text = tables.run_text({"a9a": result_of(five)})
    assert text.startswith("5 seeds. 12 settings of every peer tried on 6,000 rows, the best 3 again on all")
    assert "of ours" not in text
    fewer = result_of({**five, "linear": {512: [0.8, 0.8]}})
    for seed, n_tried in (("0", 30), ("3", 41)):
        fewer["found"]["ours"][seed]["512"]["n_tried"] = n_tried
    text = tables.run_text({"a9a": result_of(five), "abalone": fewer})
    assert text.startswith("**Not finished: 2 to 5 of 5 seeds; differences may be noise.** 12 settings of every peer")
    assert "60,000), of ours 30 to 41, on average 36; a processor" in text


def test_a_tie_is_a_lead_within_two_paired_standard_errors():
    """Differences 0.1, 0.1, -0.02: mean 0.06, standard error 0.04."""
    cell = margins.Cell("a9a", 512, "linear", 0.0, 0.0, (0.1, 0.1, -0.02))
    assert cell.lead == pytest.approx(0.06)
    assert cell.noise == pytest.approx(0.08)
    assert cell.outcome == "tie"
    assert margins.Cell("a9a", 512, "linear", 0.0, 0.0, (0.1, 0.1, 0.04)).outcome == "win"
    assert margins.Cell("a9a", 512, "linear", 0.0, 0.0, (-0.1, -0.1, -0.04)).outcome == "loss"
    assert margins.Cell("a9a", 512, "linear", 0.0, 0.0, (0.0,)).outcome == "tie"


def test_seeds_are_paired_not_pooled(results):
    """Ours and the linear model vary far more over seeds than their difference does."""
    cell = margins.compare("a9a", results["a9a"], "linear", 512)
    assert cell.outcome == "win"
    assert margins.compare("a9a", results["a9a"], "boosted", 512).outcome == "tie"


def test_summary_counts_every_cell(results):
    lines = tables.summary_table(results).splitlines()[2:]
    assert lines == [
        "| **the best of all, by test score** | 2 | 1 | 1 |",
        "| linear | 2 | 0 | 2 |",
        "| boosted | 1 | 1 | 0 |",
    ]


def test_half_the_bytes(results):
    """At 1 KB: a9a's best peer has 0.9133 against our 0.86 at 512 B; abalone's 1.55 against our 1.5, a tie at best."""
    assert tables.halved_text(results) == (
        "With at most half the bytes of the best peer, ours is better in 0, within noise in 1 and worse in 1 "
        "of 2 cells."
    )


def test_the_best_is_bold_where_less_is_better_too(results):
    lines = tables.scores_table(results).splitlines()[2:]
    assert lines[0].startswith("| a9a, accuracy | 512 B | 0.8600 ± 0.0100 | 0.8500")
    assert "**0.8633 ± 0.1484**" in lines[0]
    assert "**1.400 ± 0.000**" in lines[2]
    assert "**1.450 ± 0.071**" in lines[3]


def test_screening_finds_the_best(results):
    lines = tables.short_table(results, (512, 1024)).splitlines()[2:]
    assert lines == [
        "| a9a, accuracy | 0.8600 ± 0.0100 / 0.8633 (boosted) | 0.8100 ± 0.0100 / 0.9133* (linear) |",
        "| abalone, MAE | 1.500 ± 0.000 / 1.400* (linear) | 1.450 ± 0.071* / 1.550 (linear) |",
    ]


def test_the_readme_counts_our_losses_first(results):
    assert tables.readme_text(results).splitlines()[-1] == (
        "**Not finished: 0 to 3 of 5 seeds; differences may be noise.** Of 4 cells (datasets times seven budgets) "
        "the best peer is ahead beyond the noise in 2, within it in 1, behind in 1."
    )


def test_a_method_without_a_model_is_no_cell():
    some = {"a9a": result_of({"ours": {512: [0.8]}, "linear": {1024: [0.7]}})}
    assert list(margins.against(some, "linear")) == []
    assert "–" in tables.scores_table(some)


def test_data_set_aside_are_apart(results):
    results["wine"] = result_of({"ours": {512: [0.5]}, "linear": {512: [0.6]}}, is_set_aside=True)
    first, second = tables.tables_text(results).split("## Where a peer is better on data set aside")
    assert "wine" not in first
    assert "wine" in second
    assert "abalone" not in second


def test_a_report_has_tables_and_curves_and_of_an_ablation_one_table(results, tmp_path):
    pytest.importorskip("matplotlib")
    assert write_report(results, tmp_path) == (tmp_path / "tables.md").read_text() == tables.tables_text(results)
    assert (tmp_path / "frontier.svg").is_file()
    (tmp_path / "frontier.svg").unlink()
    scores = {name: {1024: [0.9, 0.8]} for name in ("ours", *ABLATIONS)}
    text = write_report({"a9a": result_of(scores)}, tmp_path, is_ablation=True)
    assert text.startswith("## What each trainer is worth\n")
    assert all(f"| {name} | – | +0.0000" in text for name in ABLATIONS)
    assert "peer is better" not in text
    assert not (tmp_path / "frontier.svg").exists()


def test_nothing_measured():
    assert tables.losses_table({}) == tables.summary_table({}) == tables.NOTHING


def test_curves(results, tmp_path):
    pytest.importorskip("matplotlib")
    draw_curves(results, tmp_path)
    picture = (tmp_path / "frontier.svg").read_text()
    for title in ("a9a: accuracy, higher is better", "abalone: MAE, lower is better"):
        assert title in picture  # letters are drawn as outlines, with their text as a comment
    draw_curves(results, tmp_path / "again")
    assert (tmp_path / "again" / "frontier.svg").read_text() == picture


def test_what_the_score_loses_without_a_trainer():
    scores = {
        "ours": {1024: [0.90, 0.91, 0.92]},
        "without bits": {1024: [0.89, 0.90, 0.91]},
        "without a teacher": {1024: [0.90, 0.92, 0.91]},
    }
    errors = {"ours": {1024: [1.5]}, "without bits": {1024: [1.4]}}
    results = {"a9a": result_of(scores), "abalone": result_of(errors, "MAE")}
    for seed, ours, without in (("0", 0.50, 0.51), ("1", 0.50, 0.53), ("2", 0.50, 0.55)):
        results["a9a"]["found"]["ours"][seed]["1024"]["loss"] = ours
        results["a9a"]["found"]["without bits"][seed]["1024"]["loss"] = without
    lines = tables.ablation_table(results).splitlines()
    assert lines[0] == "| what is lost | validation loss, mean of all | a9a, accuracy, 1 KB | abalone, MAE, 1 KB |"
    assert lines[2:] == [  # of a single seed no noise is known
        "| without bits | +6.00 ± 4.62 % | +0.0100 ± 0.0000* | -0.100 |",
        "| without a teacher | – | +0.0000 ± 0.0115 | – |",
    ]
    assert tables.ablation_table({}) == tables.NOTHING
