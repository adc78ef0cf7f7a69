"""Find the file of a tree, and the line, that an alert speaks of: reports are from other machines and revisions."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from jarvis_workers.paths import from_shown, plain, shown
from jarvis_workers.sec.alerts.alert import Alert

FILE = "file:"
DRIVE = re.compile(r"[A-Za-z]:")
NAME_MAX = 300
LINES = "{lines}"
# A part of a line that is shorter may be anywhere.
PART_LEAST = 8
# What different encodings of a line do not share: blanks, characters that are not ASCII, and escapes of these.
UNLIKE = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|[^\x21-\x7e]")


class Unplaced(NamedTuple):
    """Why an alert has no place in the tree; if a `line` is why, `reason` has LINES where it is to be named."""

    reason: str
    line: int = 0


class TreePaths:
    """The files of a tree, by the ends of their paths."""

    def __init__(self, paths: Iterable[bytes]) -> None:
        self._by_name: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
        for path in paths:
            parts = tuple(shown(path).split("/"))
            self._by_name[parts[-1]].append(parts)
        self._whole = {parts for those in self._by_name.values() for parts in those}

    def find(self, name: str) -> bytes | Unplaced:
        """Return the file that a report names: its path is an end of the name, or the name is an end of its path."""
        as_it_is, parts = _plain_parts(name), parts_of(name)
        if as_it_is in self._whole:
            return from_shown("/".join(as_it_is))
        if not parts:
            return Unplaced("it names no file")
        fits = [
            (_common(parts, path), path)
            for path in self._by_name.get(parts[-1], ())
            if _common(parts, path) in (len(parts), len(path))
        ]
        longest = max((length for length, _ in fits), default=0)
        best = [path for length, path in fits if length == longest]
        if not best:
            return Unplaced(f"no file that is scanned is {shown_name(name)}")
        exact = [path for path in best if path == parts]
        if len(exact or best) > 1:
            return Unplaced(f"{len(best)} files of the tree end with {shown_name(name)}")
        return from_shown("/".join((exact or best)[0]))


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a path or address, also of Windows, without a drive, `.` and `..`."""
    if name[:5].lower() == FILE:
        name = unquote(name[5:])
        if name.startswith("//") and not DRIVE.match(name[2:4]):
            name = "/" + name[2:].partition("/")[2]
    elif "%" in name:
        name = unquote(name)
    return _plain_parts(name)


def shown_name(name: str) -> str:
    """Return the path that a report names, for people: printable, and at most its end."""
    path = plain("/".join(parts_of(name)))
    return path if len(path) <= NAME_MAX else f"…{path[-NAME_MAX:]}"


def _plain_parts(name: str) -> tuple[str, ...]:
    name = name.replace("\\", "/").lstrip("/")
    name = name[2:] if DRIVE.match(name) else name
    parts: list[str] = []
    for part in name.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def line_of(alert: Alert, lines: tuple[str, ...]) -> int | Unplaced:
    """Return the line of an alert in a file: where the code is that its report quotes, the nearest if it has moved."""
    code = _key(alert.code)
    if not alert.line:
        return _only(code, lines) or Unplaced("it names no line")
    if not code:
        behind = Unplaced(f"no {LINES} in the file (it ends at line {len(lines)})", alert.line)
        return alert.line if alert.line <= len(lines) else behind
    if alert.line <= len(lines) and code in _key(lines[alert.line - 1]):
        return alert.line
    keys = _keys(lines)
    same = [number for number, key in enumerate(keys, 1) if key == code]
    if not same and len(code) >= PART_LEAST:
        same = [number for number, key in enumerate(keys, 1) if code in key]
    if not same:
        return Unplaced(f"the code of {LINES} is not in the file", alert.line)
    return min(same, key=lambda number: (abs(number - alert.line), number))


def _only(code: str, lines: tuple[str, ...]) -> int:
    """Return the only line with this code, 0 if there is none or several."""
    same = [number for number, key in enumerate(_keys(lines), 1) if key == code] if code else []
    return same[0] if len(same) == 1 else 0


@lru_cache(1)
def _keys(lines: tuple[str, ...]) -> list[str]:
    return [_key(line) for line in lines]


def _key(line: str) -> str:
    return UNLIKE.sub("", line)


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of equal parts at the ends of two paths."""
    length = 0
    for one, other in zip(reversed(first), reversed(second), strict=False):
        if one != other:
            break
        length += 1
    return length
