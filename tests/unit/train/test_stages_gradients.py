"""Gradients of the trainer in C against its twin in NumPy, and those of the twin against finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from repsketch.train.stages import read_trained
from support.cases import case
from support.stage_cases import N_VALUES, STAGE_CASES, StageCase
from support.stage_twin import Twin

#: Errors of gradients beside those in proportion to them. Slopes of the squared error are twice the outputs, which
#: float32 has to 1e-6; in the gradient of the offset they add up where the slopes cancel.
ROUNDING, OFFSET_ROUNDING = 1e-7, 1e-6


def trained_twin(some: StageCase, is_rounded: bool) -> tuple:
    """A trainer after its last step, its present parameters, and the twin of them."""
    trainer = some.trainer()
    trainer.run(60)
    trained = read_trained(trainer, some.shape, 1, N_VALUES, some.n_outputs)
    return trainer, trained, Twin(trained, some.rows, some.loss, some.mixture, 0.8, is_rounded)


@pytest.mark.parametrize("is_rounded", [False, True])
def test_loss_and_gradients_are_those_of_the_twin(is_rounded):
    assert len(STAGE_CASES) == 54
    for some in STAGE_CASES:
        with case(some.name):
            trainer, trained, twin = trained_twin(some, is_rounded)
            loss = twin.run()
            assert trainer.mean_loss(some.rows.native, is_rounded) == pytest.approx(loss, rel=1e-5)
            found = trainer.gradients(some.rows.native, is_rounded)
            places = some.shape.slices(N_VALUES, some.n_outputs)
            assert set(places) == set(twin.gradients) == set(trained.parameters)
            for name, (place, size) in places.items():
                wanted = twin.gradients[name]
                error = np.abs(found[place].reshape(size) - wanted).max()
                rounding = OFFSET_ROUNDING if name == "offset" else ROUNDING
                assert error <= 1e-4 * np.abs(wanted).max() + rounding, name
                assert np.abs(wanted).max() > 1e-4 or name == "offset", name


def test_gradients_are_slopes_of_the_loss():
    """Along a random direction of every parameter, of the loss that is not rounded."""
    rng = np.random.default_rng(0)
    for some in STAGE_CASES:
        with case(some.name):
            trainer, trained, _ = trained_twin(some, is_rounded=False)
            found = trainer.gradients(some.rows.native, False)
            for name, (place, size) in some.shape.slices(N_VALUES, some.n_outputs).items():
                direction = rng.normal(size=size)
                if name.startswith("matrix") and some.shape.sparsities[int(name[-1])]:
                    direction *= trained.parameters[name] != 0  # pruned weights stay 0
                losses = []
                for step in (1e-8, -1e-8):
                    moved = trained.parameters[name].astype(np.float64) + step * direction
                    other = replace(trained, parameters=trained.parameters | {name: moved})
                    losses.append(Twin(other, some.rows, some.loss, some.mixture, 0.8, False).loss())
                slope = (losses[0] - losses[1]) / 2e-8
                gradient = found[place].reshape(size)
                rounding = OFFSET_ROUNDING if name == "offset" else ROUNDING
                error = 1e-4 * np.linalg.norm(gradient) * np.linalg.norm(direction) + 2.0 * rounding
                assert (gradient * direction).sum() == pytest.approx(slope, abs=error), name
