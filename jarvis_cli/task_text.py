"""The task of `-T`, as text or from standard input."""

import sys

from jarvis_workers.errors import UsageError

TASK_MAX = 1_000_000


def read_task(task: str) -> str:
    """Return the task of -T, which `-` reads from stdin. Raises UsageError."""
    try:
        text = (sys.stdin.read(TASK_MAX + 1) if task == "-" else task).strip()
        text.encode()
    except UnicodeError as error:
        raise UsageError("-T is not UTF-8 text") from error
    if "\0" in text:
        raise UsageError("-T contains a NUL character")
    if not text:
        raise UsageError("-T is empty; describe the task")
    if len(text) > TASK_MAX:
        raise UsageError(f"-T is longer than {TASK_MAX:,} characters; put details into a file and refer to it")
    return text
