"""Logs: one line an event, so that `grep 'job=12 '` over the logs of all workers tells a job's whole story.

A line is logfmt of at most LINE_BYTES.  Values are hostile: control characters, quotes and secrets are
escaped, and none can pass for the field by which a story is found.  Nothing is written before `set_up`.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, Protocol, cast

from jarvis_workers.paths import plain
from jarvis_workers.redact import redact

LogLevel = Literal["debug", "info", "warning", "error"]
LINE_BYTES = 1024
VALUE_BYTES = 700
LOOKED_AT = 4096
CUT = "…"
FOUND_BY, HARMLESS = "job=", "job\\x3d"

_BARE = re.compile(r"[^\s\"'=\\]+\Z")
_PIECES = re.compile(f"{FOUND_BY}|.", re.DOTALL)
_log = logging.getLogger("jarvis")
_log.addHandler(logging.NullHandler())


class Job(Protocol):
    """What a story is told of."""

    @property
    def id(self) -> int: ...
    @property
    def run_id(self) -> str: ...
    @property
    def stage(self) -> str: ...
    @property
    def label(self) -> str: ...


def about(job: Job) -> dict[str, Any]:
    """Return the facts that each line about a job begins with."""
    return {"job": job.id, "run": job.run_id, "stage": job.stage, "label": job.label}


def debug(event: str, **facts: Any) -> None:
    """Tell of what is of use only when something is looked into."""
    _tell(logging.DEBUG, event, facts)


def info(event: str, **facts: Any) -> None:
    """Tell of what happens every day."""
    _tell(logging.INFO, event, facts)


def warning(event: str, **facts: Any) -> None:
    """Tell of what should not happen often."""
    _tell(logging.WARNING, event, facts)


def set_up(level: LogLevel, file: int) -> None:
    """Write our own events from `level` on, and the warnings of libraries, to a file descriptor."""
    root = logging.getLogger()
    for former in [handler for handler in root.handlers if isinstance(handler, Lines)]:
        root.removeHandler(former)
    root.addHandler(Lines(file))
    root.setLevel(logging.WARNING)
    _log.setLevel(level.upper())


class _NoLock:
    """A lock that is always free: `logging` calls acquire and release, from Python 3.13 on it uses `with`."""

    def acquire(self) -> None:
        """Return at once."""

    def release(self) -> None:
        """Return at once."""

    __enter__ = acquire

    def __exit__(self, *_error: object) -> None:
        self.release()


class Lines(logging.Handler):
    """Writes a record at once: lines of many processes and threads stay whole, and nobody waits for a lock."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self.file = file

    def createLock(self) -> None:  # noqa: N802  (logging's name)
        """Install a lock that never blocks, as one write is atomic; from 3.13 on `logging` cannot do without any."""
        self.lock = cast(threading.RLock, _NoLock())

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; one that cannot be written stops no work."""
        with suppress(OSError, TypeError, ValueError):
            facts = getattr(record, "facts", None)
            event, facts = (record.name, _said(record)) if facts is None else (record.msg, facts)
            os.write(self.file, line(record.created, record.levelname, event, facts))


def line(at: float, level: str, event: str, facts: Mapping[str, Any]) -> bytes:
    """Return the line of an event that happened `at`, in seconds since 1970; fields without room are left out."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    told = f"{moment}.{int(at * 1000) % 1000:03d}Z {level} {event}".encode()
    for name, value in facts.items():
        room = min(VALUE_BYTES, LINE_BYTES - len(told) - len(name) - len(' ="…"\n'.encode()))
        if room <= 0:
            break
        told += f" {name}={_shown(value, room)}".encode()
    return told + b"\n"


def _tell(level: int, event: str, facts: Mapping[str, Any]) -> None:
    if _log.isEnabledFor(level):
        _log.log(level, event, extra={"facts": facts})


def _said(record: logging.LogRecord) -> Mapping[str, Any]:
    """Return what a library said as the facts of an event."""
    facts = {"says": record.getMessage()}
    if record.exc_info and record.exc_info[1]:
        facts["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
    return facts


def _shown(value: Any, room: int) -> str:
    """Return a value as it stands in a line, at most `room` bytes of it."""
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
    """Return as much of a text, escaped, as there is room for."""
    kept: list[str] = []
    for piece in map(_escaped, _PIECES.findall(text)):
        room -= len(piece.encode())
        if room < 0:
            return "".join(kept) + CUT
        kept.append(piece)
    return "".join(kept)


def _escaped(piece: str) -> str:
    if piece == FOUND_BY:
        return HARMLESS
    return f"\\{piece}" if piece in '"\\' else plain(piece)
