"""Counting instructions; the counts themselves are exact, so they are compared exactly."""

import shutil

import pytest

from repsketch_bench.callgrind import count_instructions

DRIVER = """
#include <stdlib.h>
#ifndef STEPS
#define STEPS 10
#endif
static volatile unsigned state;
__attribute__((noinline)) void predict(void) { for (int i = 0; i < STEPS; ++i) state += 1; }
int main(int argc, char **argv) {
  for (int i = 0; i < 100000; ++i) state += 2; /* start-up */
  for (int i = 0; i < atoi(argv[1]); ++i) predict();
  return argc == 2 ? 0 : 9;
}
"""

needs_valgrind = pytest.mark.skipif(
    not (shutil.which("valgrind") and shutil.which("gcc")), reason="valgrind or gcc is not installed"
)


@needs_valgrind
def test_only_the_function_counts_and_in_proportion(tmp_path):
    path = tmp_path / "driver.c"
    path.write_text(DRIVER)
    counted = [count_instructions(DRIVER, "predict", flags=[f"-DSTEPS={n}"], counts=(5, 10)) for n in (1000, 2000)]
    few, many = (instructions.per_query for instructions in counted)
    assert 2.0 <= (many - few) / 1000 <= 6.0  # load, add, store, and the loop unless unrolled
    assert (many - few) == pytest.approx(few, abs=20)
    assert count_instructions(path, "predict", flags=["-DSTEPS=1000"], counts=(7, 17)).per_query == few


@needs_valgrind
def test_reasons():
    assert "not seen" in count_instructions(DRIVER, "no_such_function").reason
    assert "ended with 9" in count_instructions(DRIVER, "predict", arguments=["x"]).reason
    assert "error" in count_instructions("int main(", "predict").reason
    assert "AVX-512" in count_instructions(DRIVER, "predict", flags=["-march=native"]).reason


def test_missing_programs(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    counted = count_instructions(DRIVER, "predict")
    assert counted.per_query is None
    assert "valgrind is not on the PATH" in counted.reason
    monkeypatch.setattr("repsketch_bench.callgrind.shutil.which", lambda name: None if "cc" in name else "/x")
    assert "no C compiler" in count_instructions(DRIVER, "predict").reason
