"""Many small cases in one test: pytest takes longer to start a test than most of them run."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def case(*name: object) -> Iterator[None]:
    """A failure inside names the case.

    >>> with case("float32", "too wide"):
    ...     assert 1 + 1 == 3
    Traceback (most recent call last):
    AssertionError
    """
    try:
        yield
    except BaseException as error:  # what pytest.fail raises is no Exception
        error.add_note(f"case: {', '.join(map(str, name))}")
        raise
