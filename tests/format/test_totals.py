"""What an accepted file may cost: memory and operations, computed from its records alone."""

import pytest

from build import bare_file, native_status, python_status
from repsketch.io import Status

L2 = {"hash": 0, "n_parameters": 1, "width": 1.0}
MILLION = 1 << 20
WIDE = dict.fromkeys(("n_features", "n_columns", "n_values", "n_components"), MILLION)


def costly() -> dict[str, bytes]:
    """Small files that used to be accepted and cost hundreds of megabytes, or hours."""
    many = dict.fromkeys(WIDE, 16_000)
    return {
        "directions of 500 MB from 352 bytes": bare_file(part=L2 | {"n_concat": 4096, "counter_type": 3}, **many),
        "hours": bare_file(part=L2 | {"n_concat": 4096, "counter_type": 3}, **WIDE),
        "scratch of 512 MB": bare_file(
            part={"n_rows": 65_536, "n_groups": 65_536, "aggregate": 2, "n_numbers": 32, "counter_type": 3, "n_gains": 1},
            n_outputs=32,
        ),
    }


@pytest.mark.parametrize("name", costly())
def test_a_small_file_that_costs_much_is_refused(name):
    data = costly()[name]
    assert len(data) < 3 << 20
    assert (python_status(data), native_status(data)) != (Status.OK, Status.OK)
