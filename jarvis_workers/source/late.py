"""Patterns that are compiled when they are first asked for: a process that scans C need not wait for those of Rust."""

import re
from typing import Any, cast

__all__ = ["late"]


class _Late:
    """Looks like its pattern; what was asked of it once stays at hand."""

    def __init__(self, pattern: bytes, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(re.compile(*self._given), name)
        return found


def late(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return what `re.compile` would, for methods and attributes; a pattern that is wrong shows on first use."""
    return cast(re.Pattern[bytes], _Late(pattern, flags))
