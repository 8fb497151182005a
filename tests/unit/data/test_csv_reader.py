"""CSV as people have it: any separator, decimal commas, encodings, dates, names that stand twice."""

import csv
import gzip
import tracemalloc

import pytest

from repsketch.data.csv_reader import read_csv
from repsketch.data.tables import read_table
from repsketch.errors import InputError

ROWS = [(1.5, "Zoë", "x, y"), (2.0, "Åsa", "a;b|c\td"), (None, None, "z")]
NAMES = ["größe", "who", "what"]


def as_text(separator, decimal="."):
    """The rows as a CSV file; a cell with a character that separates is quoted."""
    lines = [separator.join(NAMES)]
    for size, who, what in ROWS:
        number = "" if size is None else str(size).replace(".", decimal)
        cells = [f'"{cell}"' if any(sign in cell for sign in ",;|\t") else cell for cell in (number, who or "?", what)]
        lines.append(separator.join(cells))
    return "\n".join(lines) + "\n"


def read(tmp_path, content, name="a.csv", target=None, **options):
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(tmp_path / name, target, **options)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.tsv", "a.tsv.gz"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"])
def test_the_separator_is_found(tmp_path, separator, name):
    content = as_text(separator).encode()
    table = read(tmp_path, gzip.compress(content) if name.endswith("gz") else content, name)
    assert (table.X.columns, table.X.rows()) == (NAMES, ROWS)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n\n\n", "\n"], ids=["Windows", "Macintosh", "blank lines", "Unix"])
def test_ends_of_lines(tmp_path, end):
    content = "a;b\n1;x\n2;y\n"
    content = content + end if end.count("\n") > 1 else content.replace("\n", end)
    assert read(tmp_path, content).X.rows() == [(1, "x"), (2, "y")]


def test_a_separator_within_quotes_does_not_count(tmp_path):
    content = 'name;note\n"a;b;c";"1,2"\n"d";"3,4,\n5"\n'
    assert read(tmp_path, content).X.rows() == [("a;b;c", "1,2"), ("d", "3,4,\n5")]


def test_where_two_separators_would_do_the_one_of_more_columns_is_taken(tmp_path):
    assert read(tmp_path, "last, first;age;size\nLee, Ann;30;1\n").X.columns == ["last, first", "age", "size"]
    assert read(tmp_path, "a,b;c\n1,2;3\n").X.columns == ["a", "b;c"]
    assert read(tmp_path, "a,b\tc\n1,2\t3\n", "a.tsv").X.columns == ["a,b", "c"]


def test_more_lines_than_are_looked_at(tmp_path):
    content = "a;b\n" + "1,25;x\n" * 20_000
    table = read(tmp_path, content)
    assert table.X.shape == (20_000, 2)
    assert table.X["a"].values.sum() == 25_000
    wide = [f"a rather long name {place}" for place in range(5_000)]
    assert read(tmp_path, ";".join(wide) + "\n" + ";".join("1" * 5_000)).X.columns == wide


def test_decimal_commas(tmp_path):
    content = as_text(";", decimal=",")
    assert read(tmp_path, content).X.rows() == ROWS
    table = read(tmp_path, "a;b;c;d\n-1,5;1;1,2,3;2,5\n+0,25e2;2;1,2;x\n", "b.csv")
    assert table.X.rows() == [(-1.5, 1, "1,2,3", "2,5"), (25.0, 2, "1,2", "x")]
    assert read(tmp_path, "a;y\n1;1,5\n2;2,5\n", "c.csv", "y").y.tolist() == [1.5, 2.5]
    assert read(tmp_path, "a;b\n1,5;1\n", "d.csv", text=["a"]).X.rows() == [("1,5", 1)]
    assert read(tmp_path, 'a,b\n"1,5",1\n', "e.csv").text_columns == ["a"]  # may be thousands: left as it is


CODECS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le with mark", "utf-16-be with mark", "utf-32"]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("codec", CODECS)
def test_encodings_that_a_file_tells(tmp_path, codec, packed):
    text = as_text(",")
    content = ("\ufeff" + text).encode(codec.split()[0]) if "with mark" in codec else text.encode(codec)
    table = read(tmp_path, gzip.compress(content) if packed else content, "a.csv.gz" if packed else "a.csv")
    assert (table.X.columns, table.X.rows()) == (NAMES, ROWS)


@pytest.mark.parametrize("codec", ["latin-1", "cp1252"])
@pytest.mark.parametrize("place", ["name", "cell", "number"])
def test_another_encoding_must_be_given(tmp_path, codec, place):
    content = {"name": "größe,b\n1,2\n", "cell": "a,b\n1,Zoë\n", "number": "a,b\n1,2é\n"}[place]
    with pytest.raises(InputError, match=r"a.csv is no utf-8 text: byte 0x.. in line [12] cannot.*--encoding cp1252"):
        read(tmp_path, content.encode(codec))
    expected = read(tmp_path, content).X
    given = read(tmp_path, content.encode(codec), encoding=codec).X
    assert (given.columns, given.rows()) == (expected.columns, expected.rows())


DAYS = ("2024-05-31", "2024-05-31T18:30", "2024-05-31 18:30:00", "2024-05-31T18:30:00.5Z", "2024-05-31T18:30:00+02:00")


@pytest.mark.parametrize("day", DAYS)
def test_a_date_is_no_target(tmp_path, day):
    content = f"x,day\n1,{day}\n2, {day}\n"
    with pytest.raises(InputError, match=r"the target 'day' of a.csv holds dates or times; allowed are labels"):
        read(tmp_path, content, target="day")
    assert read(tmp_path, content).text_columns == ["day"]
    assert read(tmp_path, content + f"3,not {day}\n", target="day").y.shape == (3,)


BAD = {
    "a name twice": ("a,b,a\n1,2,3\n", r"a.csv has two columns named 'a' \(columns 0 and 2, counted from 0\); rename"),
    "a name twice but for spaces": ("a, a\n1,2\n", r"two columns named 'a'"),
    "no name twice": ("a;;\n1;2;3\n", r"two columns named '' \(columns 1 and 2"),
    "a name twice, quoted": ('"a;b";"a;b"\n1;2\n', r"two columns named 'a;b'"),
    "another separator": (
        "a:y\n1:2\n",
        r"a.csv has no column 'y'; it has 'a:y' alone, as the separator was taken to be",
    ),
    "a line too long": ("a;y\n1;2\n1;2;3\n", r"found more fields.*; the separator is taken to be ';'"),
    "a NUL byte": ("a,y\n1,2\n1\x00,2\n", r"a.csv holds a NUL byte in line 3, which no text does"),
    "UTF-16 without a mark": ("a,y\n1,2\n".encode("utf-16-le"), r"NUL byte in line 1.*--encoding utf-16-le"),
    "half of UTF-16": ("a,y\n1,2\n".encode("utf-16")[:-1], r"a.csv is no utf-16 text"),
    "an unclosed quote": ('a,y\n"1,2\n3,4\n', r"a.csv' cannot be read as .csv: could not parse"),
    "a number beyond all types": (f"a,y\n{'9' * 60},2\n", r"a.csv' cannot be read as .csv"),
    "a number beyond float64": ("a,y\n1e400,2\n", r"column 'a' of a.csv holds infinity in row 0"),
    "nothing but spaces": (" ", r"a.csv has no"),
    "blank lines alone": ("\n\n\n", r"a.csv' cannot be read as .csv: empty CSV"),
    "a mark alone": (b"\xef\xbb\xbf", r"a.csv' cannot be read as .csv: empty CSV"),
}


@pytest.mark.parametrize("name", BAD)
def test_one_clear_line(tmp_path, name):
    content, message = BAD[name]
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, content, target="y")
    assert "\n" not in str(caught.value)


def test_an_unknown_encoding(tmp_path):
    with pytest.raises(InputError, match=r"encoding='klingon' is unknown; allowed are names such as"):
        read(tmp_path, "a,b\n1,2\n", encoding="klingon")
    with pytest.raises(InputError, match=r"a.csv is no ascii text"):
        read(tmp_path, "a,é\n1,2\n", encoding="ascii")


def test_integers_beyond_64_bits(tmp_path):
    table = read(tmp_path, "a,y\n99999999999999999999,1\n1,99999999999999999999\n", target="y")
    assert table.X["a"].cells() == [1e20, 1.0]
    assert table.y.dtype.kind in "iuf"
    assert table.y.astype(float).tolist() == [1.0, 1e20]


def test_missing_cells_with_spaces_around_them(tmp_path):
    frame = read(tmp_path, "size,tree\n1, ?\n ? ,ash\nNA , oak\n4, NA\n").X
    assert frame.rows() == [(1, None), (None, "ash"), (None, "oak"), (4, None)]


def test_chunks_make_one_table(tmp_path, monkeypatch):
    content = "n;late;flag;empty\n" + "".join(f"{i};0{i};true;\n" for i in range(50)) + "?;x;?;\n"
    expected = [(i, f"0{i}", True, None) for i in range(50)] + [(None, "x", None, None)]
    for n_cells in (1, 4, 12, 1 << 14):
        monkeypatch.setattr("repsketch.data.csv_reader._CHUNK_CELLS", n_cells)
        for name, packed in (("a.csv", content.encode()), ("a.csv.gz", gzip.compress(content.encode()))):
            table = read(tmp_path, packed, name)
            assert table.X.rows() == expected
            assert table.X.kinds == {"n": "number", "late": "text", "flag": "boolean", "empty": "number"}


def test_memory_is_that_of_the_columns_and_one_chunk(tmp_path):
    n_rows, n_columns, chunk = 20_000, 30, 1 << 14
    names, row = ",".join(f"c{place}" for place in range(n_columns)), ",".join(["1.2345678", "123"] * (n_columns // 2))
    (tmp_path / "a.csv").write_text(f"{names}\n" + f"{row}\n" * n_rows)
    tracemalloc.start()
    frame, _ = read_csv(tmp_path / "a.csv")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_bytes = sum(frame[name].values.nbytes + frame[name].is_missing.nbytes for name in frame.columns)
    least, most = 60, 128  # bytes of a cell as text, with its places in a record and in a column
    assert peak < 1.5 * n_bytes + most * chunk < n_bytes + least * n_rows * n_columns


def test_blank_and_short_lines_are_missing_values(tmp_path):
    assert read(tmp_path, "\n\na;b\n1;2\n\n3\n   \n4;5\n\n").X.rows() == [
        (1, 2), (None, None), (3, None), (None, None), (4, 5)
    ]  # fmt: skip
    assert read(tmp_path, "a\n1\n\n2\n\n").X.rows() == [(1,), (None,), (2,)]


def test_a_quote_within_a_cell_and_a_long_cell(tmp_path):
    long = "x" * 200_000
    assert read(tmp_path, f'size,note\n5" pipe,"say ""a"", b"\n1,{long}\n').X.rows() == [
        ('5" pipe', 'say "a", b'), ("1", long)
    ]  # fmt: skip
    before = csv.field_size_limit()
    with pytest.raises(InputError, match=r"could not parse the file: .* in line 2; the separator is taken to be ','"):
        read(tmp_path, 'a,b\n"x"y,1\n')
    assert csv.field_size_limit() == before == 131_072


def test_carriage_returns_within_lines(tmp_path):
    assert read(tmp_path, 'a;b\n1;x\ry\n2;z\r\r\n3;"p\rq"\n').X.rows() == [(1, "x y"), (2, "z"), (3, "p\rq")]
