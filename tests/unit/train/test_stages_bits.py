"""The same bits on every instruction set, in pieces of any size, and for the same seed alone."""

import numpy as np
import pytest

from repsketch.core import require_native
from repsketch.train.stage_shape import NetworkHead, Shape, StageShape
from repsketch.train.stages import LabelledRows, Schedule, make_trainer, train
from support.cases import case
from support.stage_cases import N_VALUES, STAGE_CASES


def run_in_pieces(trainer, pieces: list[int]) -> bytes:
    for n_steps in pieces:
        trainer.run(n_steps)
    return trainer.parameters().tobytes()


def test_every_instruction_set_gives_the_same_bits():
    """A few hundred steps of every option: parameters, validation losses, gradients, and outputs in float."""
    isas = require_native().isas()
    if len(isas) == 1:
        pytest.skip("this machine has one instruction set")
    for some in STAGE_CASES:
        with case(some.name):
            found = {}
            for name, isa in isas.items():
                trainer = some.trainer(200, isa)
                trainer.run(200)
                numbers = [trainer.gradients(some.rows.native, rounded) for rounded in (False, True)]
                numbers += [
                    trainer.parameters(),
                    trainer.outputs(some.rows.values, False)[0],
                    np.array(trainer.checks()),
                ]
                found[name] = b"".join(array.tobytes() for array in numbers)
            assert len(set(found.values())) == 1


def test_wide_stages_give_the_same_bits():
    """Blocks of products, and what is left over at their ends."""
    rng = np.random.default_rng(0)
    for n_values, width, next_width in ((33, 35, 37), (17, 66, 5), (1, 1, 1)):
        rows = LabelledRows(rng.integers(-99, 100, (70, n_values)).astype(np.int16), rng.normal(size=(70, 3)))
        shape = Shape((StageShape(width, "relu"), StageShape(next_width)), NetworkHead())
        found = {
            run_in_pieces(make_trainer(rows, rows, shape, Schedule(30), loss="squared", isa=isa), [30])
            for isa in require_native().isas().values()
        }
        assert len(found) == 1


def test_pieces_do_not_matter():
    for some in STAGE_CASES[::7]:
        with case(some.name):
            at_once = run_in_pieces(some.trainer(90), [90])
            assert run_in_pieces(some.trainer(90), [1, 2, 30, 17, 100]) == at_once
            assert run_in_pieces(some.trainer(90, seed=2), [90]) != at_once


def test_train_runs_in_pieces_that_a_callback_sees():
    some = STAGE_CASES[0]
    seen = []
    trained = train(some.rows, some.rows, some.shape, Schedule(3_000), loss="squared", on_piece=seen.append)
    assert seen[0] == 0
    assert len(seen) > 3
    assert seen == sorted(set(seen))
    again = train(some.rows, some.rows, some.shape, Schedule(3_000), loss="squared")
    for name, array in trained.parameters.items():
        assert array.tobytes() == again.parameters[name].tobytes()

    def stop(n_steps: int) -> None:
        if n_steps > 10:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        train(some.rows, some.rows, some.shape, Schedule(3_000), loss="squared", on_piece=stop)


def test_parameters_are_read_and_written():
    some = STAGE_CASES[0]
    trainer, other = some.trainer(), some.trainer(seed=7)
    assert not np.array_equal(trainer.parameters(), other.parameters())
    other.set_parameters(trainer.parameters())
    assert other.parameters().tobytes() == trainer.parameters().tobytes()
    with pytest.raises(ValueError, match="as many parameters"):
        other.set_parameters(trainer.parameters()[1:])
    size = some.shape.sizes(N_VALUES, some.n_outputs)
    assert len(trainer.parameters()) == sum(int(np.prod(each)) for each in size.values())
