"""Patterns that are compiled when they are first asked for: a process that scans C need not wait for those of Rust.

What is asked for thousands of times a megabyte is better compiled at once: a look-up here takes a little longer.
"""

import re
from typing import Any, cast

__all__ = ["lazy"]


class _Compiled:
    """Has what a pattern has; a class without `__getattr__`, which makes every look-up slower."""


PUBLIC = [name for name in dir(re.Pattern) if not name.startswith("_")]


class _LazyPattern(_Compiled):
    """Becomes its pattern when it is first asked for anything."""

    def __init__(self, pattern: bytes, flags: int) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._given)
        self.__dict__.update((public, getattr(compiled, public)) for public in PUBLIC)
        self.__class__ = _Compiled  # type: ignore[assignment]
        return getattr(self, name)


def lazy(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return what `re.compile` would, for methods and attributes; a pattern that is wrong shows on first use."""
    return cast(re.Pattern[bytes], _LazyPattern(pattern, flags))
