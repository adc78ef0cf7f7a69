"""Write HTML in which everything that is not markup already is escaped.

File names, source lines and messages come from the scanned tree.  They become text and nothing else, and what has no
shape of its own in them (controls, direction marks) is written out before it reaches a browser.
"""

from collections.abc import Iterable
from html import escape

from jarvis_workers.sec.report.escape import visible, visible_lines


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def markup(template: str, /, **parts: object) -> Html:
    """Fill the names in braces; a part that is no Html is escaped, one of several is joined."""
    return Html(template.format_map({name: written(part) for name, part in parts.items()}))


def written(part: object) -> Html:
    """Return a part as markup."""
    if isinstance(part, Html):
        return part
    if isinstance(part, Iterable) and not isinstance(part, str):
        return Html("".join(map(written, part)))
    return Html(escape(visible(str(part))))


def in_lines(text: str) -> Html:
    """Return a text of several lines as markup; they are shown as such where the style says so."""
    return Html(escape(visible_lines(text)))
