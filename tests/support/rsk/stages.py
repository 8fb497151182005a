"""A good file with stages, and files with one thing wrong in their stages, by the number of the case they belong to."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from repsketch.io import model_to_bytes
from repsketch.io.records import STAGE, STAGE_STRIDE, Section
from repsketch.lsh.pool import CodePool, PooledRows
from repsketch.model import Model
from repsketch.model.inputs import Inputs
from repsketch.model.numbers import round_floats
from repsketch.model.rows import RowGroup
from repsketch.model.stages import Stage, Stages
from repsketch.sketch import CompiledSketch
from support.rsk.build import bare_file, sections_of, with_bytes, with_fields, with_sections

MODEL = Section.MODEL
#: Records of the stages of ``stages_model``: tables, ReLU, clip, no activation.
TABLE, RELU, CLIP, LAST = (Section.STAGE + STAGE_STRIDE * i for i in range(4))
MATRIX, COORDINATES, LINEAR = 1, 2, 3  # sections of a stage, above its record
LARGEST = 2**32 - 1
NAN, INF = float("nan"), float("inf")


def stages_model() -> Model:
    """Four stages with each activation and each kind of matrix, two linear terms, and two groups of rows."""
    rng = np.random.default_rng(6)
    inputs = Inputs(5, None, np.array([0, 0, 1, 0, 0]), scales=np.full(1, 30, np.float32), limits=(-127, 127))
    n_outputs = 2

    def draw(most: int, *shape: int) -> np.ndarray:
        return rng.integers(-most, most + 1, shape).astype(np.int8)

    def gain(n: int) -> np.ndarray:
        return rng.normal(size=n).astype(np.float32)

    def stage(n: int, p: int, most: int, *others: Any, share: float = 1.0, **options: Any) -> Stage:
        entries = np.where(draw(1, n, p) > 0, 1, -1) * rng.integers(1, most + 1, (n, p))
        matrix = np.where(rng.permutation(n * p).reshape(n, p) < round(share * n * p), entries, 0).astype(np.int8)
        multipliers = rng.integers(1, 256, p).astype(np.uint8)
        return Stage(matrix, multipliers, draw(127, p), *others, matrix_bits=4 if most == 7 else 8, **options)

    stages = (
        stage(5, 7, 7, 7, 2, 2000, "table", draw(127, 7, 8), 6, share=0.43, is_sparse=True,
              linear=draw(127, 7, n_outputs), linear_gain=gain(n_outputs)),
        stage(7, 5, 7, 6, 3, 3000, "relu", None, 4, linear=draw(127, 5, n_outputs), linear_gain=gain(1)),
        stage(5, 3, 127, 9, 2, 1500, "clip", None, 3, share=0.6, is_sparse=True),
        stage(3, 4, 127, 10, 1, 900),
    )  # fmt: skip
    levels = CodePool("ternary", 9, 4, 3, n_levels=8, n_axes=4, bias_scale=0, width_bits=6)
    sparse = CodePool("sparse", 8, 5, 9, is_seeded=True, bias_scale=20, width_bits=0, booleans=inputs.booleans)
    groups = (
        RowGroup(PooledRows(levels, 9, interpolate=True), draw(7, 9, 8, n_outputs), gain(2), "int4"),
        RowGroup(PooledRows(sparse, 4, 2), draw(127, 4, 4, n_outputs), gain(1), "int8", "values"),
    )
    offset = round_floats(gain(n_outputs), "bfloat16")
    return Model(
        inputs, Stages(stages), groups, offset, draw(127, 4, n_outputs), gain(1), "regression",
        offset_stored_as="bfloat16",
    )  # fmt: skip


def stages_file() -> bytes:
    """``stages_model`` and nothing beside it."""
    return CompiledSketch(stages_model()).to_bytes()


STAGES = stages_file()


def stage_sections(
    n: int, p: int, *, is_sparse: bool = False, bits: int = 8, index: int = 0, **fields: Any
) -> dict[int, bytes]:
    """Sections of a stage of n inputs and p coordinates, written field by field; the matrix holds zeros."""
    values = dict.fromkeys(STAGE.names, 0) | {"limit": 1, "n_components": p}
    values["matrix"] = 2 * is_sparse + (bits == 4)
    record = values | fields
    matrix = -(-n * p // 8) if is_sparse else -(-n * p * bits // 8)
    sections = {
        Section.STAGE: STAGE.pack(**record),
        Section.STAGE_MATRIX: bytes(matrix),
        Section.STAGE_COORDINATES: bytes([1]) * p + bytes(p * (1 + record["n_levels"])),
    }
    return {kind + STAGE_STRIDE * index: content for kind, content in sections.items()}


def staged_file(
    sections: Mapping[int, bytes], n: int, p: int, group: Mapping[str, Any] | None = None, **fields: Any
) -> bytes:
    """A file of n boolean columns, p coordinates behind its stages and one row of two buckets."""
    model = dict.fromkeys(("n_features", "n_columns", "n_values"), n) | {"n_components": p, "kinds": 1}
    model |= {"precision": 1, "low": -1, "high": 1, "projection": 5, "n_stages": 1}
    return bare_file(sections, group or {"hash": 2}, **(model | fields))


def _with_or(kind: int, at: int, bits: int) -> bytes:
    return with_bytes(STAGES, kind, at, "B", sections_of(STAGES)[kind][at] | bits)


def _overflowing() -> dict[str, bytes]:
    """Values of 15 bits and 300 entries of 127, of which 32 bits hold the sum, and not twice the sum."""
    one, rows = np.ones(1, np.float32), np.full((300, 1), 127, np.int8)
    files = {}
    for is_sparse in (False, True):
        stage = Stage(rows, np.ones(1, np.uint8), np.zeros(1, np.int8), 16, 0, 32_767, is_sparse=is_sparse)
        inputs = Inputs(300, limits=(-32_767, 32_767))
        data = model_to_bytes(Model(inputs, Stages((stage,)), (), one, np.ones((1, 1), np.int8), one))
        name = "sparse" if is_sparse else "dense"
        files[name] = with_bytes(data, Section.STAGE_COORDINATES, 0, "B", 2)
    return files


def _numbered() -> dict[int, dict[str, bytes]]:
    stage = {"table": TABLE, "ReLU": RELU, "clip": CLIP, "last": LAST}
    matrix = {name: sections_of(STAGES)[kind + MATRIX] for name, kind in stage.items()}
    bad: dict[int, dict[str, bytes]] = {}
    bad[14] = {f"stage, byte {at}": with_bytes(STAGES, RELU, at, "B", 1) for at in (20, 31)}
    bad[14] |= {
        "left over of a bitmap of 35 bits": _with_or(TABLE + MATRIX, 4, 0x80),
        "left over of a bitmap of 15 bits": _with_or(CLIP + MATRIX, 1, 0x80),
        "left over of sparse entries": _with_or(TABLE + MATRIX, -1, 0x10),
        "left over of dense entries": _with_or(RELU + MATRIX, -1, 0x10),
    }
    bad[29] = {
        f"coordinates of stage {name}": with_fields(STAGES, kind, n_components=0) for name, kind in stage.items()
    }
    bad[29]["stages"] = with_fields(STAGES, MODEL, n_stages=0)
    bad[29]["no rows and no linear term"] = with_fields(STAGES, MODEL, n_row_groups=0, linear=0, n_linear_gains=0)
    bad[30] = {f"{n} stages": with_fields(STAGES, MODEL, n_stages=n) for n in (5, 255)}
    bad[30] |= {f"{n} coordinates of a stage": with_fields(STAGES, CLIP, n_components=n) for n in (65_537, LARGEST)}
    # 65,537 times 65,536 entries, which are 65,536 modulo 2**32.
    wraps = stage_sections(1, 65_536) | {Section.STAGE_MATRIX: bytes(65_536)}
    bad[31] = {"a stage": staged_file(wraps, 65_537, 65_536)}
    bad[32] = {
        "coordinates of the last stage": with_fields(STAGES, MODEL, n_components=5),
        "non-zeros of a dense matrix": with_fields(STAGES, RELU, n_nonzeros=1),
        "more non-zeros than entries": with_fields(STAGES, TABLE, n_nonzeros=36),
        "most non-zeros": with_fields(STAGES, TABLE, n_nonzeros=LARGEST),
        "gains of a stage": with_fields(STAGES, TABLE, n_gains=3),
    }
    for name, byte in {"more": matrix["clip"][0] | ~matrix["clip"][0] & (matrix["clip"][0] + 1), "fewer": 0}.items():
        bad[32][f"{name} ones than entries"] = with_bytes(STAGES, CLIP + MATRIX, 0, "B", byte)
    bad[38] = {
        **{f"right shift {n}": with_fields(STAGES, CLIP, right_shift=n) for n in (32, 255)},
        **{f"shift bits {n}": with_fields(STAGES, CLIP, shift_bits=n) for n in (16, 255)},
        **{f"width bits {n} of tables": with_fields(STAGES, TABLE, width_bits=n) for n in (0, 9, 255)},
        **{f"width bits {n} of ReLU": with_fields(STAGES, RELU, width_bits=n) for n in (16, 255)},
        **{f"width bits {n} without an activation": with_fields(STAGES, LAST, width_bits=n) for n in (1, 255)},
        **{f"limit {n} of a stage": with_fields(STAGES, LAST, limit=n) for n in (0, 32_768, 65_535)},
    }
    bad[39] = {f"multiplier 0 at {at}": with_bytes(STAGES, TABLE + COORDINATES, at, "B", 0) for at in (0, 6)}
    for value in (NAN, INF, -INF, 0.0, -0.0):
        bad[39] |= {
            f"gain {at} of a stage, {value}": with_bytes(STAGES, TABLE + LINEAR, at, "f", value) for at in (0, 4)
        }
    bad[40] = {f"{name} stage": data for name, data in _overflowing().items()}
    bad[42] = {f"dense int8, {at}": with_bytes(STAGES, LAST + MATRIX, at, "b", -128) for at in (0, -1)}
    bad[42] |= {f"dense int4, {byte:#x}": with_bytes(STAGES, RELU + MATRIX, 3, "B", byte) for byte in (0x08, 0x80)}
    for value in (0, -128):
        bad[42] |= {
            f"sparse int8, {value} at {at}": with_bytes(STAGES, CLIP + MATRIX, at, "b", value) for at in (2, -1)
        }
    for byte in (0x10, 0x01, 0x18, 0x81):
        bad[42][f"sparse int4, {byte:#x}"] = with_bytes(STAGES, TABLE + MATRIX, 5, "B", byte)
    for name, at in {"first shift": 7, "last shift": 13, "first of a table": 14, "last of a table": -1}.items():
        bad[42][name] = with_bytes(STAGES, TABLE + COORDINATES, at, "b", -128)
    bad[42] |= {f"linear term of a stage, {at}": with_bytes(STAGES, RELU + LINEAR, at, "b", -128) for at in (4, -1)}
    bad[71] = {
        f"a gain of stage {name}": with_bytes(STAGES, stage[name] + LINEAR, 0, "f", 1e36) for name in ("table", "ReLU")
    }
    bad[73] = {f"activation {n}": with_fields(STAGES, LAST, activation=n) for n in (4, 255)}
    bad[73] |= {f"matrix {n}": with_fields(STAGES, TABLE, matrix=n) for n in (4, 255)}
    bad[73] |= {f"{n} entries of a table": with_fields(STAGES, TABLE, n_levels=n) for n in (0, 2, 5, 32)}
    bad[73] |= {
        "no activation in the first stage": with_fields(STAGES, TABLE, activation=0, n_levels=0, width_bits=0),
        "tables of ReLU": with_fields(STAGES, RELU, n_levels=8),
        "a linear term without an activation": with_fields(STAGES, LAST, n_gains=1),
        **{f"stages, {f}": with_fields(STAGES, MODEL, **f) for f in ({"limit": 1}, {"right_shift": 1}, {"flags": 8})},
        "stages and a shift": with_fields(STAGES, MODEL, flags=4),
        "stages in float32": with_fields(
            STAGES, MODEL, precision=0, low=0, high=0, linear=1, offset_stored_as=0, n_linear_gains=0
        ),
    }  # fmt: skip
    unused = {CLIP + LINEAR: bytes(8), LAST + LINEAR: bytes(8), Section.PROJECTION: bytes(8)}
    bad[74] = {f"section {kind}, stages": with_sections(STAGES, {kind: content}) for kind, content in unused.items()}
    return bad


#: Files by the number of their case, and what they are.
BAD_STAGES = _numbered()
