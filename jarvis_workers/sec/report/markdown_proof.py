"""Render the proof of a finding as Markdown: the command, the sanitizer's error, and the files."""

from collections.abc import Iterator

from jarvis_workers.escape import code, fenced, lines
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.i18n import Words
from jarvis_workers.sec.report.verdicts import PROOF_KINDS, PROOF_STATES


def proof_lines(proof: Proof, say: Words) -> Iterator[str]:
    """Yield what came of the attempts to prove a finding."""
    yield f"**{say(PROOF_STATES[proof.state])}** " + "; ".join(_facts(proof, say))
    if proof.stack:
        yield fenced("\n".join(proof.stack), "text")
    for source in proof.sources:
        title = code(source.name) if source.is_whole else say("{name} (the beginning)", name=code(source.name))
        yield f"{title}:"
        yield fenced(source.base64, "base64") if source.base64 is not None else fenced(source.text or "")


def _facts(proof: Proof, say: Words) -> Iterator[str]:
    if proof.kind:
        yield say(PROOF_KINDS[proof.kind])
    if proof.command:
        yield say("command {command}", command=code(proof.command))
    yield say.count(proof.attempts, "attempt")
    if proof.reason:
        yield lines(proof.reason)
