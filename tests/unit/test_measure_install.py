"""tools/measure_install.py: sizes are those of files. What pip does is seen by running it."""

from importlib.metadata import distribution, distributions

from measure_install import installed_nbytes, normalised


def test_names_are_written_as_on_the_index():
    assert normalised("scikit_learn") == normalised("Scikit-Learn") == "scikit-learn"
    assert normalised("ruamel.yaml") == "ruamel-yaml"


def test_installed_bytes_are_those_of_all_files():
    numpy = distribution("numpy")
    files = [numpy.locate_file(file) for file in numpy.files]
    sources = sum(path.stat().st_size for path in files if path.is_file() and path.suffix in (".py", ".so"))
    assert sources < installed_nbytes(numpy) < 5 * sources


def test_files_that_are_gone_count_nothing(tmp_path):
    (tmp_path / "gone-1.dist-info").mkdir()
    (tmp_path / "gone-1.dist-info/METADATA").write_text("Name: gone\nVersion: 1\n")
    (tmp_path / "gone-1.dist-info/RECORD").write_text("gone.py,,\nhere.py,,\n")
    (tmp_path / "here.py").write_text("12345")
    (found,) = distributions(path=[str(tmp_path)])
    assert installed_nbytes(found) == 5
