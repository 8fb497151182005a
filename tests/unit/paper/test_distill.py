"""Distillation learns with every family, and a seed decides every byte."""

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

from repsketch import KernelModel, distill, lsh
from repsketch.paper.distill import Schedule, _split
from repsketch.teacher import as_teacher

QUICK = {"n_points": 16, "n_components": 2, "n_epochs": 3, "batch_size": 64, "progress": False}
ARRAYS = ("points", "weights", "bias", "projection", "shift", "linear")


def bytes_of(model: KernelModel) -> dict[str, bytes]:
    """Every number of a model, byte for byte."""
    arrays = {name: getattr(model, name) for name in ARRAYS}
    arrays["bandwidth"] = np.float64(getattr(model.family, "bandwidth", 0.0))
    return {name: b"" if array is None else array.tobytes() for name, array in arrays.items()}


def values(X):
    return np.sin(X[:, 0]) + 0.5 * X[:, 1]


def probability(X):
    return 1 / (1 + np.exp(-3 * np.sin(X[:, 0]) - 2 * X[:, 1]))


def scores(X):
    return np.stack([2 * X[:, 0], 2 * np.sin(X[:, 1]), -X[:, 0] - X[:, 1]], axis=1)


TEACHERS = {"regression": values, "binary": probability, "three classes": scores}


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(300, 3))


@pytest.fixture(scope="module")
def fresh():
    return np.random.default_rng(1).normal(size=(300, 3))


@pytest.fixture(scope="module")
def sets():
    return (np.random.default_rng(2).random((600, 12)) < 0.4) * 1.0


class TestLearning:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"kernel": "closed_form"},
            {"family": lsh.L2(1.0, directions="gaussian")},
            {"family": lsh.L2(1.0, directions="gaussian"), "kernel": "as_hashed"},
            {"family": "angular"},
            {"family": "l1"},
            {"linear": True},
            {"n_concat": 2},
            {"n_concat": 3, "family": "l1"},
        ],
        ids=lambda options: " ".join(map(str, options.values())) or "default",
    )
    @pytest.mark.parametrize("task", TEACHERS)
    def test_every_family_and_task(self, X, fresh, options, task):
        kind = "regression" if task == "regression" else "classification"
        teacher = as_teacher(TEACHERS[task], task=kind)
        model = distill(teacher, X, **{**QUICK, "n_epochs": 20, **options})
        wanted = teacher.label(fresh).values
        error = ((model.outputs(fresh) - wanted) ** 2).mean(axis=0) / wanted.var(axis=0)
        assert error.max() < 0.5  # 1 is what predicting the mean gets
        assert model.task == kind
        assert model.n_outputs == wanted.shape[1]
        assert (model.linear is not None) is options.get("linear", False)
        if kind == "classification":
            labels = teacher.label(fresh).classes
            assert model.classes.tolist() == labels.tolist()
            right = labels[wanted.argmax(axis=1) if len(labels) > 2 else (wanted[:, 0] > 0).astype(int)]
            assert (model.predict(fresh) == right).mean() > 0.75

    @pytest.mark.parametrize("task", TEACHERS)
    def test_sets(self, sets, task):
        kind = "regression" if task == "regression" else "classification"
        teacher = as_teacher(TEACHERS[task], task=kind)
        model = distill(teacher, sets[:300], **{**QUICK, "n_epochs": 20, "n_points": 32, "family": "minhash"})
        wanted = teacher.label(sets[300:]).values
        error = ((model.outputs(sets[300:]) - wanted) ** 2).mean(axis=0) / wanted.var(axis=0)
        assert error.max() < 0.5
        rows = {row.tobytes() for row in sets[:300].astype(np.float32)}
        assert all(point.tobytes() in rows for point in model.points)
        assert model.projection is None

    def test_training_improves_on_the_start(self, X, fresh):
        errors = []
        for n_epochs, rate in ((1, 1e-9), (20, 0.01)):
            model = distill(values, X, **{**QUICK, "n_epochs": n_epochs, "learning_rate": rate})
            errors.append(((model.predict(fresh) - values(fresh)) ** 2).mean())
        assert errors[1] < 0.8 * errors[0]

    def test_more_norm_penalty_gives_smaller_weights(self, X, tmp_path):
        sizes = []
        for penalty in (0.0, 1.0):
            path = tmp_path / f"{penalty}.npz"  # the last parameters; the best may be those of an early epoch
            distill(values, X, **QUICK, learning_rate=0.1, norm_penalty=penalty, checkpoint=path)
            with np.load(path) as file:
                sizes.append(float((file["parameter/weights"] ** 2).sum()))
        assert sizes[1] < 0.7 * sizes[0]

    def test_raw_units_do_not_matter(self, X, fresh):
        """Inputs and outputs are standardised: metres or millimetres give the same model up to rounding."""
        scale, start = np.array([1e3, 1e-3, 1.0]), np.array([0.0, 5.0, -100.0])
        plain = distill(values, X, **QUICK)
        other = distill(lambda Z: 1e4 * values((Z - start) / scale) - 3e5, X * scale + start, **QUICK)
        ours = (other.predict(fresh * scale + start) + 3e5) / 1e4
        np.testing.assert_allclose(ours, plain.predict(fresh), atol=0.02)

    @pytest.mark.parametrize("n", [1, 2, 7])
    def test_a_handful_of_rows(self, X, n):
        model = distill(values, X[:n], **QUICK)
        assert np.isfinite(model.predict(X)).all()

    def test_constant_teacher_and_constant_column(self, X):
        X = np.column_stack([X, np.full(len(X), 3.0)])
        np.testing.assert_allclose(distill(lambda X: np.full(len(X), 2.5), X, **QUICK).predict(X), 2.5, atol=1e-5)

    @pytest.mark.parametrize("seed", range(6))
    def test_one_hot_columns(self, seed):
        """Columns that sum to 1, as categories are encoded, with a component for each."""
        X = np.eye(5)[np.random.default_rng(seed).integers(0, 5, 100)]
        model = distill(lambda X: X @ np.arange(5.0), X, **{**QUICK, "n_components": 5, "n_epochs": 10})
        error = ((model.predict(X) - X @ np.arange(5.0)) ** 2).mean() / (X @ np.arange(5.0)).var()
        assert error < 0.5

    def test_more_components_than_features_and_more_points_than_rows(self, X):
        model = distill(values, X[:40], **{**QUICK, "n_components": 5, "n_points": 60})
        assert (model.points.shape, model.projection.shape) == ((60, 5), (3, 5))
        assert np.isfinite(model.predict(X)).all()


class TestSettings:
    def test_a_family_given_as_it_is_keeps_its_bandwidth_at_the_start(self, X):
        quick = {**QUICK, "n_epochs": 1, "learning_rate": 1e-3}
        steps = 5  # 270 training rows in batches of 64
        for family in (lsh.L2(bandwidth=7.0), lsh.L2(7.0, directions="gaussian"), lsh.L1(bandwidth=7.0)):
            model = distill(values, X, **quick, family=family)
            # Adam moves the logarithm by at most the learning rate a step.
            assert abs(np.log(model.family.bandwidth / 7.0)) <= steps * 1e-3 * 1.01
            assert getattr(model.family, "directions", None) == getattr(family, "directions", None)
        chosen = distill(values, X, **quick, family="l2").family.bandwidth
        assert abs(np.log(chosen / 7.0)) > 0.5

    def test_the_kernel_is_chosen_by_the_family(self, X):
        assert distill(values, X, **QUICK).kernel == "as_hashed"
        assert distill(values, X, **QUICK, kernel="closed_form").kernel == "closed_form"
        assert distill(values, X, **QUICK, family=lsh.L2(1.0, "gaussian")).kernel == "closed_form"
        assert distill(values, X, **QUICK, family="l1").kernel == "closed_form"
        assert distill(values, X, **QUICK, n_concat=17).kernel == "closed_form"  # more than the C core takes

    def test_the_kernel_has_the_directions_of_its_seed(self, X):
        model = distill(values, X, **QUICK, n_directions=40, random_state=11)
        assert (model.seed, model.n_directions) == (11, 48)  # rounded up to a multiple of 16
        functions = model.family.sample(2, 48, 1, 11)
        expected = model.family.row_kernel(model.transform(X[:5]), model.points, functions)
        np.testing.assert_allclose(model.kernel_matrix(X[:5]), expected, atol=1e-5)

    def test_steps_decide_the_number_of_epochs(self, X, monkeypatch):
        seen = []
        module = import_module("repsketch.paper.distill")

        def one_epoch(n_epochs, steps_per_epoch, learning_rate, patience):
            seen.append((n_epochs, steps_per_epoch, patience))
            return Schedule(1, steps_per_epoch, learning_rate, patience)

        monkeypatch.setattr(module, "Schedule", one_epoch)
        distill(values, X, progress=False)
        distill(values, X, n_epochs=7, batch_size=10, progress=False)
        assert seen == [(100, 1, 25), (7, 27, 5)]

    def test_labels_of_an_earlier_call(self, X):
        labels = as_teacher(values).label(X)
        assert bytes_of(distill(labels, X, **QUICK)) == bytes_of(distill(values, X, **QUICK))

    def test_classes_stay(self, X):
        model = distill(probability, X, **QUICK, classes=["no", "yes"])
        assert set(model.predict(X)) == {"no", "yes"}


class TestSchedule:
    def test_rises_then_falls(self):
        schedule = Schedule(n_epochs=4, steps_per_epoch=25, learning_rate=0.5, patience=1)
        rates = [schedule.rate(step) for step in range(100)]
        assert max(rates) == rates[9] == 0.5
        assert rates[:10] == sorted(rates[:10])
        assert rates[9:] == sorted(rates[9:], reverse=True)
        assert 0 < rates[-1] < 0.001

    def test_a_single_step(self):
        assert Schedule(1, 1, 0.5, 1).rate(0) == 0.5


class TestSplit:
    def test_every_row_once(self):
        training, validation = _split(200, 0.1, seed=3)
        assert (len(training), len(validation)) == (180, 20)
        assert sorted([*training, *validation]) == list(range(200))
        assert [*_split(200, 0.1, seed=4)[1]] != [*validation]

    def test_a_tiny_set_validates_on_itself(self):
        training, validation = _split(20, 0.1, seed=3)
        assert sorted(training) == sorted(validation) == list(range(20))

    def test_validation_is_capped(self):
        assert len(_split(200_000, 0.1, seed=3)[1]) == 8_192


class TestEpochs:
    def test_every_epoch_visits_every_training_row_once_in_another_order(self, X, monkeypatch):
        module = import_module("repsketch.paper.distill")
        visits, rows = [], module.TrainingSet.rows
        monkeypatch.setattr(module.TrainingSet, "rows", lambda self, index: visits.append(index) or rows(self, index))
        distill(values, X, **QUICK)
        batches = [set(index.tolist()) for index in visits[2:]]  # after the sample and the validation rows
        training = sorted(_split(len(X), 0.1, 0)[0])
        assert len(batches) == 3 * 5
        epochs = [batches[start : start + 5] for start in (0, 5, 10)]
        for epoch in epochs:
            assert sorted(row for batch in epoch for row in batch) == training
            assert [len(batch) for batch in epoch] == [64, 64, 64, 64, 14]
        assert epochs[0][0] != epochs[1][0] != epochs[2][0]


class TestEarlyStopping:
    def test_the_best_parameters_are_restored_and_waiting_ends(self, X, monkeypatch):
        module = import_module("repsketch.paper.distill")
        losses = iter([1.0, 0.5, 0.4, 0.3, *[0.6] * 50])
        seen, epochs = [], []

        def scripted(student, *validation):
            epochs.append(1)
            seen.append(_copy(student))
            return next(losses)

        monkeypatch.setattr(module, "_loss", scripted)
        model = distill(values, X, **{**QUICK, "n_epochs": 40})
        assert len(epochs) == 1 + 3 + 10  # the start, three that improve, and patience = 40 // 4
        np.testing.assert_array_equal(model.weights, (seen[3]["weights"] * _output_scale(X, values)).astype(np.float32))

    def test_the_penalty_counts_in_the_choice(self, X):
        """The first model fits best, for its weights solve least squares; a strong penalty must not keep it."""
        weak, strong = (distill(values, X, **{**QUICK, "n_epochs": 40}, norm_penalty=at) for at in (0.01, 1.0))
        assert _squared_norm(strong) < 0.5 * _squared_norm(weak)


def _squared_norm(model):
    return float((model.weights.T @ model._kernel_of(model.points) @ model.weights).sum())


def _copy(student):
    return {name: value.copy() for name, value in student.parameters.items()}


def blas_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def _output_scale(X, teacher):
    training, _ = _split(len(X), 0.1, 0)
    return teacher(X[np.sort(training)]).std()


class TestSeeds:
    @pytest.mark.parametrize("family", ["l2", "l1", "angular"])
    def test_the_seed_decides_every_byte(self, X, family):
        one, same, other = (
            bytes_of(distill(values, X, **QUICK, family=family, linear=True, random_state=seed)) for seed in (5, 5, 6)
        )
        assert one == same
        for name in ("points", "weights", "bias", "projection", "linear"):
            assert one[name] != other[name], name

    def test_sets_too(self, sets):
        one, same, other = (
            bytes_of(distill(values, sets, **QUICK, family="minhash", random_state=seed)) for seed in (5, 5, 6)
        )
        assert one == same
        assert one["points"] != other["points"]

    def test_numpys_global_state_is_neither_used_nor_touched(self, X):
        np.random.seed(1)  # noqa: NPY002
        before = np.random.get_state()[1].copy()  # noqa: NPY002
        one = bytes_of(distill(values, X, **QUICK))
        assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002
        np.random.seed(2)  # noqa: NPY002
        assert bytes_of(distill(values, X, **QUICK)) == one

    def test_generators_are_seeds_too(self, X):
        one, same = (distill(values, X, **QUICK, random_state=np.random.default_rng(3)) for _ in range(2))
        assert bytes_of(one) == bytes_of(same)
        assert one.seed != 3

    @pytest.mark.parametrize("family", ["l2", "l1", "angular"])
    def test_threads_do_not_matter(self, X, monkeypatch, family):
        """Neither ours nor those of the BLAS, with matrices that it would share between two."""
        module = import_module("repsketch.paper.distill")
        wide = np.hstack([X] * 40)
        results = []
        for n_threads in (1, 2):
            monkeypatch.setattr(module, "n_threads", lambda most, n=n_threads: n)
            with threadpool_limits(n_threads):
                options = {**QUICK, "n_points": 200, "n_components": 40, "batch_size": 200, "family": family}
                results.append(bytes_of(distill(values, wide, **options)))
        assert results[0] == results[1]

    def test_the_caller_keeps_the_number_of_threads(self, X, monkeypatch):
        module = import_module("repsketch.paper.distill")
        during = []
        monkeypatch.setattr(module, "_loss", lambda *args: during.append(blas_threads()) or 1 / 0)
        with threadpool_limits(2, "blas"):
            with pytest.raises(ZeroDivisionError):
                distill(lambda X: during.append(blas_threads()) or values(X), X, **QUICK)
            assert blas_threads() == 2
        assert during == [2, 1]  # a teacher has all threads, training has one

    def test_the_caller_keeps_the_data(self, X):
        rows = X.copy()
        distill(values, rows, **QUICK)
        np.testing.assert_array_equal(rows, X)


class TestTables:
    def test_sparse_is_dense(self, sets):
        dense_teacher = lambda X: values(np.asarray(X.todense()) if sp.issparse(X) else X)  # noqa: E731
        for family in ("l2", "minhash"):
            dense = distill(dense_teacher, sets, **QUICK, family=family)
            sparse = distill(dense_teacher, sp.csr_matrix(sets), **QUICK, family=family)
            assert bytes_of(dense) == bytes_of(sparse)

    def test_float32_is_float64(self, X):
        rows = X.astype(np.float32)
        labels = as_teacher(values).label(rows)
        assert bytes_of(distill(labels, rows, **QUICK)) == bytes_of(distill(labels, rows.astype(float), **QUICK))

    def test_frames(self, X):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=list("abc"))
        assert bytes_of(distill(lambda X: values(np.asarray(X)), frame, **QUICK)) == bytes_of(
            distill(values, X, **QUICK)
        )


@pytest.mark.parametrize(("n", "n_validation"), [(49, 0), (50, 5), (500, 50), (100_000, 8_192)])
def test_no_validation_row_is_a_training_row(n, n_validation):
    training, validation = _split(n, 0.1, seed=3)
    if n_validation == 0:  # too few: all rows are both
        assert sorted(training) == sorted(validation) == list(range(n))
        return
    assert (len(training), len(validation)) == (n - n_validation, n_validation)
    assert len(np.union1d(training, validation)) == n


def test_the_best_epoch_is_taken_not_the_last():
    """A learning rate that is far too high: every epoch is worse than the start."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    options = {"n_points": 16, "n_components": 2, "n_epochs": 4, "progress": False}
    wild = distill(lambda X: np.sin(X[:, 0]), X, learning_rate=30.0, **options)
    assert np.abs(wild.predict(X) - np.sin(X[:, 0])).mean() < 0.3
