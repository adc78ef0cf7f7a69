"""Evidence of a hit: the source line, shortened and with unprintable bytes escaped, and the column."""

EVIDENCE_MAX = 200
BEFORE = 60
# Continuation bytes of UTF-8.
CONTINUATION = bytes(range(0x80, 0xC0))
REACH = 4 * EVIDENCE_MAX


def evidence(content: bytes, at: int) -> str:
    """Return the trimmed line that contains offset `at`, or the part around the offset if the line is long."""
    floor, ceiling = max(0, at - REACH), min(len(content), at + REACH)
    start = content.rfind(b"\n", floor, at) + 1 or floor
    end = content.find(b"\n", at, ceiling)
    end = ceiling if end < 0 else end
    whole = _printable(content[start:end]).strip()
    if len(whole) <= EVIDENCE_MAX and _is_line(content, start, end):
        return whole
    start = _character(content, max(start, at - BEFORE))
    end = _character(content, min(end, at + EVIDENCE_MAX))
    before = _printable(content[start:at])[-BEFORE:]
    return (before + _printable(content[at:end])).strip()[:EVIDENCE_MAX]


def column_of(content: bytes, at: int) -> int:
    """Return the column of offset `at`, in UTF-8 characters from 1."""
    return len(content[content.rfind(b"\n", 0, at) + 1 : at].translate(None, CONTINUATION)) + 1


def first_of_code(content: bytes, start: int) -> int:
    """Return the offset of the first non-blank byte of the line that begins at offset `start`."""
    at = start
    while content[at : at + 1] in (b" ", b"\t"):
        at += 1
    return at


def _is_line(content: bytes, start: int, end: int) -> bool:
    return (start == 0 or content[start - 1] == 10) and (end == len(content) or content[end] == 10)


def _character(content: bytes, at: int) -> int:
    """Return the offset at which the UTF-8 character around `at` begins."""
    for start in range(at, max(-1, at - 4), -1):
        if start >= len(content) or content[start] & 0xC0 != 0x80:
            return start
    return at


def _printable(part: bytes) -> str:
    text = part.decode("utf-8", "backslashreplace").replace("\t", " ").rstrip("\r")
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
