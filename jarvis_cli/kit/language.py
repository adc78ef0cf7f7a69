"""The language of texts for the user: English, or another one with a translation."""

import os
from collections.abc import Mapping
from typing import Annotated, Literal

import typer

LanguageCode = Literal["en", "zh"]
TextLanguage = Annotated[
    LanguageCode | None, typer.Option("--lang", metavar="LANG", help="en or zh; default: system locale.")
]
# In the order of precedence that POSIX defines for messages.
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")


def language_of(spoken: LanguageCode | None, environ: Mapping[str, str] = os.environ) -> LanguageCode:
    """Return the requested language, else that of the locale, which need not be installed."""
    named = next((environ[name] for name in VARIABLES if environ.get(name)), "")
    return spoken or ("zh" if named.lower().startswith("zh") else "en")
