"""No prefix of a good file and no change of a single byte is taken for a good file, in either reader."""

import numpy as np
import pytest

from repsketch.io import Status
from support.rsk.build import native_status, python_status, sections_of


def test_the_file_is_about_4_kib_and_has_nearly_all_sections(content):
    assert 3_900 <= len(content) <= 4_400
    assert len(sections_of(content)) == 32


@pytest.mark.parametrize("name", ["content", "intervals", "stages"])
def test_every_prefix_is_refused(name, request):
    content = request.getfixturevalue(name)
    found = {n: (python_status(content[:n]), native_status(content[:n])) for n in range(len(content))}
    expected = {n: (Status.EMPTY if n == 0 else Status.TOO_SHORT if n < 32 else Status.TRUNCATED,) * 2 for n in found}
    assert found == expected


@pytest.mark.parametrize("name", [pytest.param("content", marks=pytest.mark.slow), "intervals", "stages"])
def test_every_change_of_a_byte_is_refused(name, request):
    """All 255 changes of every byte in C; four or five of them, with the same status, in Python."""
    content = request.getfixturevalue(name)
    rng = np.random.default_rng(0)
    changed = bytearray(content)
    accepted, different = [], []
    for at, old in enumerate(content):
        for_both = {old ^ 0x01, old ^ 0x80, (old + 1) % 256, 255 - old, (old + int(rng.integers(1, 256))) % 256}
        for new in range(256):
            if new == old:
                continue
            changed[at] = new
            data = bytes(changed)
            status = native_status(data)
            if status == Status.OK:
                accepted.append((at, new))
            if new in for_both and python_status(data) != status:
                different.append((at, new, status))
        changed[at] = old
    assert not accepted
    assert not different
