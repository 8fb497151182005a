"""Fits side by side: results in their order, and the end of the others when one fails."""

import os
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from repsketch.parallel import MAX_THREADS, Workers, n_threads


def test_results_are_in_the_order_of_the_jobs():
    def job(number):
        time.sleep(0.01 * (number == 0))
        return number

    with Workers(3) as workers:
        assert workers.map([lambda n=n: job(n) for n in range(6)]) == list(range(6))
        assert not workers.is_stopped()
    assert workers.is_stopped()


def test_an_error_ends_what_is_running():
    ended = []

    def wait(workers):
        while not workers.is_stopped():
            time.sleep(0.001)
        ended.append(True)

    def fail():
        raise ValueError("no such fit")

    def fit():
        with Workers(2) as workers:
            workers.submit(lambda: wait(workers))
            workers.submit(fail).result()

    with pytest.raises(ValueError, match="no such fit"):
        fit()
    assert ended == [True]


def test_no_more_threads_than_processors(monkeypatch):
    for processors, expected in ((1, 1), (2, 2), (64, MAX_THREADS)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=processors: set(range(n)), raising=False)
        assert n_threads() == expected


def test_more_threads_where_a_caller_has_work_for_them(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    assert (n_threads(), n_threads(8), n_threads(100)) == (MAX_THREADS, 8, 64)


def test_a_matrix_product_has_one_thread():
    def n_threads_of_products():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(3, "blas"):
        if n_threads_of_products() != {3}:
            pytest.skip("the library of matrix products has no number of threads")
        first, second = Workers(2), Workers(2)
        with first:
            second.__enter__()
            assert first.submit(n_threads_of_products).result() == {1}
        assert second.submit(n_threads_of_products).result() == {1}  # until the last ones have ended
        second.__exit__()
        assert n_threads_of_products() == {3}
