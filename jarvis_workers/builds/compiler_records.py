"""Read the records of the compiler wrapper, which a hostile build may have forged."""

import json
import os
from pathlib import Path
from typing import Any

from jarvis_workers.builds.command_words import expand_responses
from jarvis_workers.builds.compile_commands import Invocation
from jarvis_workers.errors import UsageError
from jarvis_workers.snapshots.safe_read import read_file

RECORD_BYTES = 16_000_000
MOST_RECORDS = 1_000_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def read_records(parent: Path, name: str) -> list[Invocation]:
    """Return the recorded calls in the directory `name` of `parent`, in the order in which they were made.

    Raises UsageError if they cannot be read, which happens only if the build has written to the directory.
    """
    try:
        above = os.open(parent, _DIRECTORY)
        try:
            directory = os.open(name, _DIRECTORY, dir_fd=above)
        finally:
            os.close(above)
        try:
            names = sorted(file for file in os.listdir(directory) if file.endswith(".json"))  # noqa: PTH208
            if len(names) > MOST_RECORDS:
                raise UsageError(f"{parent / name}: more than {MOST_RECORDS} compiler calls")
            return [_read(directory, file) for file in names]
        finally:
            os.close(directory)
    except OSError as error:
        raise UsageError(f"{parent / name}: the recorded compiler calls cannot be read: {error.strerror}") from error


def _read(directory: int, file: str) -> Invocation:
    content = read_file(directory, os.fsencode(file), RECORD_BYTES)
    if isinstance(content, str):
        raise UsageError(f"{file}: a recorded compiler call cannot be read: {content}")
    try:
        return _invocation(json.loads(content), file)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UsageError(
            f"{file}: not a recorded compiler call; the build has written to the record directory"
        ) from error


def _invocation(record: dict[str, Any], file: str) -> Invocation:
    directory, words, responses = record["directory"], record["arguments"], record["responses"]
    if not isinstance(directory, str) or not all(isinstance(word, str) for word in words):
        raise TypeError
    texts = {str(name): str(text) for name, text in responses.items()}
    expanded = expand_responses(words, texts.get)
    if any("\0" in word for word in (directory, *expanded)):
        raise ValueError
    return Invocation(directory, tuple(expanded), None, file)
