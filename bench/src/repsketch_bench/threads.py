"""How many threads torch uses."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Torch computes in one thread inside, and in as many as before afterwards.

    Steps of a training on small tensors gain nothing from a second thread. On a busy machine threads wait for each
    other at every operation, which was measured to cost up to forty times the work itself.

    >>> import torch
    >>> before = torch.get_num_threads()
    >>> with one_torch_thread():
    ...     inside = torch.get_num_threads()
    >>> inside, torch.get_num_threads() == before
    (1, True)
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
