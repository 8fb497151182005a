import pytest
import torch

from repsketch_bench.threads import one_torch_thread


def test_threads_are_as_before_even_after_an_error():
    seen, before = [], torch.get_num_threads()

    @one_torch_thread()
    def fail():
        seen.append(torch.get_num_threads())
        raise KeyError

    torch.set_num_threads(3)
    try:
        with pytest.raises(KeyError):
            fail()
        assert (seen, torch.get_num_threads()) == ([1], 3)
    finally:
        torch.set_num_threads(before)
