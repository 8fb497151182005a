"""The example in C, built by the line in its README, gives Python's outputs to the last bit."""

import re
import subprocess

import numpy as np
import pytest

from repsketch import Sketch, lsh


@pytest.fixture(scope="module")
def predict(root, run, compiler, tmp_path_factory):
    """The program, built where the README says but in a folder of its own."""
    folder = tmp_path_factory.mktemp("example")
    (folder / "native").symlink_to(root / "native")
    example = folder / "examples" / "c"
    example.mkdir(parents=True)
    (example / "predict.c").write_bytes((root / "examples/c/predict.c").read_bytes())
    (line,) = re.findall(r"^    (cc .*)$", (root / "examples/c/README.md").read_text(), re.MULTILINE)
    assert run("sh", "-c", re.sub(r"^cc\b", compiler, line) + " -Wall -Wextra -Werror", cwd=example) == ""
    return example / "predict"


def test_it_is_short(root):
    code = re.sub(r"/\*.*?\*/", "", (root / "examples/c/predict.c").read_text(), flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 30


def make_sketch(n_outputs):
    rng = np.random.default_rng(n_outputs)
    sketch = Sketch.empty(lsh.L2(2.0), n_rows=40, n_buckets=16, n_features=3, n_concat=2, n_outputs=n_outputs)
    return sketch.add(rng.normal(size=(30, 3)), rng.normal(size=(30, n_outputs)), progress=False)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("precision", ["float32", "int"])
def test_outputs_are_pythons(predict, run, tmp_path, n_outputs, precision):
    sketch = make_sketch(n_outputs)
    if precision == "int":
        sketch = sketch.quantize()
    assert sketch.precision == precision
    sketch.save(tmp_path / "model.rsk", metadata={"made": "for a test"})
    rows = np.array([[0.5, 1.25, -3.0], [0.0, 0.0, 0.0], [1e-30, -7e5, 0.1]], np.float32)
    for row in rows:
        printed = run(predict, tmp_path / "model.rsk", *(repr(float(x)) for x in row))
        outputs = np.array(printed.split(), np.float32)
        assert outputs.tobytes() == sketch.outputs(row[None]).tobytes()
    assert run(predict, tmp_path / "model.rsk") == run(predict, tmp_path / "model.rsk", "0", "0", "0")
    assert run(predict, "model.rsk", cwd=tmp_path) == run(predict, cwd=tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "this is no regular file"), (b"PK\3\4" + bytes(40), "this is no .rsk file: the magic bytes are wrong")],
    ids=["missing", "zip"],
)
def test_what_is_wrong_is_said(predict, tmp_path, content, message):
    if content is not None:
        (tmp_path / "model.rsk").write_bytes(content)
    done = subprocess.run([predict, tmp_path / "model.rsk"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"predict: {message}\n")
