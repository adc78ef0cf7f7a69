"""Regular expressions that are compiled on first use, so that a scan of C does not wait for the Rust patterns.

Attribute access is slightly slower than on a compiled pattern, so hot patterns should be compiled eagerly.
"""

import re
from typing import Any, cast


class _Compiled:
    """The attributes of a compiled pattern, without `__getattr__`, which would slow down every attribute access."""


PUBLIC = [name for name in dir(re.Pattern) if not name.startswith("_")]


class _LazyPattern(_Compiled):
    """A pattern that compiles itself on first attribute access."""

    def __init__(self, pattern: bytes, flags: int) -> None:
        self._arguments = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(*self._arguments)
        self.__dict__.update((public, getattr(compiled, public)) for public in PUBLIC)
        self.__class__ = _Compiled  # type: ignore[assignment]
        return getattr(self, name)


def lazy(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """Return a lazy replacement for `re.compile(pattern, flags)`; an invalid pattern raises re.error on first use."""
    return cast(re.Pattern[bytes], _LazyPattern(pattern, flags))
