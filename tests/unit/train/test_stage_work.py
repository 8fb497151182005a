"""Work of a step, and how many steps are made for it."""

from repsketch.train.stage_shape import NetworkHead, RowsHead, Shape, StageShape
from repsketch.train.stage_work import MAX_EPOCHS, MIN_STEP_SHARE, WORK_PER_STEP, steps_for, work_of_step

N_ROWS = 50_000


def network(width: int) -> Shape:
    return Shape((StageShape(width, "relu"),), NetworkHead())


def test_work_grows_with_every_size():
    plain = work_of_step(network(10), 5, 1, N_ROWS)
    assert work_of_step(network(11), 5, 1, N_ROWS) > plain
    assert work_of_step(network(10), 6, 1, N_ROWS) > plain
    assert work_of_step(network(10), 5, 2, N_ROWS) > plain
    assert work_of_step(network(10), 5, 1, 500) < plain  # smaller batches
    tables = Shape((StageShape(10),), NetworkHead())
    assert work_of_step(tables, 5, 1, N_ROWS) > plain
    rows = [Shape((), RowsHead(n_components, factored=True)) for n_components in (10, 20)]
    assert work_of_step(rows[1], 5, 3, N_ROWS) > work_of_step(rows[0], 5, 3, N_ROWS)


def test_products_are_most_of_the_work_of_a_large_model():
    """Twice as wide in both of its products, a step is nearly four times the work."""
    large, twice = (Shape((StageShape(n, "relu"),) * 2, NetworkHead()) for n in (512, 1_024))
    assert 3.5 < work_of_step(twice, 100, 1, N_ROWS) / work_of_step(large, 100, 1, N_ROWS) < 4.0


def test_large_models_are_trained_for_fewer_steps():
    assert steps_for(6_000, WORK_PER_STEP, WORK_PER_STEP, N_ROWS) == 6_000
    assert steps_for(6_000, 3 * WORK_PER_STEP, WORK_PER_STEP, N_ROWS) == 2_000
    assert steps_for(6_000, 1_000 * WORK_PER_STEP, WORK_PER_STEP, N_ROWS) == 6_000 * MIN_STEP_SHARE == 300


def test_few_rows_are_read_so_often_and_not_more():
    assert steps_for(10**9, 1.0, WORK_PER_STEP, 400) == MAX_EPOCHS * (400 // 48)  # batches of 48 of 400 rows
    assert steps_for(0, 1.0, WORK_PER_STEP, 400) == 1
