"""The type of translators: a function of an English text and the values of its placeholders."""

from collections.abc import Callable

Say = Callable[..., str]


def english(text: str, /, **parts: object) -> str:
    """Return the text itself with its placeholders filled in."""
    return text.format(**parts) if parts else text
