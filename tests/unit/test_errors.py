"""One root; each child is also the built-in error that a NumPy user would catch."""

import pytest

from repsketch import errors


@pytest.mark.parametrize(
    ("child", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.TeacherError, ValueError),
        (errors.MergeError, ValueError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_children(child, builtin):
    assert issubclass(child, errors.RepSketchError)
    assert issubclass(child, builtin)


def test_every_error_has_the_root():
    found = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert len(found) == 5
    assert all(issubclass(error, errors.RepSketchError) for error in found)


def test_require_names_the_extra_and_keeps_the_cause():
    with pytest.raises(errors.MissingExtraError, match=r"'no_such_library'.*pip install 'repsketch\[cli\]'") as caught:
        errors.require("no_such_library", "cli")
    assert isinstance(caught.value.__cause__, ImportError)
