"""The exit codes of commands.

"Not checked" never looks like success: a run that left something out exits 3, or 1 if there are findings at or above
--fail-on.
"""

DONE = 0
FINDINGS = 1
NOT_ALIVE = 1
REFUSED = 1
FAILED = 2
INCOMPLETE = 3
TIMED_OUT = 4
INTERRUPTED = 130
CLOSED_OUTPUT = 141


def of_state(state: str) -> int:
    """Return the exit code of a run that has ended or is paused, and has no findings."""
    return FAILED if state in {"cancelled", "failed"} else of_run(findings=False, incomplete=state != "done")


def of_run(*, findings: bool, incomplete: bool) -> int:
    """Return the exit code of an ended run: findings take precedence over files not checked."""
    if findings:
        return FINDINGS
    return INCOMPLETE if incomplete else DONE
