"""Errors that stand without a patch, and that the input of a proof reaches with it.

The finding's own error ends a run, and so hides what follows. An error is older only if an execution of the sources
without the patch has reported it without the finding's own error, or before it: the proof of another finding, or a run
on a smaller input. An error that follows the own one may be its consequence, or that of a bad patch.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pydantic import BaseModel, ConfigDict

from jarvis_workers.sec.proof.proof import ProofRun
from jarvis_workers.sec.proof.repetition import error_key

FRAME = re.compile(r"#0 (?P<function>.*) (?P<file>[^ ]+):(?P<line>\d+)")
REACHED = (
    "it fixes its finding; the input of the proof then triggers an older error, which also occurs without the patch: {}"
)
# Returns the code on a line of a file of the scanned directory, "" if there is none.
CodeAt = Callable[[str, int], str]


class OlderError(BaseModel):
    """An error without the patch: a sanitizer's stack, the code on its line, and the finding that it proves, or ""."""

    model_config = ConfigDict(frozen=True)

    stack: tuple[str, ...]
    code: str
    finding: str = ""

    def __str__(self) -> str:
        finding = f" (finding {self.finding})" if self.finding else ""
        function, file, line = place_of(self.stack)
        return f"{self.stack[0]} in {function}, {file}:{line}{finding}"


def place_of(stack: Sequence[str]) -> tuple[str, str, int]:
    """Return function, file and line of the failing function; the file is "" if no function is known."""
    match = next(filter(None, map(FRAME.fullmatch, stack)), None)
    return (match["function"], match["file"], int(match["line"])) if match else ("", "", 0)


def at_different_lines(errors: Iterable[OlderError]) -> list[OlderError]:
    """Return the first error of each line: two sanitizers may report the same one."""
    return list({place_of(one.stack): one for one in reversed([*errors])}.values())[::-1]


def older_error(stack: Sequence[str], code_at: CodeAt, finding: str = "") -> OlderError | None:
    """Return an error without the patch, None if its line is not in the tree."""
    _, file, line = place_of(stack)
    code = code_at(file, line) if file else ""
    return OlderError(stack=tuple(stack), code=code, finding=finding) if code else None


def errors_before(run: ProofRun, own: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the errors that a run reported before the finding's own error, or without it."""
    for error in run.errors:
        if error_key(lines := error.lines()) == error_key(own):
            return
        yield lines


def reached(
    runs: Iterable[ProofRun], own: Sequence[str], older: Iterable[OlderError], code_at: CodeAt
) -> tuple[OlderError, ...]:
    """Return the errors that runs over a patched tree report; none unless all are older, and none the own one."""
    by_key = {(error_key(one.stack), one.code): one for one in reversed([*older])}
    found = dict[OlderError, None]()
    for stack in (error.lines() for run in runs for error in run.errors):
        _, file, line = place_of(stack)
        one = by_key.get((error_key(stack), code_at(file, line)))
        if one is None or error_key(stack) == error_key(own):
            return ()
        found[one] = None
    return tuple(found)
