"""The language of what a user reads: English, or another in which there are texts."""

import os
from collections.abc import Mapping
from typing import Literal

__all__ = ["Spoken", "language_of"]

Spoken = Literal["en", "zh"]
# In the order in which POSIX heeds them for messages.
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def language_of(asked: Spoken | None, environ: Mapping[str, str] = os.environ) -> Spoken:
    """Return the language that was asked for, else that of the locale, which need not be installed."""
    named = next((environ[name] for name in VARIABLES if environ.get(name)), "")
    return asked or ("zh" if named.lower().startswith("zh") else "en")
