"""Build HTML in which everything that is not already markup is escaped.

File names, source lines and messages come from the scanned tree.  They become plain text, and invisible
characters in them (controls, direction marks) are escaped before they reach a browser.
"""

from collections.abc import Iterable
from html import escape

from jarvis_workers.sec.report.escape import visible, visible_lines


class Html(str):
    """Text that is already markup."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup; the protocol by which template engines recognize it."""
        return str(self)


def markup(template: str, /, **parts: object) -> Html:
    """Fill in the placeholders; a part that is not Html is escaped, the items of an iterable are joined."""
    return Html(template.format_map({name: written(part) for name, part in parts.items()}))


def written(part: object) -> Html:
    """Return a part as markup."""
    if isinstance(part, Html):
        return part
    if isinstance(part, Iterable) and not isinstance(part, str):
        return Html("".join(map(written, part)))
    return Html(escape(visible(str(part))))


def in_lines(text: str) -> Html:
    """Return a text of several lines as markup; the line breaks are shown where the style preserves them."""
    return Html(escape(visible_lines(text)))
