"""Translate a gitignore-style glob to a regular expression with git's semantics.

Globs come from untrusted trees. Every part for which the first match suffices is an atomic group, so that no pattern
causes exponential backtracking.
"""

import re

_CLASSES = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"\x21-\x7e",
    b"lower": rb"a-z",
    b"print": rb"\x20-\x7e",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb" \t-\r",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}
_NEVER = b"(?!)"
_STAR = b"*"
_SLASH = re.compile(rb"\\?/")


def translate(glob: bytes) -> bytes:
    """Return an expression for paths relative to the glob's directory; the path of a directory ends with a slash."""
    only_directories = glob.endswith(b"/")
    glob = glob.removesuffix(b"/")
    if not glob:
        return _NEVER
    anchored = b"/" in glob
    body = _segments(_split(glob.removeprefix(b"/"))) if anchored else b"(?:.*/)?" + _last_segment(glob)
    return body + (b"/" if only_directories else b"/?")


def _split(glob: bytes) -> list[bytes]:
    """Split at slashes outside brackets."""
    parts, at = [b""], 0
    while at < len(glob):
        slash = _SLASH.match(glob, at)
        end = slash.end() if slash else _piece(glob, at)[1]
        if slash:
            parts.append(b"")
        else:
            parts[-1] += glob[at:end]
        at = end
    return parts


def _segments(parts: list[bytes]) -> bytes:
    """Translate path segments; the leftmost match between two `**` is sufficient, so it is atomic."""
    runs: list[list[bytes]] = [[]]
    for part in parts[:-1]:
        if _is_double_star(part):
            runs.append([])
        else:
            runs[-1].append(_segment(part) + b"/")
    first, *others = [b"".join(run) for run in runs]
    last = b".+" if _is_double_star(parts[-1]) else _last_segment(parts[-1])
    if not others:
        return first + last
    final = b"".join(b"(?>(?:[^/]*/)*?" + run + b")" for run in others[:-1] if run)
    return first + final + b"(?:[^/]*/)*" + others[-1] + last


def _is_double_star(part: bytes) -> bool:
    return len(part) > 1 and not part.strip(b"*")


def _last_segment(glob: bytes) -> bytes:
    """Translate the last segment, where a star must not match the empty name before a directory's slash."""
    return b"(?=[^/])" + _segment(glob)


def _segment(glob: bytes) -> bytes:
    """Translate one segment; each piece between two stars has a fixed length, so its leftmost match is atomic."""
    pieces: list[list[bytes]] = [[]]
    at = 0
    while at < len(glob):
        if glob[at : at + 1] == _STAR:
            pieces.append([])
            at += 1
            continue
        piece, at = _piece(glob, at)
        pieces[-1].append(piece)
    first, *others = [b"".join(piece) for piece in pieces]
    if not others:
        return first
    final = b"".join(b"(?>[^/]*?" + piece + b")" for piece in others[:-1] if piece)
    return first + final + b"[^/]*" + others[-1]


def _piece(glob: bytes, at: int) -> tuple[bytes, int]:
    char = glob[at : at + 1]
    if char == b"?":
        return b"[^/]", at + 1
    if char == b"[":
        return _bracket(glob, at)
    if char == b"\\":
        escaped = glob[at + 1 : at + 2]
        return (re.escape(escaped) if escaped else _NEVER), at + 2
    return re.escape(char), at + 1


def _bracket(glob: bytes, start: int) -> tuple[bytes, int]:
    """Translate a bracket expression; one without end or with an unknown class matches nothing, as in git."""
    at = start + 1
    negated = glob[at : at + 1] in (b"!", b"^")
    at += negated
    first = at
    members = bytearray()
    while at == first or glob[at : at + 1] != b"]":
        added, at = _members(glob, at)
        if added is None:
            return _NEVER, len(glob)
        members += added
    if negated:
        return b"[^/" + members + b"]", at + 1
    return (b"(?!/)[" + members + b"]" if members else _NEVER), at + 1


def _members(glob: bytes, at: int) -> tuple[bytes | None, int]:
    """Return one member of a bracket expression and its end; b"" for an empty range, None for an invalid member."""
    if glob.startswith(b"[:", at):
        end = glob.find(b"]", at + 2)
        if end < 0:
            return None, len(glob)
        if glob[end - 1 : end] == b":" and end - 1 >= at + 2:
            return _CLASSES.get(glob[at + 2 : end - 1]), end + 1
    low, at = _member(glob, at)
    if low is None:
        return None, at
    if glob[at : at + 1] != b"-" or glob[at + 1 : at + 2] in (b"", b"]"):
        return _escape(low), at
    high, at = _member(glob, at + 1)
    if high is None:
        return None, at
    return (_escape(low) + b"-" + _escape(high) if low <= high else b""), at


def _member(glob: bytes, at: int) -> tuple[bytes | None, int]:
    at += glob[at : at + 1] == b"\\"
    return glob[at : at + 1] or None, at + 1


def _escape(char: bytes) -> bytes:
    return rb"\x%02x" % ord(char)
