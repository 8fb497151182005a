"""Safe printing: text from a file cannot move the cursor, change colours or reorder a line."""

from typing import Any


def printable(text: Any) -> str:
    r"""Text with every character that is not printable written as an escape.

    These are the characters that ``str.isprintable`` rejects: control characters (C0, DEL, C1), marks of the writing
    direction, line separators, other invisible characters, and bytes of file names that are no text.

    >>> print(printable("caf\u00e9 \x1b[31m\u202etxt.\n"))
    café \x1b[31m\u202etxt.\x0a
    """
    return "".join(sign if sign.isprintable() else _escaped(ord(sign)) for sign in str(text))


def _escaped(point: int) -> str:
    return f"\\x{point:02x}" if point < 0x100 else f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def screen() -> Any:
    """A console of rich that prints text as it is: no markup, no emoji codes, no colours of its own."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)
