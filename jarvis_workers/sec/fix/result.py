"""The result of a fix: the patch, what became of it, and what the gates said."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from jarvis_workers.paths import plain
from jarvis_workers.sec.fix.fixable import FixFinding
from jarvis_workers.sec.fix.function_search import SearchResult
from jarvis_workers.sec.fix.gates import FileContents, OlderError, PatchGateResult, at_different_lines, failure_of

# The second look at a function after a patch: one question, "what is still wrong here?".

PATCH_MAX = 6_000


class RemainingDefect(BaseModel):
    """A defect that a model names; `line` is 0 if its place does not exist."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int
    cwe: int
    description: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else ""
        return plain(f"{place}{self.description}{f' (CWE-{self.cwe})' if self.cwe else ''}")


class SecondLook(BaseModel):
    """What a model names in a patched function; `reason` says why it was not asked, or not to the end."""

    model_config = ConfigDict(frozen=True)

    function: str = ""
    defects: tuple[RemainingDefect, ...] = ()
    reason: str = ""

    def lines(self) -> Iterator[str]:
        """Yield a line for each defect, and for what is missing."""
        for one in self.defects:
            yield f"still wrong in {plain(self.function)}: {one} (named by a model, not verified)"
        if self.reason:
            yield f"second look{f' at {plain(self.function)}' if self.function else ''} not complete: {self.reason}"


def look_values(finding: FixFinding, patch: bytes) -> Mapping[str, str]:
    """Return the texts of the question about a function that a patch has changed."""
    repaired = f"{finding.name} (CWE-{finding.cwe}): {finding.description}\n{finding.place.text}"
    return {"repaired": repaired, "patch": patch.decode("utf-8", "backslashreplace")[:PATCH_MAX]}


def second_look(function: str, result: SearchResult) -> SecondLook:
    """Return what a search has named, with what it could not place."""
    placed = [
        RemainingDefect(file=one.file, line=one.line, cwe=one.cwe, description=one.description)
        for one in result.defects
    ]
    others = [RemainingDefect(file="", line=0, cwe=0, description=text) for text in (*result.nowhere, *result.surplus)]
    return SecondLook(function=function, defects=(*placed, *others), reason=result.reason or "")


FixState = Literal["fixed", "refused", "not done"]
FIXED, REFUSED, NOT_DONE = "fixed", "refused", "not done"
SUBJECT_MAX = 72
REASON_MAX = 400


class PatchedFile(BaseModel):
    """The content of a changed file before and after a patch, and its mode in git."""

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    before: bytes
    after: bytes
    mode: str = "100644"

    @property
    def contents(self) -> FileContents:
        return FileContents(self.before, self.after)


class FixResult(BaseModel):
    """The result for a finding: `patch` is empty without a change; it is relative to the earlier patches of its file.

    `reason` says why the patch did not land, `message` is that of its commit, `regression_test` has the contents of new
    files of the commit by path. `second_look` is None if no patch passed the gates, or none was asked for.
    """

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    finding: FixFinding
    state: FixState
    reason: str = ""
    gates: tuple[PatchGateResult, ...] = ()
    attempts: int = 0
    message: str = ""
    text: str = ""
    patch: bytes = b""
    files: Mapping[str, PatchedFile] = {}
    regression_test: Mapping[str, bytes] = {}
    second_look: SecondLook | None = None

    @property
    def older(self) -> list[OlderError]:
        """The errors that stand without the patch, and that the input of the proof reaches with it."""
        return at_different_lines(error for gate in self.gates for error in gate.older)

    def refused(self, reason: str, gates: tuple[PatchGateResult, ...] = ()) -> "FixResult":
        """Return the result with the reason why its patch did not land after all."""
        return self.model_copy(update={"state": REFUSED, "reason": reason, "gates": gates or self.gates})


class FixResults(BaseModel):
    """The results of a run, in the order of the commits."""

    model_config = ConfigDict(frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    results: tuple[FixResult, ...] = ()

    @property
    def fixed(self) -> list[FixResult]:
        return [result for result in self.results if result.state == FIXED]


def reason_of(gates: tuple[PatchGateResult, ...], attempts: int) -> str:
    """Return why the gates refuse a patch, or ""."""
    failure = failure_of(gates)
    if failure is None:
        return ""
    times = f" after {attempts} attempts" if attempts > 1 else ""
    return f"{failure.gate}{times}: {short_reason(failure.reason)}"


def short_reason(reason: str) -> str:
    """Return a reason on one line; the output of a command is cut in the middle."""
    line = " ".join(reason.split())
    half = REASON_MAX // 2
    return line if len(line) <= REASON_MAX else f"{line[:half]} … {line[-half:]}"


def commit_message(finding: FixFinding, text: str) -> str:
    """Return the message of the commit: the answer's first line as its subject, and the finding."""
    lines = ["".join(one if one.isprintable() else " " for one in line).rstrip() for line in text.strip().splitlines()]
    subject = (lines[0].lstrip("#*- ").strip() if lines else "") or f"Fix {finding.name} in {finding.place.file}"
    rest = lines[1:]
    if len(subject) > SUBJECT_MAX:
        rest = [subject, *rest]
        subject = subject[: SUBJECT_MAX - 1].rstrip() + "…"
    body = "\n".join(rest).strip()
    facts = f"{'Findings' if finding.others else 'Finding'}: {', '.join(finding.ids)} {finding.name}" + (
        f" (CWE-{finding.cwe})" if finding.cwe else ""
    )
    return "\n\n".join(filter(None, (subject, body, facts))) + "\n"
