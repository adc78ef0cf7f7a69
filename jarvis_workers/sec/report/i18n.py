"""Translation of reports: English texts are the keys, and texts without a translation remain English.

Names, code and texts of a model are not translated; texts of rules have a separate table (`sec/translations`).
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


class Words:
    """Translator into one language; `code` is its name in HTML."""

    def __init__(self, code: str, texts: Mapping[str, str], nouns: Mapping[str, str]) -> None:
        self.code = code
        self._texts, self._nouns = texts, nouns

    def __call__(self, text: str, /, **parts: object) -> str:
        """Return the translated text, with its placeholders filled in if values are given."""
        translation = self._texts.get(text, text)
        return translation.format(**parts) if parts else translation

    def count(self, number: int, noun: str) -> str:
        """Return a number with its noun."""
        if noun in self._nouns:
            return self._nouns[noun].format(number=f"{number:,}")
        return f"{number:,} {noun}{'' if number == 1 else 's'}"


ENGLISH = Words("en", {}, {})
TRANSLATED = {"zh": "zh-CN"}


def words_of(run: Mapping[str, Any]) -> Words:
    """Return the translator for the language with which a run was submitted."""
    return translated(run["lang"]) if run.get("lang") in TRANSLATED else ENGLISH


@cache
def translated(language: str, package: str = __package__) -> Words:
    """Load the translations into a language from a file of a package, by default from this module's package."""
    table = json.loads(files(package).joinpath(f"{language}.json").read_text("utf-8"))
    return Words(TRANSLATED[language], table["texts"], table["nouns"])
