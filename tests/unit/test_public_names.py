"""Every type that a public call takes or returns can be imported from the package, to be written in annotations."""

import inspect
import os
import subprocess
import sys
import typing
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import pytest

import repsketch
from repsketch import errors, io

ROOMS = (repsketch, repsketch.lsh, repsketch.theory)
PUBLIC = {name: getattr(room, name) for room in reversed(ROOMS) for name in room.__all__}


def functions_of(name: str, value: object) -> Iterator[tuple[str, Callable]]:
    """A public function, or what is public of a class: its methods, and the getters of its properties."""
    if inspect.isfunction(value):
        yield name, value
    if not inspect.isclass(value):
        return
    for base in value.__mro__:
        if not base.__module__.startswith("repsketch"):
            continue
        for key, member in vars(base).items():
            function = getattr(member, "__func__", member)
            if isinstance(member, property):
                function = member.fget
            elif isinstance(member, cached_property):
                function = member.func
            if inspect.isfunction(function) and (key == "__init__" or not key.startswith("_")):
                yield f"{name}.{key}", function


def classes_in(hint: object) -> Iterator[type]:
    """Classes of this package anywhere in an annotation."""
    if inspect.isclass(hint) and hint.__module__.startswith("repsketch"):
        yield hint
    for found_class in typing.get_args(hint):
        yield from classes_in(found_class)


FUNCTIONS = dict(pair for name, value in PUBLIC.items() for pair in functions_of(name, value))


def unnamed(function: Callable) -> list[str]:
    """Classes in the annotations of a function that have no public name."""
    hints = typing.get_type_hints(function, localns=PUBLIC)  # a forward reference to a private name fails here
    found = {kind for hint in hints.values() for kind in classes_in(hint)}
    return sorted(kind.__name__ for kind in found if PUBLIC.get(kind.__name__) is not kind)


def test_types_of_a_public_call_are_public():
    found = {name: unnamed(function) for name, function in FUNCTIONS.items()}
    assert {name: kinds for name, kinds in found.items() if kinds} == {}


def test_the_walk_finds_the_calls():
    assert {
        "compress",
        "load",
        "build_sketch",
        "distill",
        "CompiledSketch.cost",
        "Sketch.empty",
        "L2.closed_form",
    } <= set(FUNCTIONS)


def test_the_check_itself():
    class Private:
        __module__ = "repsketch.somewhere"

    def returns(x: int) -> "list[Private | None]": ...

    returns.__annotations__["return"] = list[Private | None]
    assert unnamed(returns) == ["Private"]


def test_fields_of_what_is_returned_are_public():
    kinds = [value for value in PUBLIC.values() if inspect.isclass(value) and value.__module__.startswith("repsketch")]
    hints = {kind: typing.get_type_hints(kind, localns=PUBLIC) for kind in kinds}
    found = {found_class for kind in kinds for hint in hints[kind].values() for found_class in classes_in(hint)}
    assert sorted(kind.__name__ for kind in found if PUBLIC.get(kind.__name__) is not kind) == []


def test_errors_are_public():
    raised = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]
    for error in (*raised, io.FormatError):
        assert getattr(repsketch, error.__name__) is error
        assert error.__name__ in repsketch.__all__


def test_the_package_says_that_it_is_typed():
    assert (Path(repsketch.__file__).parent / "py.typed").is_file()


SNIPPET = """
import numpy as np
import repsketch as rs


def small(X: np.ndarray, y: np.ndarray) -> rs.CompiledSketch:
    sketch = rs.compress(None, X, y, budget="1KB", progress=False)
    reveal_type(sketch)
    reveal_type(sketch.model)
    reveal_type(sketch.cost())
    reveal_type(sketch.change)
    reveal_type(sketch.predict_interval(X))
    return sketch


def density(X: np.ndarray) -> rs.KernelSketch:
    blank = rs.Sketch.empty(rs.lsh.L2(bandwidth=1.0), n_rows=50, n_buckets=16, n_features=2)
    reveal_type(blank.add(X))
    reveal_type(blank.quantize(X))
    return blank.merge(blank)


def unknown() -> None:
    rs.no_such_name  # type: ignore[attr-defined]  # reported as unused unless mypy knows which names there are


def opened(path: str) -> rs.Sketch | None:
    try:
        sketch = rs.load(path)
        reveal_type(sketch)
        return sketch
    except (rs.FormatError, rs.InputError):
        return None


def estimator() -> rs.SketchClassifier:
    model = rs.SketchClassifier(budget="1KB")
    reveal_type(model.sketch_)
    return model


def paper(X: np.ndarray) -> rs.KernelSketch:
    model = rs.distill(lambda X: X[:, 0], X)
    reveal_type(model)
    return rs.build_sketch(model, n_rows=50, n_buckets=16)
"""
REVEALED = [
    "CompiledSketch", "Model", "Cost", "Change | None", "tuple[", "KernelSketch", "CompiledSketch", "Sketch",
    "CompiledSketch", "KernelModel",
]  # fmt: skip


@pytest.mark.slow
def test_mypy_reads_the_types_of_a_user(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "user.py").write_text(SNIPPET)
    folder = Path(repsketch.__file__).parents[1]
    # An editable install finds modules by a hook, which mypy cannot follow.
    path = {} if folder.name == "site-packages" else {"MYPYPATH": str(folder)}
    options = ["--strict", "--follow-imports=silent", "--cache-dir", str(tmp_path), "--config-file="]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "user.py"],
        cwd=tmp_path, env={**os.environ, **path}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    revealed = [line.partition("Revealed type is ")[2] for line in done.stdout.splitlines() if "Revealed" in line]
    assert len(revealed) == len(REVEALED), revealed
    for found, expected in zip(revealed, REVEALED, strict=True):
        assert expected in found
        assert found != '"Any"'
