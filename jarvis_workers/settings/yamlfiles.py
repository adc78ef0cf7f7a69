"""Read untrusted YAML files, with one-line messages for errors.

The size of a file is bounded, and it is read by a safe loader without aliases.
"""

import os
import stat
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from jarvis_workers.constraints import requirement
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain
from jarvis_workers.reprs import short
from jarvis_workers.yamlloader import WithoutAliases, parse_yaml
from jarvis_workers.yamlloader import line_of as line_of_node


class Checked(BaseModel):
    """Base model of the rows of untrusted YAML files: unknown keys are rejected, and values are not coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def read_yaml(file: Path, most_bytes: int) -> object:
    """Return the content of a file as parsed. Raises UsageError."""
    return parse_yaml(read_text(file, most_bytes), shown_path(file))


def read_text(file: Path, most_bytes: int) -> str:
    """Read a regular file, as a pipe or device could block. Raises UsageError."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UsageError(f"{shown_path(file)} is not a regular file")
            content = stream.read(most_bytes + 1)
        text = content.decode("utf-8")
    except OSError as error:
        raise UsageError(f"{shown_path(file)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown_path(file)} is not UTF-8 (byte {error.start})") from error
    if len(content) > most_bytes:
        raise UsageError(f"{shown_path(file)} is larger than {most_bytes // 1024:,} KB; split it")
    return text


def one_line(text: str) -> str:
    """Return the text. Raises ValueError for control characters, which a terminal might interpret."""
    if not text.isprintable():
        raise ValueError("should be one line without control characters")
    return text


def describe_problem(
    error: ValidationError, model: type[BaseModel], nested: Collection[str] = ()
) -> tuple[str, tuple[str | int, ...]]:
    """Return a message for a validation error of a row, quoting the invalid value in short form, and its position.

    An unknown key is reported first: if a key is misspelt, the correct one is missing, too. `nested` are the keys that
    parts of the row may have.
    """
    first = min(error.errors(include_url=False), key=lambda one: one["type"] != "extra_forbidden")
    position = first["loc"]
    where = ".".join(plain(str(part))[:40] for part in position)
    should = plain(requirement(first))
    if first["type"] == "extra_forbidden":
        keys = model.model_fields if len(position) == 1 else nested
        close = get_close_matches(str(position[-1]), keys, n=1)
        return f'unknown key "{where}"' + (f' (did you mean "{close[0]}"?)' if close else ""), position
    if first["type"] == "missing":
        return f'"{where}" is missing', position[:-1]
    return (f'"{where}" is {plain(short.repr(first["input"]))}: {should}' if where else should), position


def line_of(file: Path, most_bytes: int, position: Sequence[str | int]) -> int:
    """Return the line of a value in a file that was read before, or of the innermost value around it."""
    return line_of_node(yaml.compose(read_text(file, most_bytes), WithoutAliases), position)


def shown_path(path: Path) -> str:
    return plain(os.fsdecode(path))
