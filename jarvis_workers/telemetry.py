"""Structured logs: one line per event, so that `grep 'job=12 '` over the logs of all workers lists all events of a job.

A line is logfmt of at most LINE_BYTES bytes. Values are untrusted: control characters and quotes are escaped, secrets
are redacted, and no value can imitate another field in a search. Nothing is written before `set_up`, but `notices`
tells the person at a foreground command of warnings.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal, Protocol, cast

from jarvis_workers.paths import plain
from jarvis_workers.redact import redact

LogLevel = Literal["debug", "info", "warning", "error"]
LINE_BYTES = 1024
VALUE_BYTES = 700
LOOKED_AT = 4096
CUT = "…"
NOTICES_MAX = 100
# Facts that are shown to a person without their names.
SPOKEN = ("path", "says")
# Facts of events that the store records.
RECORDED = frozenset({"job", "agent"})
FOUND_BY, HARMLESS = "job=", "job\\x3d"

_BARE = re.compile(r"[^\s\"'=\\]+\Z")
_PIECES = re.compile(f"{FOUND_BY}|.", re.DOTALL)
_log = logging.getLogger("jarvis")
_log.addHandler(logging.NullHandler())


class Job(Protocol):
    """The fields of a job that events include."""

    @property
    def id(self) -> int: ...
    @property
    def run_id(self) -> str: ...
    @property
    def stage(self) -> str: ...
    @property
    def label(self) -> str: ...


def about(job: Job) -> dict[str, Any]:
    """Return the fields that each event of a job starts with."""
    return {"job": job.id, "run": job.run_id, "stage": job.stage, "label": job.label}


def debug(event: str, **facts: Any) -> None:
    """Log an event for debugging."""
    _tell(logging.DEBUG, event, facts)


def info(event: str, **facts: Any) -> None:
    """Log an event of normal operation."""
    _tell(logging.INFO, event, facts)


def warning(event: str, **facts: Any) -> None:
    """Log an unusual event."""
    _tell(logging.WARNING, event, facts)


def set_up(level: LogLevel, file: int) -> None:
    """Write this program's events of at least `level`, and the warnings of libraries, to a file descriptor."""
    root = logging.getLogger()
    for former in [handler for handler in root.handlers if isinstance(handler, Lines)]:
        root.removeHandler(former)
    for notice in [handler for handler in _log.handlers if isinstance(handler, _Notices)]:
        _log.removeHandler(notice)
    root.addHandler(Lines(file))
    root.setLevel(logging.WARNING)
    _log.setLevel(level.upper())


@contextmanager
def notices(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell each warning once, as a line for a person, unless `set_up` is called: then they are logged.

    Warnings about jobs and answers are left out: the store has them (`jarvis runs show`, `jarvis runs transcript`).
    """
    handler = _Notices(tell)
    _log.addHandler(handler)
    try:
        yield
    finally:
        _log.removeHandler(handler)


class _Notices(logging.Handler):
    """Tells warnings, at most NOTICES_MAX different ones."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._lines: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", None)
        if facts is None or RECORDED.intersection(facts):
            return
        values = (str(value) if name in SPOKEN else f"{name}={value}" for name, value in facts.items())
        line = ": ".join((record.getMessage(), *values))
        if line not in self._lines and len(self._lines) < NOTICES_MAX:
            self._lines.add(line)
            self._tell(line)


class _NoLock:
    """A lock that is always free: `logging` calls acquire and release and, since Python 3.13, uses `with`."""

    def acquire(self) -> None:
        """Return at once."""

    def release(self) -> None:
        """Return at once."""

    __enter__ = acquire

    def __exit__(self, *_error: object) -> None:
        self.release()


class Lines(logging.Handler):
    """A handler that writes each record with a single system call, so that lines stay intact without a lock."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self.file = file

    def createLock(self) -> None:  # noqa: N802  (logging's name)
        """Install a lock that never blocks, since one write is atomic; `logging` requires a lock since Python 3.13."""
        self.lock = cast(threading.RLock, _NoLock())

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; errors are ignored, since logging must not stop work."""
        with suppress(OSError, TypeError, ValueError):
            facts = getattr(record, "facts", None)
            event, facts = (record.name, _facts(record)) if facts is None else (record.msg, facts)
            os.write(self.file, line(record.created, record.levelname, event, facts))


def line(at: float, level: str, event: str, facts: Mapping[str, Any]) -> bytes:
    """Return the line for an event at time `at`, in seconds since 1970; fields that do not fit are omitted."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    text = f"{moment}.{int(at * 1000) % 1000:03d}Z {level} {event}".encode()
    for name, value in facts.items():
        room = min(VALUE_BYTES, LINE_BYTES - len(text) - len(name) - len(' ="…"\n'.encode()))
        if room <= 0:
            break
        text += f" {name}={_shown(value, room)}".encode()
    return text + b"\n"


def _tell(level: int, event: str, facts: Mapping[str, Any]) -> None:
    if _log.isEnabledFor(level):
        _log.log(level, event, extra={"facts": facts})


def _facts(record: logging.LogRecord) -> Mapping[str, Any]:
    """Return the message and error of a library's log record as fields."""
    facts = {"says": record.getMessage()}
    if record.exc_info and record.exc_info[1]:
        facts["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
    return facts


def _shown(value: Any, room: int) -> str:
    """Return a value formatted for a line, cut to `room` bytes."""
    if isinstance(value, int | float):
        return f"{value:.3f}" if isinstance(value, float) else str(value)
    text = str(value)[:LOOKED_AT]
    if "://" in text:
        text = re.sub(r"\S+", lambda word: redact(word[0]) if "://" in word[0] else word[0], text)
    if _BARE.match(text) and text.isprintable() and len(text.encode()) <= room:
        return text
    quick = text.replace("\\", "\\\\").replace('"', '\\"').replace(FOUND_BY, HARMLESS) if text.isprintable() else ""
    return f'"{quick if 0 < len(quick.encode()) <= room else _cut(text, room)}"'


def _cut(text: str, room: int) -> str:
    """Return the longest escaped prefix of a text that fits into `room` bytes, with a mark if it is cut."""
    characters: list[str] = []
    for piece in map(_escaped, _PIECES.findall(text)):
        room -= len(piece.encode())
        if room < 0:
            return "".join(characters) + CUT
        characters.append(piece)
    return "".join(characters)


def _escaped(piece: str) -> str:
    if piece == FOUND_BY:
        return HARMLESS
    return f"\\{piece}" if piece in '"\\' else plain(piece)
