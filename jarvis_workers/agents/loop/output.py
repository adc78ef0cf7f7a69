"""Shorten the output of tools to a number of tokens: keep the first and last lines, and mark the cut.

A long line is cut in the middle as well, since a single line can be megabytes long.
"""

from jarvis_workers.models.platforms.protocol import estimate

MOST_TOKENS = 4_000
FIRST_LINES = LAST_LINES = 30
LONG_LINE = 500
# A text has at most one token per character, and at least one per sixteen: outside these bounds no estimate is needed.
SURELY_SHORT = 1


def shorten(text: str, most_tokens: int = MOST_TOKENS) -> str:
    """Return the text, or its beginning and end if it has more than `most_tokens` tokens."""
    if len(text) <= most_tokens * SURELY_SHORT or (len(text) < most_tokens * 16 and estimate(text) <= most_tokens):
        return text
    lines = text.split("\n")
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out > 0:
        notice = f"[… {left_out} lines omitted …]"
        lines = [*lines[:FIRST_LINES], notice, *lines[-LAST_LINES:]]
    shortened = "\n".join(_cut(line, LONG_LINE) for line in lines)
    if estimate(shortened) <= most_tokens:
        return shortened
    share = max(most_tokens // len(lines), 8)
    return _cut("\n".join(_cut(line, share) for line in lines), max(most_tokens, 64))


def _cut(line: str, most: int) -> str:
    if len(line) <= most:
        return line
    half = most // 2
    return f"{line[:half]}[… {len(line) - 2 * half} characters omitted …]{line[-half:]}"
