"""Build HTML in which everything that is not already markup is escaped.

File names, source lines and messages come from the scanned tree.  They become plain text, and invisible
characters in them (controls, direction marks) are escaped before they reach a browser.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape

from jarvis_workers.escape import visible, visible_lines

# Without these, no tag, comment or entity can begin, and a script element cannot end.
TAGS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
HEAD = """\
<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>"""


class Html(str):
    """Text that is already markup."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the markup; template engines recognize markup by this method."""
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
    """Return a text of several lines as markup; the line breaks are visible if the style preserves white space."""
    return Html(escape(visible_lines(text)))


def script_data(value: object) -> Html:
    """Return JSON for a `<script type="application/json">`; escape invisible characters in its strings first."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for tag, number in TAGS.items():
        text = text.replace(tag, number)
    return Html(text)


def page_head(title: str, style: str, script: str | None = None, *, language: str = "en") -> str:
    """Return the beginning of a page, up to its body; the page loads nothing, and runs this script alone."""
    policy = _content_policy(style, script)
    return HEAD.format(language=language, policy=policy, title=written(title), style=style)


def _content_policy(style: str, script: str | None) -> str:
    """Return the Content-Security-Policy of a page that has this style and script and loads nothing."""
    scripts = "'none'" if script is None else _hash(script)
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {scripts}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
