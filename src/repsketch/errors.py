"""What repsketch raises: one root, few children.

Every message says what was given, what is allowed and what to do. The children also derive from
the built-in error a NumPy or scikit-learn user would catch, so existing ``except`` clauses work.
"""


class RepSketchError(Exception):
    """Root of every error this package raises on purpose."""


class InputError(RepSketchError, ValueError):
    """Data or a setting that cannot be used: NaN, wrong width, a size of zero, an unknown option."""


class TeacherError(RepSketchError, ValueError):
    """A teacher that raised, is not fitted, or returned something that is no model output."""


class MergeError(RepSketchError, ValueError):
    """Two sketches that cannot be added: other seed, other geometry, or a sum that would overflow."""


class MissingExtraError(RepSketchError, ImportError):
    """An optional library, or the compiled core, that this call needs is not installed; the message says how to."""


def require(module: str, extra: str):
    """Import and return an optional library, or say which extra brings it; "bench" is a package of its own.

    >>> require("math", "train").pi > 3
    True
    >>> require("no_such_library", "train")
    Traceback (most recent call last):
    ...
    repsketch.errors.MissingExtraError: 'no_such_library' is not installed; run: pip install 'repsketch[train]'
    """
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        package = "repsketch-bench" if extra == "bench" else f"'repsketch[{extra}]'"
        raise MissingExtraError(f"{module!r} is not installed; run: pip install {package}") from error
