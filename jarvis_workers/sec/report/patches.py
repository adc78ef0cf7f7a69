"""Patches in reports: what the gates said of a patch, in words, and its lines."""

from collections.abc import Iterator

from jarvis_workers.sec.fix.gates import PROOF
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.i18n import ENGLISH, Words
from jarvis_workers.sec.report_document import ReportPatch

LINES_MAX = 400
OLDER = "Its input then triggers an older error, which also occurs without the patch: {error}."
# The kinds of lines of a patch by their first characters; the first match counts.
KINDS = (("diff ", "file"), ("--- ", "file"), ("+++ ", "file"), ("@@", "hunk"), ("+", "added"), ("-", "removed"))


def patch_summary(patch: ReportPatch, say: Words = ENGLISH) -> str:
    """Return what the gates said of a patch."""
    if patch.state != "fixed":
        refused = patch.state == "refused"
        return (
            say("Refused: {reason}", reason=patch.reason) if refused else say("Not done: {reason}", reason=patch.reason)
        )
    parts = [say("Its proof no longer fires.")] if PROOF in patch.passed else []
    parts += [
        say("Its input then triggers an older error, which also occurs without the patch: {error}.", error=one)
        for one in patch.older
    ]
    parts.append(say("Passed: {gates}.", gates=", ".join(patch.passed)))
    if patch.unchecked:
        parts.append(say("Not checked: {gates}.", gates=", ".join(patch.unchecked)))
    parts += [f"{line[0].upper()}{line[1:]}." for line in patch.second_look]
    return " ".join(parts)


def patch_description(patch: ReportPatch, proof: Proof | None) -> str:
    """Return what a patch does, what of its proof ran before and after it, and what the gates said, in English."""
    subject = patch.message.partition("\n")[0].strip()
    parts = [subject if subject.endswith((".", "!", "?")) else f"{subject}."] if subject else []
    if PROOF in patch.passed and proof and proof.command and proof.stack:
        parts.append(f"Before the patch, a sanitizer stopped {proof.command} with {proof.stack[0]}.")
    return " ".join([*parts, patch_summary(patch)])


def patch_lines(patch: ReportPatch) -> Iterator[tuple[str, str]]:
    """Yield the first lines of a patch, each with its kind: "file", "hunk", "added", "removed" or ""."""
    lines = patch.diff.rstrip("\n").split("\n") if patch.diff else []
    for line in lines[:LINES_MAX]:
        yield next((kind for start, kind in KINDS if line.startswith(start)), ""), line
    if len(lines) > LINES_MAX:
        yield "hunk", f"… {len(lines) - LINES_MAX:,} more lines"
