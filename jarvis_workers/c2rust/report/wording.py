"""Translators of reports; the texts in other languages are in files of this package, such as zh.json."""

from jarvis_workers.words import ENGLISH, words_in
from jarvis_workers.words import Words as Say

__all__ = ["Say", "english", "words_in_reports"]

english = ENGLISH


def words_in_reports(language: str) -> Say:
    """Return the translator of the reports of c2rust into a language."""
    return words_in(language, __package__)
