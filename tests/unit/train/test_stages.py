"""Training of stages: it learns, and every setting does what it says; what cannot be trained is refused."""

import os
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from repsketch.errors import InputError
from repsketch.model import oracle
from repsketch.train.columns import find_kinds, projected_inputs
from repsketch.train.stage_assembly import assemble, nbytes_of
from repsketch.train.stage_shape import NetworkHead, RowsHead, Shape, StageShape
from repsketch.train.stages import LabelledRows, Schedule, Trained, make_trainer, train

N, N_VALUES = 1_200, 4
TABLES = Shape((StageShape(10, has_linear=True),), RowsHead(6))
NETWORK = Shape((StageShape(16, "relu"), StageShape(8, "relu")), NetworkHead())


def waves(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Values, and a curved function of them, of mean 0 and standard deviation 1."""
    values = np.clip(np.rint(np.random.default_rng(seed).normal(5, 32, (n, N_VALUES))), -127, 127)
    x = values / 32.0
    wave = np.sin(2.0 * x[:, 0]) + x[:, 1] * x[:, 2] + 0.5 * np.abs(x[:, 3])
    return values.astype(np.int16), ((wave - 0.45) / 1.3)[:, None]


def rows_of(task: str, n: int = N, seed: int = 0) -> LabelledRows:
    values, wave = waves(n, seed)
    labels = {"values": wave, "two": np.float64(wave > 0), "three": np.eye(3)[np.digitize(wave[:, 0], [-0.4, 0.4])]}
    return LabelledRows(values, labels[task])


TRAIN, VALIDATION = rows_of("values"), rows_of("values", 600, seed=1)


def fit(shape: Shape = TABLES, loss: str = "squared", rows=(TRAIN, VALIDATION), seed: int = 0, **settings) -> Trained:
    return train(*rows, shape, Schedule(**{"n_steps": 1_500, **settings}), loss=loss, level=0.9, seed=seed)


def outputs_of(trained: Trained, rows: LabelledRows) -> np.ndarray:
    """Outputs of the deployed integers, by a trainer with these parameters."""
    loss = "softmax" if rows.labels.shape[1] > 1 else "squared"
    trainer = make_trainer(rows_like(TRAIN, rows), rows, trained.shape, Schedule(1), loss=loss, seed=trained.seed)
    trainer.set_parameters(np.concatenate([array.ravel() for array in trained.parameters.values()]))
    return trainer.outputs(rows.values, True)[0]


def rows_like(train_rows: LabelledRows, rows: LabelledRows) -> LabelledRows:
    """Training rows, whose moments count, with as many labels as ``rows``."""
    return replace(train_rows, labels=np.zeros((len(train_rows.values), rows.labels.shape[1])))


@pytest.mark.parametrize(
    ("shape", "floor"),
    [
        (TABLES, 0.033),
        (NETWORK, 0.07),
        (Shape((), RowsHead(4)), 0.4),
        (Shape((StageShape(16, "clip"),), NetworkHead()), 0.1),
        (Shape((StageShape(8, n_entries=4), StageShape(8, n_entries=16)), RowsHead(4, n_levels=4)), 0.15),
    ],
    ids=["tables", "ReLU", "one stage", "clip", "three stages"],
)
def test_curved_functions_are_learned(shape, floor):
    """The floors are 1.5 times the worst of five seeds; a constant has a squared error of 1."""
    assert fit(shape).loss < floor


def test_losses_are_those_named():
    """The median, the upper decile, the mean of skewed labels; probabilities of two and of three classes."""
    rng = np.random.default_rng(5)
    values, wave = waves(3_000)
    skewed = LabelledRows(values, wave + rng.exponential(1.0, wave.shape))
    below = {}
    for loss in ("absolute", "quantile", "squared"):
        trained = fit(loss=loss, rows=(skewed, skewed), learning_rate=0.01)
        below[loss] = float((skewed.labels < outputs_of(trained, skewed)).mean())
    assert below["absolute"] == pytest.approx(0.5, abs=0.03)
    assert below["quantile"] == pytest.approx(0.9, abs=0.02)
    assert below["squared"] == pytest.approx(1 - np.exp(-1), abs=0.04)
    for task, loss, shape in (
        ("two", "logistic", TABLES),
        ("three", "softmax", Shape((StageShape(10),), RowsHead(6, factored=True))),
    ):
        rows, others = rows_of(task), rows_of(task, 600, seed=1)
        outputs = outputs_of(fit(shape, loss, (rows, others)), others)
        chosen = outputs > 0 if task == "two" else np.eye(3)[outputs.argmax(axis=1)]
        assert (chosen == others.labels).all(axis=1).mean() > 0.85


def test_soft_labels_have_the_weight_of_the_mixture():
    """Labels without information: all that is learned comes from the soft labels."""
    noise = replace(TRAIN, labels=np.random.default_rng(0).normal(size=(N, 1)), soft_labels=TRAIN.labels)
    for shape, loss in ((TABLES, "squared"), (NETWORK, "absolute")):
        errors = [
            np.square(
                outputs_of(fit(shape, loss, (noise, VALIDATION), mixture=mixture), VALIDATION) - VALIDATION.labels
            )
            for mixture in (1.0, 0.0)
        ]
        assert errors[0].mean() < 0.08
        assert errors[1].mean() > 0.5
    soft = replace(rows_of("two"), labels=np.float64(np.arange(N) % 2)[:, None], soft_labels=rows_of("two").labels)
    outputs = outputs_of(fit(loss="logistic", rows=(soft, rows_of("two", 600, 1)), mixture=1.0), VALIDATION)
    assert ((outputs > 0) == (VALIDATION.labels > 0)).mean() > 0.9


def test_rows_of_weight_0_are_not_learned():
    labels = np.where(np.arange(N)[:, None] % 2, TRAIN.labels, -TRAIN.labels)
    weights = 3.0 * (np.arange(N) % 2)
    assert fit(rows=(replace(TRAIN, labels=labels, weights=weights), VALIDATION)).loss < 0.08
    assert fit(rows=(replace(TRAIN, labels=labels), VALIDATION)).loss > 0.5


@pytest.mark.parametrize(("name", "amount"), [("noise", 2.0), ("weight_decay", 4.0)])
def test_noise_and_decay_keep_rows_from_being_learned_by_heart(name, amount):
    """Labels drawn at random: there is nothing else to learn."""
    rng = np.random.default_rng(0)
    rows = LabelledRows(rng.integers(-60, 60, (80, 12)).astype(np.int16), np.float64(rng.integers(0, 2, (80, 1))))
    for shape in (Shape((StageShape(8),), RowsHead(6)), NETWORK):
        found = [fit(shape, "logistic", (rows, rows), n_steps=800, **{name: each}).loss for each in (0.0, amount)]
        assert found[0] < 0.2
        assert found[1] > 0.4


def test_all_but_shifts_and_offset_decay():
    """Outputs that are the labels, so that all slopes are 0: the first step, of 0.04 times 1, only decays."""
    shape = Shape((StageShape(10, has_linear=True),), RowsHead(6, factored=True))
    rows = replace(TRAIN, labels=np.full((N, 1), 7.0))
    trainer = make_trainer(rows, rows, shape, Schedule(10, 1.0, weight_decay=5.0), loss="squared")
    places = shape.slices(N_VALUES, 1)
    before = trainer.parameters()
    numbers = {"counters": 0.5, "decode": 2.0, "offset": 1.0, "shift 0": 0.25, "shift 1": 0.25}
    for name, number in numbers.items():
        before[places[name][0]] = number
    trainer.set_parameters(before)
    trainer.run(1)
    after = trainer.parameters()
    for name, (place, _) in places.items():
        share = 1.0 if name in ("offset", "shift 0", "shift 1") else 0.8
        assert np.allclose(after[place], share * before[place], rtol=1e-6, atol=0), name


def test_pruned_weights_stay_0_and_as_many_as_announced():
    """The weights that are left are trained on: half of them lose little, and 90 % more."""
    losses = {}
    for sparsity in (0.0, 0.5, 0.9):
        shape = Shape(
            (StageShape(16, "relu", sparsity=sparsity), StageShape(8, "relu", sparsity=sparsity)), NetworkHead()
        )
        trained = fit(shape, n_steps=3_000)
        losses[sparsity] = trained.loss
        for k, size in enumerate((64, 128)):
            assert np.count_nonzero(trained.parameters[f"matrix {k}"]) == size - int(sparsity * size + 0.5)
            assert not trained.integers[f"matrix {k}"][trained.parameters[f"matrix {k}"] == 0].any()
        first = trained.checks[0][0]
        assert first == pytest.approx(1_800 if sparsity else 1_500, abs=100)  # no check before the last pruning
    assert losses[0.0] < 0.05
    assert losses[0.5] < 0.1
    assert losses[0.9] > 0.2


def test_weights_are_pruned_relative_to_the_largest_of_their_column():
    """A column of small weights loses no more of them than others."""
    shape = Shape((StageShape(2, "relu", sparsity=0.5),), NetworkHead())
    trainer = make_trainer(TRAIN, VALIDATION, shape, Schedule(10, 1e-9), loss="squared")
    parameters = trainer.parameters()
    parameters[:8] = [1.0, 0.001, 0.9, 0.0009, 0.1, 0.0002, 0.2, 0.0001]
    trainer.set_parameters(parameters)
    trainer.run(10)
    assert (trainer.parameters()[:8] != 0).tolist() == [True, True, True, True, False, False, False, False]


def test_the_parameters_of_the_lowest_validation_loss_are_taken():
    """Few rows, learned by heart in the end: the best check is not the last one."""
    rng = np.random.default_rng(1)
    few = LabelledRows(TRAIN.values[:48], TRAIN.labels[:48] + rng.normal(0, 0.7, (48, 1)))
    for seed in range(3):
        trained = fit(Shape((StageShape(20),), RowsHead(8)), rows=(few, VALIDATION), n_steps=1_200, seed=seed)
        losses = [loss for _, loss in trained.checks]
        assert 16 <= len(losses) <= 18
        assert [step for step, _ in trained.checks][-1] == 1_200
        assert min(step for step, _ in trained.checks) >= 600
        found = np.square(outputs_of_few(trained, few) - VALIDATION.labels).mean()
        assert found == pytest.approx(min(losses), rel=1e-5)
        assert losses[-1] > 1.001 * min(losses)


def outputs_of_few(trained: Trained, few: LabelledRows) -> np.ndarray:
    trainer = make_trainer(few, VALIDATION, trained.shape, Schedule(1), loss="squared", seed=trained.seed)
    trainer.set_parameters(np.concatenate([array.ravel() for array in trained.parameters.values()]))
    return trainer.outputs(VALIDATION.values, True)[0]


def test_the_learning_rate_is_one_cycle():
    """Of parameters that move one rate a step: slopes of the absolute loss far away from the labels do not change."""
    shape = Shape((StageShape(1, "relu"),), NetworkHead())
    far = replace(TRAIN, labels=np.full((N, 1), 1e6))
    trainer = make_trainer(far, far, shape, Schedule(1_000, 0.01), loss="absolute")
    moves, before = [], trainer.parameters()[-1]
    for _ in range(999):  # the last step is followed by the best parameters
        trainer.run(1)
        moves.append(float(trainer.parameters()[-1] - before))
        before = trainer.parameters()[-1]
    moves = np.array(moves)
    assert moves[0] == pytest.approx(0.0004, rel=0.01)
    assert moves[150] == pytest.approx(0.0052, rel=0.01)
    assert moves[300] == pytest.approx(0.01, rel=0.01)
    assert moves[650] == pytest.approx(0.005, rel=0.01)
    assert moves[990] < 1e-5
    assert (np.diff(moves[:300]) > -1e-5).all()
    assert (np.diff(moves[300:]) < 1e-5).all()


def test_numbers_are_rounded_from_a_share_of_the_steps_on():
    """Linear terms of int8 and of float32 differ in a model whose parameters do not change."""
    for share, n_steps in ((0.0, 1), (0.5, 1)):
        found = []
        for rounding_from in (0.0, share):
            trainer = make_trainer(
                TRAIN, VALIDATION, TABLES, Schedule(4, rounding_from=rounding_from), loss="squared"
            )  # fmt: skip
            trainer.run(n_steps)
            found.append(trainer.parameters().tobytes())
        assert (found[0] == found[1]) == (share == 0.0)


def test_every_row_is_in_one_batch_of_an_epoch():
    """Where one row alone has a weight, the offset does not move before the first batch with this row."""

    def first_batches(seed: int) -> list[int]:
        return [first_batch(row, seed) for row in range(80)]

    def first_batch(row: int, seed: int) -> int:
        rows = LabelledRows(np.zeros((80, 1), np.int16), np.ones((80, 1)), weights=np.float64(np.arange(80) == row))
        shape = Shape((StageShape(1, "relu"),), NetworkHead())
        trainer = make_trainer(rows, rows, shape, Schedule(1_000, batch_size=16), loss="squared", seed=seed)
        while trainer.parameters()[-1] == 0.0:
            step = trainer.run(1)
        return step

    found = [first_batches(seed) for seed in (0, 1)]
    assert found[0] != found[1]
    for batches in found:
        assert np.bincount(batches).tolist() == [0, 16, 16, 16, 16, 16]
        assert batches != sorted(batches)


def test_values_are_standardised_by_training_rows_alone():
    found = [
        make_trainer(TRAIN, each, TABLES, Schedule(1), loss="squared").outputs(TRAIN.values, False)[0]
        for each in (VALIDATION, replace(VALIDATION, values=VALIDATION.values // 3 + 40))
    ]
    assert np.array_equal(found[0], found[1])


def test_a_first_matrix_is_where_training_begins():
    matrix = np.random.default_rng(0).normal(size=(N_VALUES, 10)).astype(np.float32)
    trainer = make_trainer(TRAIN, VALIDATION, TABLES, Schedule(5), loss="squared", first_matrix=matrix)
    assert np.array_equal(trainer.parameters()[:40].reshape(4, 10), matrix)
    with pytest.raises(InputError, match=r"first_matrix has shape \(10, 4\)"):
        make_trainer(TRAIN, VALIDATION, TABLES, Schedule(5), loss="squared", first_matrix=matrix.T)


def test_two_threads_train_two_models():
    wanted = [fit(seed=seed, n_steps=400).parameters["matrix 0"] for seed in (0, 1)]
    found: dict[int, np.ndarray] = {}

    def run(seed: int) -> None:
        found[seed] = fit(seed=seed, n_steps=400).parameters["matrix 0"]

    threads = [Thread(target=run, args=(seed,)) for seed in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[seed], wanted[seed]) for seed in (0, 1))
    assert not np.array_equal(wanted[0], wanted[1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "hinge"}, "loss='hinge'; allowed are 'logistic'"),
        ({"loss": "softmax"}, "'softmax' has? two or more|with 1 outputs"),
        ({"level": 1.0}, "level=1.0; allowed is a number between 0 and 1"),
        ({"largest": 5}, "values reach"),
        ({"seed": -1}, "seed=-1; allowed is an integer from 0"),
        ({"validation_rows": LabelledRows(TRAIN.values[:, :2], TRAIN.labels)}, "differ in values or outputs"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    arguments = {"train_rows": TRAIN, "validation_rows": VALIDATION, "shape": TABLES, "loss": "squared", **changes}
    with pytest.raises(InputError, match=message):
        train(**arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"values": TRAIN.values.astype(np.float32)}, "needed are integers of 16 bits"),
        ({"values": TRAIN.values.astype(np.int64) * 1_000_000}, "needed are integers of 16 bits"),
        ({"labels": TRAIN.labels[:-1]}, "needed are"),
        ({"labels": TRAIN.labels * np.nan}, "labels hold NaN"),
        ({"soft_labels": TRAIN.labels[:, [0, 0]]}, r"soft labels of shape \(1200, 2\)"),
        ({"weights": np.zeros(N)}, "not all 0"),
        ({"weights": -np.ones(N)}, "at least 0"),
    ],
)
def test_bad_rows_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        replace(TRAIN, **changes)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_steps", 0), ("learning_rate", 0.0), ("weight_decay", -1.0), ("noise", np.nan), ("mixture", 1.1),
     ("rounding_from", 0.6), ("batch_size", 40), ("batch_size", 8)],
)  # fmt: skip
def test_bad_settings_are_refused(name, value):
    with pytest.raises(InputError, match=f"{name}="):
        Schedule(**{name: value})


@pytest.mark.slow
def test_tables_beat_a_network_of_the_same_bytes_on_kin8nm():
    """Three stages of tables of about 1 KB against int8 networks of two and three hidden layers, 24,000 steps each.

    Hidden tables of 4 entries: their validation loss is lower here than that of as many bytes with 8, which lose to
    networks. Means of six seeds, whose standard errors are about 0.001.
    """
    folder = os.environ.get("REPSKETCH_DATA")
    if folder is None or not (Path(folder) / "kin8nm.npz").exists():
        pytest.skip("set REPSKETCH_DATA to a folder with kin8nm.npz")
    data = np.load(Path(folder) / "kin8nm.npz")
    order = np.random.default_rng(7).permutation(len(data["X"]))
    X, y = data["X"][order].astype(np.float32), data["y"][order].astype(np.float64)
    labels = ((y - y.mean()) / y.std())[:, None]
    inputs = projected_inputs(X[:6_000], find_kinds(X))
    values = inputs.values(X).T.astype(np.int16)
    rows = [LabelledRows(values[some], labels[some]) for some in (slice(6_000), slice(6_000, 7_000))]
    shapes = {
        "tables": Shape(
            (StageShape(20, n_entries=4, has_linear=True), StageShape(14, n_entries=4, has_linear=True)),
            RowsHead(10),
        ),
        "two": Shape((StageShape(32, "relu"), StageShape(18, "relu")), NetworkHead()),
        "three": Shape((StageShape(22, "relu"), StageShape(19, "relu"), StageShape(12, "relu")), NetworkHead()),
    }
    errors = {name: [] for name in shapes}
    for name, shape in shapes.items():
        assert nbytes_of(shape, inputs, 1) == pytest.approx(1_020, abs=5)
        for seed in range(6):
            trained = train(*rows, shape, Schedule(24_000), loss="squared", largest=inputs.largest, seed=seed)
            model = assemble(trained, inputs, np.ones(1), np.zeros(1), task="regression")
            errors[name].append(float(np.square(oracle.query(model, X[7_000:]) - labels[7_000:]).mean()))
    means = {name: np.mean(found) for name, found in errors.items()}
    assert means["tables"] < min(means["two"], means["three"])
    assert means["tables"] < 0.074


def test_the_largest_value():
    for values, largest in (([-5, 3], 5), ([-5, 7], 7), ([0, 0], 0)):
        assert LabelledRows(np.array([values], np.int16).T, np.zeros((2, 1))).largest == largest
