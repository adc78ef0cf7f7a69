"""The enumerated values that the Python API accepts, and their validation."""

import os
from collections.abc import Collection
from difflib import get_close_matches
from typing import Literal

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

Language = Literal["c/cpp", "rust"]
Severity = Literal["high", "medium", "low"]
StrPath = str | os.PathLike[str]


def check_choice(name: str, values: Collection[str], choices: Collection[str]) -> None:
    """Raise UsageError for a value that is not among the known ones."""
    for value in values:
        if value not in choices:
            close = get_close_matches(str(value), choices, n=1)
            hint = f' (did you mean "{close[0]}"?)' if close else ""
            raise UsageError(f'{name}: "{plain(str(value))}" is not one of {", ".join(choices)}{hint}')
