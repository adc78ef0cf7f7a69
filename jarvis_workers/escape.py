"""Escape untrusted text for Markdown.

File names, source lines and error messages come from the scanned tree.  They must not start
a link, a tag, a table cell or a line, reach a terminal as a control sequence, or change the
direction of the following text.
"""

import re

UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
MARKS = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
WORD = re.compile(r"[A-Za-z0-9+#-]{1,20}")
TAB = 4
LINK_STARTS = re.compile(r"(?i)(?<=[a-z]):(?=//)|(?<=www)\.|@")


def prose(text: str) -> str:
    """Escape the text for a sentence or a cell."""
    marked = MARKS.sub(r"\\\g<0>", re.sub("[&<>]", lambda match: ENTITIES[match[0]], visible(text)))
    return LINK_STARTS.sub(lambda match: f"&#{ord(match[0])};", marked).strip()


def code(text: str) -> str:
    """Return the text as a code span, even if it contains backticks."""
    shown = visible(text)
    if not shown.strip():
        return "(blank)"
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def code_cell(text: str) -> str:
    """Return a code span for a table cell, in which a bar must be escaped even within code."""
    return code(text).replace("|", "\\|")


def fenced(text: str, language: str = "", indent: str = "") -> str:
    """Return the text as a fenced code block; a language that is not a plain word is omitted."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=2))
    lines = [visible(line.rstrip("\r").expandtabs(TAB)) for line in text.strip("\n").split("\n")]
    named = language if WORD.fullmatch(language) else ""
    return "\n".join(f"{indent}{line}" for line in (f"{fence}{named}", *lines, fence))


def lines(text: str) -> str:
    """Return the lines of a text on one line of Markdown, so that none of them can begin a block."""
    return "<br>".join(prose(line) for line in visible_lines(text).split("\n") if line.strip())


def visible_lines(text: str) -> str:
    """Escape invisible characters except line endings."""
    return "\n".join(map(visible, text.replace("\r\n", "\n").split("\n")))


def visible(text: str) -> str:
    """Escape invisible characters: line endings, control and direction marks."""
    return UNSEEN.sub(_written_out, text.replace("\t", " "))


def _written_out(match: re.Match[str]) -> str:
    number = ord(match[0])
    if match[0] in "\n\r":
        return {"\n": "\\n", "\r": "\\r"}[match[0]]
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
