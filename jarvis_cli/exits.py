"""Say which number a command ends with.

"Not checked" never reads as done: a run that left something out exits 3, unless findings at
or above --fail-on make it 1.
"""

DONE = 0
FINDINGS = 1
FAILED = 2
INCOMPLETE = 3
TIMED_OUT = 4
INTERRUPTED = 130
READER_GONE = 141


def of_run(*, findings: bool, incomplete: bool) -> int:
    """Return the code of a run that ended: findings win over what was not checked."""
    if findings:
        return FINDINGS
    return INCOMPLETE if incomplete else DONE
