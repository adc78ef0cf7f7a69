"""The language of a report: English texts are the keys, and what has no translation is said in English.

Names and whatever came from code or a model are said as they are; texts of rules have a table of their own
(`sec/translations`).
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["ENGLISH", "Words", "translated", "words_of"]


class Words:
    """Says texts in one language; `code` is its name in HTML."""

    def __init__(self, code: str, texts: Mapping[str, str], nouns: Mapping[str, str]) -> None:
        self.code = code
        self._texts, self._nouns = texts, nouns

    def __call__(self, text: str, /, **parts: object) -> str:
        """Return the text, with what it has in braces filled in where parts are given."""
        said = self._texts.get(text, text)
        return said.format(**parts) if parts else said

    def count(self, number: int, noun: str) -> str:
        """Say how many there are."""
        if noun in self._nouns:
            return self._nouns[noun].format(number=f"{number:,}")
        return f"{number:,} {noun}{'' if number == 1 else 's'}"


ENGLISH = Words("en", {}, {})
TRANSLATED = {"zh": "zh-CN"}


def words_of(run: Mapping[str, Any]) -> Words:
    """Return the language that a run was submitted with."""
    return translated(run["lang"]) if run.get("lang") in TRANSLATED else ENGLISH


@cache
def translated(language: str, package: str = __package__) -> Words:
    """Read what there is in a language: a file of a package, by default beside this one."""
    table = json.loads(files(package).joinpath(f"{language}.json").read_text("utf-8"))
    return Words(TRANSLATED[language], table["texts"], table["nouns"])
