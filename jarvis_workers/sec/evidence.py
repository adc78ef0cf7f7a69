"""Show the line of a hit: one short line of printable text, whatever bytes the file holds."""

__all__ = ["EVIDENCE_MAX", "evidence"]

EVIDENCE_MAX = 200
BEFORE = 60
REACH = 4 * EVIDENCE_MAX


def evidence(content: bytes, at: int) -> str:
    """Return the trimmed line around the byte `at`; of a long line, the part about it."""
    floor, ceiling = max(0, at - REACH), min(len(content), at + REACH)
    start = content.rfind(b"\n", floor, at) + 1 or floor
    end = content.find(b"\n", at, ceiling)
    end = ceiling if end < 0 else end
    shown = _shown(content[start:end])
    if len(shown) <= EVIDENCE_MAX and _is_line(content, start, end):
        return shown
    start = _character(content, max(start, at - BEFORE))
    end = _character(content, min(end, start + EVIDENCE_MAX))
    return _shown(content[start:end])[:EVIDENCE_MAX]


def _is_line(content: bytes, start: int, end: int) -> bool:
    return (start == 0 or content[start - 1] == 10) and (end == len(content) or content[end] == 10)


def _character(content: bytes, at: int) -> int:
    """Step back to where a UTF-8 character begins."""
    for back in range(4):
        if at - back <= 0 or at - back >= len(content) or content[at - back] & 0xC0 != 0x80:
            return at - back
    return at


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "backslashreplace").replace("\t", " ").strip()
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
