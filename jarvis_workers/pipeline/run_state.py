"""The final state of a run: done, or incomplete with the number of unchecked items."""

from collections.abc import Mapping

# Singular and plural.
GapWords = tuple[str, str]

FAILED = "job failed", "jobs failed"
NOT_CHECKED = "file or directory was not checked", "files or directories were not checked"


def final_state(*, failed: int, missing: Mapping[GapWords, int]) -> tuple[str, str | None]:
    """Return the state of a run whose stages are all closed, and the reason if the run is incomplete.

    `missing` is the number of unchecked items by the domain's phrase for them.
    """
    parts = [_counted(failed, FAILED), *(_counted(number, words) for words, number in missing.items())]
    reason = ", ".join(filter(None, parts))
    return ("incomplete", reason) if reason else ("done", None)


def _counted(number: int, words: GapWords) -> str:
    """Return the number with its singular or plural phrase; empty for 0."""
    return f"{number} {words[number > 1]}" if number else ""
