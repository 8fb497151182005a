"""The deployed model computes the integers of the trainer, and takes the bytes that were announced."""

import numpy as np
import pytest

from repsketch.model import oracle
from repsketch.model.inputs import Inputs
from repsketch.train.stage_assembly import assemble, nbytes_of
from repsketch.train.stage_shape import NetworkHead, RowsHead, Shape, StageShape
from repsketch.train.stages import LabelledRows, Schedule, make_trainer, read_trained, train
from support.cases import case
from support.stage_cases import LARGEST, N_VALUES, STAGE_CASES, StageCase

INPUTS = Inputs(N_VALUES, limits=(-LARGEST, LARGEST))


def integer_sums(model, X: np.ndarray) -> np.ndarray:
    """Accumulators of the rows, then sums of the linear terms of the model and of its stages, by the oracle."""
    z = oracle.coordinates(model, X)
    found = list(oracle.accumulators(model, X))
    if model.linear is not None:
        found.append(z.projected.T.astype(np.int64) @ model.linear)
    terms = zip(model.stages, z.stages, strict=True)
    found += [each.T.astype(np.int64) @ stage.linear for stage, each in terms if stage.linear is not None]
    return np.array(found)


def test_integers_are_those_of_the_oracle():
    """For every option, at the largest values too; ``outputs`` differ by the rounding of gains alone."""
    rng = np.random.default_rng(2)
    values = rng.integers(-LARGEST, LARGEST + 1, (200, N_VALUES)).astype(np.int16)
    values[:60] = rng.choice(np.array([-LARGEST, LARGEST], np.int16), (60, N_VALUES))
    X = values.astype(np.float32)
    for some in STAGE_CASES:
        with case(some.name):
            trainer = some.trainer(n_steps=100)
            trainer.run(100)
            trained = read_trained(trainer, some.shape, 1, N_VALUES, some.n_outputs)
            task = "classification" if some.loss in ("logistic", "softmax") else "regression"
            unit, middle = np.linspace(1.0, 1.5, some.n_outputs), np.full(some.n_outputs, 0.25)
            model = assemble(trained, INPUTS, unit, middle, task=task)
            outputs, sums = trainer.outputs(values, True)
            assert np.array_equal(sums, integer_sums(model, X))
            assert len(sums) == sum(name.startswith(("linear", "counters")) for name in trained.parameters)
            assert np.abs(sums).max(axis=(1, 2)).min() > 0
            if model.offset_stored_as == "float32":
                size = np.abs(outputs).max()
                assert np.abs(oracle.query(model, X) - (unit * outputs + middle)).max() < 1e-5 * size
            plain = assemble(trained, INPUTS, np.ones(some.n_outputs), np.zeros(some.n_outputs), task=task)
            assert np.abs(oracle.query(plain, X) - outputs).max() <= 1e-6 * np.abs(outputs).max()
            assert plain.nbytes <= nbytes_of(some.shape, INPUTS, some.n_outputs, task)
            if not any(some.shape.sparsities):
                assert plain.nbytes == nbytes_of(some.shape, INPUTS, some.n_outputs, task)


@pytest.mark.parametrize("largest", [1, 300, 32_768])
def test_integers_of_small_and_large_values(largest):
    """Booleans, and values of 16 bits, of which float32 adds up few exactly: many columns, wide stages."""
    rng = np.random.default_rng(0)
    low = 0 if largest == 1 else -largest
    values = rng.integers(low, min(largest, 32_767) + 1, (64, 40)).astype(np.int16)
    labels = np.sin(values[:, :1] / largest) + values[:, 1:2] / largest
    rows = LabelledRows(values, labels)
    shape = Shape((StageShape(300, n_entries=4, has_linear=True), StageShape(40, "relu")), RowsHead(40, 4))
    trainer = make_trainer(rows, rows, shape, Schedule(20), loss="squared", largest=largest)
    trainer.run(20)
    trained = read_trained(trainer, shape, 0, 40, 1)
    limits, kinds = ((-32_767, 32_767), None) if largest > 1 else ((-1, 1), np.ones(40, int))
    inputs = Inputs(40, limits=limits if largest != 300 else (-300, 300), kinds=kinds, accepts_missing=largest > 300)
    assert inputs.largest == largest
    model = assemble(trained, inputs, np.ones(1), np.zeros(1))
    X = np.where(values < -32_767, np.nan, values).astype(np.float32)
    assert np.array_equal(trainer.outputs(values, True)[1], integer_sums(model, X))


def test_the_validation_loss_is_that_of_the_model():
    some = next(each for each in STAGE_CASES if each.name == "tables + rows, quantile")
    trained = train(some.rows, some.rows, some.shape, Schedule(100), loss="squared", largest=LARGEST)
    model = assemble(trained, INPUTS, np.ones(1), np.zeros(1))
    errors = oracle.query(model, some.rows.values.astype(np.float32)) - some.rows.labels
    weights = np.ones(len(errors)) if some.rows.weights is None else some.rows.weights / some.rows.weights.mean()
    assert trained.loss == pytest.approx((weights * errors[:, 0] ** 2).mean(), rel=1e-5)


def test_numbers_are_rounded_as_the_specification_of_the_training_says():
    """Multipliers, right shifts, entries, shifts and steps, from the parameters in float64."""
    for some in STAGE_CASES:
        with case(some.name):
            check_rounding(some)


def check_rounding(some: StageCase) -> None:
    trainer = some.trainer()
    trainer.run(60)
    trained = read_trained(trainer, some.shape, 1, N_VALUES, some.n_outputs)
    parameters, integers = trained.parameters, trained.integers
    values = some.rows.values.astype(np.float64)
    deviations, means = np.maximum(values.std(axis=0), 0.05 * values.std(axis=0).max()), values.mean(axis=0)
    units = 1.0 / deviations
    for k, scale in enumerate(trained.scales["stages"]):
        weights = parameters[f"matrix {k}"].astype(np.float64) * 64.0 * units[:, None]
        largest = {8: 127, 4: 7}[some.shape.matrix_bits[k]]
        unit = np.abs(weights).max(axis=0) / largest
        power = 2.0 ** scale["right_shift"]
        assert 127.4 < unit.max() * power <= 255.1
        above = scale["multipliers"] - unit * power  # rounded up
        assert (scale["multipliers"] >= 1).all()
        assert above.min() > -1e-4
        assert above.max() < 1.0 + 1e-4
        entries = weights * power / scale["multipliers"]
        assert np.abs(integers[f"matrix {k}"] - entries).max() < 0.501
        effective = integers[f"matrix {k}"] * scale["multipliers"] / power
        shift = 64.0 * parameters[f"shift {k}"] - (means @ effective if k == 0 else 0.0)
        bits = 2.0 ** scale["shift_bits"]
        assert np.abs(integers[f"shift {k}"] * bits - shift).max() < 0.501 * bits
        assert scale["shift_bits"] == 0 or np.abs(shift).max() > 127 * bits / 2
        if f"tables {k}" in parameters:
            assert scale["output_step"] == pytest.approx(np.abs(parameters[f"tables {k}"]).max() / 127)
            check_steps(parameters[f"tables {k}"], integers[f"tables {k}"], scale["output_step"])
        elif k < len(some.shape.stages):
            assert scale["output_step"] == 1 / 16
        if f"linear {k}" in parameters:
            check_steps(parameters[f"linear {k}"], integers[f"linear {k}"], scale["linear_step"])
        units = np.full(some.shape.widths[k], scale["output_step"])
    for name, step in (("counters", "counter_step"), ("linear", "linear_step")):
        if name in parameters:
            check_steps(parameters[name], integers[name], trained.scales[step])
    if "decode" in parameters:
        check_decode(parameters["decode"], integers["decode"], trained.scales["decode_step"])


def check_steps(parameters: np.ndarray, integers: np.ndarray, step: float) -> None:
    assert step == pytest.approx(np.abs(parameters).max() / 127)
    assert np.abs(integers - parameters / step).max() < 0.501
    assert np.abs(integers).max() == 127


def check_decode(parameters: np.ndarray, integers: np.ndarray, step: float) -> None:
    errors = {}
    for share in (1.0, 0.85, 0.7, 0.55):
        trial = share * np.abs(parameters).max() / 7
        rounded = np.clip(np.rint(parameters / trial), -7, 7)
        errors[trial] = ((rounded * trial - parameters) ** 2).sum()
    best = min(errors, key=errors.__getitem__)
    assert step == pytest.approx(best)
    assert np.array_equal(integers, np.clip(np.rint(parameters / step), -7, 7))


def test_bytes_are_announced():
    inputs = Inputs(6, limits=(-127, 127))
    dense = Shape((StageShape(10, has_linear=True),), RowsHead(4))
    header = 32 + 2 * 8 + 4 + 4 + 4 + 4  # model, two stages, offset, gains of rows and of two linear terms
    assert nbytes_of(dense, inputs, 1) == header + (60 + 20 + 80 + 10) + (40 + 8) + 4 * 8 + 4
    half = Shape((StageShape(10, "relu", sparsity=0.5, matrix_bits=4),), NetworkHead())
    assert nbytes_of(half, inputs, 1) == 32 + 8 + 4 + 4 + (30 * 4 // 8 + 8 + 20) + 10
    # A bitmap takes an eighth: below that nothing is saved by leaving out zeros.
    little = Shape((StageShape(10, "relu", sparsity=0.1),), NetworkHead())
    assert nbytes_of(little, inputs, 1) == 32 + 8 + 4 + 4 + (60 + 20) + 10
