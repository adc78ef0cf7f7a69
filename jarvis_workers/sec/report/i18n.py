"""The language of a report of findings; texts of rules have a separate table (`sec/translations`)."""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.words import Words, words_in


def words_of(run: Mapping[str, Any]) -> Words:
    """Return the translator for the language with which a run was submitted."""
    return words_in(run.get("lang"), __package__)
