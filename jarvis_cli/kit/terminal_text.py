"""Text of others at a terminal, which it must not control."""

import sys

LAYOUT = "\n\t"


def harmless(text: str, layout: str = LAYOUT) -> str:
    """Return text without characters that control a terminal; those in `layout` stay."""
    text = text.replace("\r\n", "\n")
    return "".join(one if one.isprintable() or one in layout else one.encode("unicode_escape").decode() for one in text)


def for_stdout(text: str, output: object = None) -> str:
    """Return text as it is written: harmless at a terminal, unchanged to a file (`output`) or a pipe."""
    return harmless(text) if output is None and sys.stdout.isatty() else text
