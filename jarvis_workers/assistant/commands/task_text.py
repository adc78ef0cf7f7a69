"""The task of an option such as `-T`, as text or from standard input."""

import sys

from jarvis_workers.errors import UsageError

TASK_MAX = 1_000_000


def read_task(task: str, option: str = "-T") -> str:
    """Return the task of an option, which `-` reads from stdin. Raises UsageError."""
    try:
        return check_task(sys.stdin.read(TASK_MAX + 1) if task == "-" else task, option)
    except UnicodeError as error:
        raise not_text(option) from error


def check_task(task: str, named: str) -> str:
    """Return a task without white space around it. Raises UsageError if it cannot be used."""
    text = task.strip()
    try:
        text.encode()
    except UnicodeError as error:
        raise not_text(named) from error
    if "\0" in text:
        raise UsageError(f"{named} contains a NUL character")
    if not text:
        raise UsageError(f"{named} is empty; describe the task")
    if len(text) > TASK_MAX:
        raise UsageError(f"{named} is longer than {TASK_MAX:,} characters; put details into a file and refer to it")
    return text


def not_text(named: str) -> UsageError:
    """Return the error for a task that is not text."""
    return UsageError(f"{named} is not UTF-8 text")
