"""Phrases about the outcome of a run of any kind."""

from jarvis_workers.paths import plain
from jarvis_workers.store.values import Run


def not_written(what: str, problem: Exception, run: Run) -> str:
    """Return the sentence about results of a run that could not be written, and the command that writes them."""
    why = f"{problem.filename}: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
    return f"{what} could not be written: {plain(why)}; fix this, then run: jarvis runs report {run.id}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
