"""Two readers, one status: 3,000 files that are nearly good, with all checksums repaired.

A change often ends at the first check of a length or at the digest. So where the two readers agree on such a status
the file is repaired further, to what the Python reader requires, and given to both again: up to the last checks.
"""

from collections import Counter

import numpy as np
import pytest

from repsketch.io import Status
from repsketch.io.records import Section
from repsketch.io.row_group_reader import RowGroupReader
from repsketch.io.sections import Sections
from support.rsk.build import RECORDS, native_status, python_status, sections_of, with_fields, with_sections
from support.rsk.mutations import bases, mutated

N_FILES, N_FAST = 3_000, 1_000
MOST_REPAIRS = 8
LARGEST_SECTION = 65_536  # a repair makes none larger
SECTION_CAP = 32


class Listener:
    """Remembers what the Python reader last required: a section's length, and the digest of a group of rows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.section = self.digest = (0, 0)
        real_section, real_digest = Sections.section, RowGroupReader._digest

        def section(sections: Sections, kind: int, nbytes: int) -> memoryview:
            self.section = (kind, nbytes)
            return real_section(sections, kind, nbytes)

        def digest(group: RowGroupReader) -> int:
            self.digest = (Section.ROW_GROUP + group.first, real_digest(group))
            return self.digest[1]

        monkeypatch.setattr(Sections, "section", section)
        monkeypatch.setattr(RowGroupReader, "_digest", digest)

    def repaired(self, data: bytes, status: Status) -> bytes | None:
        """The file with the digest or the length that is required; None if that was not what is wrong."""
        if status == Status.DIGEST:
            return with_fields(data, self.digest[0], digest=self.digest[1])
        kind, nbytes = self.section
        if status not in (Status.SIZE_MISMATCH, Status.SECTION_MISSING) or kind in RECORDS or nbytes > LARGEST_SECTION:
            return None
        sections = sections_of(data)
        old = sections.get(kind, bytes(8))
        if len(old) == nbytes or nbytes == 0 or (kind not in sections and len(sections) == SECTION_CAP):
            return None
        return with_sections(data, {kind: (old * (nbytes // len(old) + 1))[:nbytes]})


@pytest.mark.parametrize("n_files", [N_FAST, pytest.param(N_FILES, marks=pytest.mark.slow)])
def test_both_readers_give_the_same_status(n_files, monkeypatch):
    listener, files, rng = Listener(monkeypatch), bases(), np.random.default_rng(20_240)
    seen: Counter[Status] = Counter()
    different = []
    for i in range(n_files):
        data: bytes | None = mutated(files[int(rng.integers(len(files)))], rng, files)
        for _ in range(MOST_REPAIRS):
            assert data is not None
            expected, status = native_status(data), python_status(data)
            seen[expected] += 1
            if status != expected:
                different.append((i, status.name, expected.name))
                break
            data = listener.repaired(data, expected)
            if data is None:
                break
    assert not different
    # The changes reach everywhere: most statuses of files, and hundreds of files that are good after all.
    assert len(seen) > 40
    assert seen[Status.OK] > 0.1 * n_files
