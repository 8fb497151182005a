"""Tables from the wild, through every call that takes one: a wrong cell is an error that names it, never an output."""

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import repsketch as rs
from repsketch.data.frames import as_columns, collected
from repsketch.errors import InputError
from repsketch.train.selection import unused_columns

RNG = np.random.default_rng(0)
N = 240


def birds(n=N):
    """Like the penguins: two measures, an island, and a species that follows from them."""
    island = RNG.choice(["Biscoe", "Dream", "Torgersen"], n)
    length = RNG.normal(44.0, 5.0, n) + 4.0 * (island == "Biscoe")
    mass = RNG.normal(4200.0, 800.0, n)
    frame = pandas.DataFrame({"bill_length_mm": length, "island": island, "body_mass_g": mass})
    return frame, np.where(length > 46.0, "Gentoo", "Adelie")


@pytest.fixture(scope="module")
def sketch():
    frame, species = birds()
    return rs.compress(None, frame, species, budget="400B", time_limit=0.01, random_state=0, progress=False)


ROW = {"bill_length_mm": 52.0, "island": "Biscoe", "body_mass_g": 5000.0}
FRAMES = {
    "pandas": pandas.DataFrame,
    "polars": lambda columns: polars.DataFrame(columns, strict=False),
    "lazy": lambda columns: polars.LazyFrame(columns, strict=False),
    "pyarrow": pyarrow.table,
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("n_rows", [1, 3])
@pytest.mark.parametrize("value", ["47,6", "heavy", "", "1_000"])
def test_text_where_a_number_belongs_is_refused(sketch, library, n_rows, value):
    columns = {name: [cell] * n_rows for name, cell in ROW.items()} | {"bill_length_mm": [value] * n_rows}
    words = rf"column 'bill_length_mm' of X holds '{value}' in row 0, which is no number; this model reads numbers"
    for call in (sketch.predict, sketch.predict_proba, sketch.outputs):
        with pytest.raises(InputError, match=words):
            call(FRAMES[library](columns))


@pytest.mark.parametrize("library", FRAMES)
def test_integers_beyond_those_of_float32_are_rounded(library):
    cells = [2**24 + 1, None, 2**60 + 1, -(2**53) - 1]
    cells = pandas.array(cells, "Int64") if library == "pandas" else cells
    numbers = as_columns(collected(FRAMES[library]({"count": cells}))).numbers[:, 0]
    np.testing.assert_array_equal(numbers, np.array([2**24, np.nan, 2**60, -(2**53)], np.float32))


@pytest.mark.parametrize("library", FRAMES)
def test_text_that_reads_as_a_number_is_that_number(sketch, library):
    as_text = FRAMES[library]({"bill_length_mm": [" 47.6"], "island": ["Dream"], "body_mass_g": ["4e3"]})
    as_number = pandas.DataFrame({"bill_length_mm": [47.6], "island": ["Dream"], "body_mass_g": [4000.0]})
    np.testing.assert_array_equal(sketch.outputs(as_text), sketch.outputs(as_number))


def test_one_bad_row_among_many_is_named(sketch):
    frame = pandas.DataFrame([ROW] * 5).astype({"body_mass_g": object})
    frame.loc[3, "body_mass_g"] = "heavy"
    with pytest.raises(
        InputError, match="column 'body_mass_g' of X holds number and text: 'heavy' of type str in row 3"
    ):
        sketch.predict(frame)


def test_one_row_by_name_or_in_order(sketch):
    frame = pandas.DataFrame([ROW])
    expected = sketch.predict(frame)[0]
    for row in (
        ROW,
        dict(reversed(ROW.items())),
        list(ROW.values()),
        frame.iloc[0],
        np.array(list(ROW.values()), object),
    ):
        assert sketch.predict_one(row) == expected
    numbers = np.array([52.0, 0.0, 5000.0], np.float32)  # islands by their place
    assert sketch.predict_one(numbers) == expected
    assert sketch.predict_one({**ROW, "bill_length_mm": "52"}) == expected


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({**ROW, "bill_length_mm": "47,6"}, "column 'bill_length_mm' of row holds '47,6' in row 0, which is no number"),
        ([52.0, "Biscoe", "heavy"], "column 'body_mass_g' of row holds 'heavy' in row 0"),
        ({"island": "Biscoe"}, r"row lacks the columns \['bill_length_mm', 'body_mass_g'\]"),
        ([52.0, "Biscoe"], r"row has shape \(2,\); allowed is one entry for each of the 3 columns"),
        ({**ROW, "bill_length_mm": [1.0]}, "column 'bill_length_mm' of row holds objects: .* of type list"),
        ({**ROW, "bill_length_mm": 10**400}, "column 'bill_length_mm' of row holds 1000"),
        ({**ROW, "bill_length_mm": 1e39}, "row holds infinity .* column 'bill_length_mm'"),
        ("Biscoe", r"row has shape \(\)"),
    ],
)
def test_one_bad_row(sketch, row, words):
    with pytest.raises(InputError, match=words):
        sketch.predict_one(row)


def test_a_label_that_looks_like_a_number_is_a_label():
    frame = pandas.DataFrame({"size": RNG.normal(size=N), "zip": RNG.choice(["3", "5", "10"], N)})
    sketch = rs.compress(
        None, frame, np.where(frame["zip"] == "5", 1.0, 0.0) + frame["size"], budget="300B", task="regression",
        time_limit=0.01, random_state=0, progress=False,
    )  # fmt: skip
    frames = [pandas.DataFrame({"size": [0.1], "zip": [cell]}) for cell in ("5", 5, 5.0)]
    assert len({float(sketch.predict(frame)[0]) for frame in frames}) == 1
    assert sketch.predict_one([0.1, "5"]) == sketch.predict(frames[0])[0]


BAD_CELLS = {
    "lists": ([[1.0], [2.0]] * (N // 2), "column 'bill_length_mm' of X holds (objects|List)"),
    "text and numbers": (["a", 1.0] * (N // 2), "column 'bill_length_mm' of X holds number and text"),
    "sets": ([{1}] * N, r"column 'bill_length_mm' of X holds objects: \{1\} of type set in row 0"),
    "huge integers": ([10**400] * N, "column 'bill_length_mm' of X holds 1000.* in row 0, which is no number"),
    "complex": ([1j] * N, "column 'bill_length_mm' of X holds objects|holds Complex|column .* of X holds"),
}


@pytest.mark.parametrize("case", BAD_CELLS)
def test_cells_of_other_kinds_are_refused(case, sketch):
    cells, words = BAD_CELLS[case]
    frame, species = birds()
    bad = frame.assign(bill_length_mm=pandas.Series(cells, dtype=object))
    with pytest.raises(InputError, match=words):
        rs.compress(None, bad, species, budget="300B", progress=False)
    with pytest.raises(InputError, match=words):
        sketch.predict(bad)


@pytest.mark.parametrize("call", ["compress", "predict"])
def test_two_columns_of_one_name(call, sketch):
    frame, species = birds()
    doubled = pandas.concat([frame, frame[["island"]]], axis=1)
    with pytest.raises(InputError, match="X has 2 columns called 'island'; rename or drop all but one"):
        rs.compress(None, doubled, species, progress=False) if call == "compress" else sketch.predict(doubled)
    counted = pandas.DataFrame(np.ones((3, 2)), columns=[0, "0"])
    with pytest.raises(InputError, match="X has 2 columns called '0'"):
        rs.compress(None, counted, [0, 1, 1], progress=False)


BAD_TARGETS = {
    "NaN among text": (np.array(["a", np.nan] * (N // 2), object), "y holds NaN, infinity or missing values in 120 of"),
    "None": (["a", None] * (N // 2), "y holds NaN, infinity or missing values in 120 of 240 rows, first in row 1"),
    "pandas NA": (pandas.array([1, None] * (N // 2), "Int64"), "y holds NaN, infinity or missing"),
    "NaN": ([1.0, np.nan] * (N // 2), "y holds NaN, infinity or missing"),
    "masked": (np.ma.masked_equal(np.arange(N) % 3, 2), "y holds a masked entry at row 2"),
    "mixed": (np.array([1, "a"] * (N // 2), object), "y holds number and text: 'a' of type str in row 1"),
    "dates": (np.arange(N).astype("datetime64[D]"), "y holds dates or times"),
    "a label for every row": ([f"r{i}" for i in range(N)], "y holds 240 different labels in 240 rows"),
    "lists": ([[1], [2, 3]] * (N // 2), "y"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_targets_that_are_none(case, monkeypatch):
    from repsketch.train import search

    monkeypatch.setattr(search, "search", lambda *_, **__: pytest.fail("trained"))
    y, words = BAD_TARGETS[case]
    with pytest.raises(InputError, match=words):
        rs.compress(None, birds()[0], y, progress=False)


def test_numbers_whose_range_float32_does_not_hold():
    """Such as identifiers near 2^60, here in an array, which has no types of columns to tell them by."""
    X = np.stack([2.0**60 + np.arange(N), RNG.normal(size=N)], axis=1)
    sketch = rs.compress(None, X, X[:, 1] > 0, budget="300B", time_limit=0.01, random_state=0, progress=False)
    assert (sketch.predict(X) == (X[:, 1] > 0)).mean() > 0.9


def table_of(n=400):
    rng = np.random.default_rng(1)
    size = rng.normal(size=n)
    frame = pandas.DataFrame(
        {
            "rownames": np.arange(1, n + 1),
            "ticket": 2**60 + rng.permutation(n),
            "seen": 1_600_000_000 + 60 * rng.permutation(n),
            "comment": [f"said {i}" for i in range(n)],
            "when": pandas.date_range("2020-01-01", periods=n),
            "country": "NZ",
            "age": rng.integers(18, 90, n),
            "population": rng.lognormal(17.0, 2.0, n).astype(np.int64),
            "size": size,
        }
    )
    return frame, size > 0


def test_columns_that_only_tell_rows_apart_are_not_used(capsys):
    frame, y = table_of()
    sketch = rs.compress(None, frame, y, budget="300B", time_limit=0.01, random_state=0)
    said = capsys.readouterr().err
    for name in ("rownames", "ticket", "seen", "comment", "when"):
        assert f"'{name}'" in said
    assert "age" not in said
    assert "population" not in said
    assert "categorical dtype" in said
    used = [sketch.model.feature_names[place] for place in sketch.columns.used]
    assert set(used) <= {"age", "population", "size"}
    new = frame.assign(comment="something else", country="FR", rownames=-1, when=pandas.Timestamp("2030-01-01"))
    np.testing.assert_array_equal(sketch.predict(new), sketch.predict(frame))
    assert (sketch.predict(frame) == y).mean() > 0.9


def test_a_dtype_asks_for_a_column():
    frame, _ = table_of()
    wanted = frame[["size"]].assign(
        rownames=frame["rownames"].astype(float), comment=frame["comment"].astype("category")
    )
    assert unused_columns(as_columns(wanted)) == {}
    assert set(unused_columns(as_columns(frame))) == {0, 1, 2, 3, 4, 5}


def test_no_column_is_left():
    frame, y = table_of()
    with pytest.raises(InputError, match="no column of X can be used: 'rownames' numbers the rows; 'comment' differs"):
        rs.compress(None, frame[["rownames", "comment"]], y, progress=False)


def test_of_many_labels_the_most_informative_are_used(capsys):
    rng = np.random.default_rng(2)
    n = 4_000
    city = rng.choice([f"city {i:04d}" for i in range(2_000)], n)
    city[: n // 2] = rng.choice(["Lyon", "Rome"], n // 2)
    frame = pandas.DataFrame({"city": city, "size": rng.normal(size=n)})
    y = (city == "Rome") | ((city != "Lyon") & (frame["size"] > 0))
    sketch = rs.compress(None, frame, y, budget="600B", time_limit=2.0, random_state=0)
    assert "64 most informative labels are used of 'city' (" in capsys.readouterr().err
    assert len(sketch.columns.categories[0]) == 64
    assert {"Lyon", "Rome"} <= set(sketch.columns.categories[0])
    assert (sketch.predict(frame) == y).mean() > 0.9
    other, unseen = (frame.iloc[-1:].assign(city=label) for label in (city[-1], "Atlantis"))
    if city[-1] not in sketch.columns.categories[0]:
        np.testing.assert_array_equal(sketch.outputs(other), sketch.outputs(unseen))
