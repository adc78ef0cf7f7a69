"""The state in which a run ends: done, or incomplete with what is missing."""

__all__ = ["final_state"]

FAILED = "job failed", "jobs failed"
NOT_CHECKED = "file or directory was not checked", "files or directories were not checked"
UNDECIDED = "candidate is undecided", "candidates are undecided"


def final_state(*, failed: int, not_checked: int, undecided: int) -> tuple[str, str | None]:
    """Return the state of a run whose stages are all closed, and the reason if it is incomplete."""
    if not (failed or not_checked or undecided):
        return "done", None
    parts = (_counted(failed, FAILED), _counted(not_checked, NOT_CHECKED), _counted(undecided, UNDECIDED))
    return "incomplete", ", ".join(filter(None, parts))


def _counted(number: int, words: tuple[str, str]) -> str:
    """Return the number with its singular or plural; nothing for none."""
    return f"{number} {words[number > 1]}" if number else ""
