"""The triage session at a terminal: the meaning of keys, and the order of findings.

The session is a generator: it yields requests to show, ask, save or open, and is sent the key or text that was entered.
"""

from collections.abc import Generator, MutableMapping, Sequence
from dataclasses import dataclass

from jarvis_workers.errors import UsageError
from jarvis_workers.sec.report_document import Issue
from jarvis_workers.sec.triage.queue import judgement
from jarvis_workers.sec.triage_record import Judgement
from jarvis_workers.sec.triage_states import TriageState

KEYS = "t true   f false   w won't fix   l later   s skip   b back   ? help   q quit"
HELP = """\
t  true: a real finding; it stays in reports
f  false: a false alarm; later runs set it aside (a reason is required)
w  won't fix: real, but the risk is accepted; set aside (a reason is required)
l  later: postponed; it stays in reports and is asked again only with --all or --status later
n  note: write a note for the next verdict, or change the note of this one
s  skip (also Enter and space)          b  back
e  open the line in $VISUAL or $EDITOR
+  more code around the line            -  less code
?  this help                            q  quit; everything judged is saved"""
STATES = {"t": TriageState.TRUE, "f": TriageState.FALSE, "w": TriageState.WONTFIX, "l": TriageState.LATER}
QUIT = ("q", "\x04", "")
SKIP = ("s", " ", "\r", "\n")
MORE, LESS = ("+", "="), ("-", "_")
# Lines of context before and after the finding's line; None is the excerpt of the report.
AROUND = (None, 12, 25, 50, 100)


@dataclass(frozen=True)
class ShowFinding:
    """Show the finding with the index `place`, and its current verdict. Sent: a key.

    With a `hint` the finding is already on screen, and only the hint is new. `around` is one of the values in AROUND.
    """

    place: int
    verdict: Judgement | None
    hint: str = ""
    around: int | None = None


@dataclass(frozen=True)
class AskQuestion:
    """Ask a question. Sent: a line, possibly empty."""

    question: str


@dataclass(frozen=True)
class SaveVerdict:
    """Save a verdict immediately. Sent: a value that is ignored."""

    verdict: Judgement


@dataclass(frozen=True)
class EditFinding:
    """Open the finding with the index `place` in the user's editor. Sent: an error message, "" on success."""

    place: int


Step = ShowFinding | AskQuestion | SaveVerdict | EditFinding
Session = Generator[Step, str, None]


def judge_findings(findings: Sequence[Issue], judgements: MutableMapping[str, Judgement]) -> Session:
    """Run a session over the findings; `judgements` has the verdicts by fingerprint, and is updated."""
    place = 0
    while 0 <= place < len(findings):
        place += yield from _judge_one(findings, place, judgements)


def _judge_one(
    findings: Sequence[Issue], place: int, judgements: MutableMapping[str, Judgement]
) -> Generator[Step, str, int]:
    """Show one finding until the user leaves it; return the offset of the finding to show next, such as 1 or -1."""
    issue, hint, note, level = findings[place], "", "", 0
    while True:
        before = judgements.get(issue.fingerprint)
        key = yield ShowFinding(place, before, hint, AROUND[level])
        hint = ""
        if key in QUIT:
            return len(findings)
        if key in SKIP:
            return 1
        if key == "b" and place:
            return -1
        if key in MORE or key in LESS:
            level, hint = _around(level, more=key in MORE)
        elif key in STATES or key == "n":
            if key == "n":
                note = yield AskQuestion("note: ")
            state = STATES.get(key) or (before.verdict if before else None)
            hint = (yield from _judged(issue, state, note, judgements)) if state else "note saved: now give the verdict"
            if not hint:
                return 0 if key == "n" else 1
            note = note if state is None else ""
        elif key == "e":
            hint = yield EditFinding(place)
        else:
            hint = {"b": "this is the first finding", "?": HELP}.get(key, f"the keys are: {KEYS}")


def _around(level: int, *, more: bool) -> tuple[int, str]:
    """Return the next index in AROUND for more or less code, and a hint if the limit is reached."""
    changed = level + (1 if more else -1)
    return (
        (changed, "") if 0 <= changed < len(AROUND) else (level, f"no {'more' if more else 'less'} code can be shown")
    )


def _judged(
    issue: Issue, state: TriageState, note: str, judgements: MutableMapping[str, Judgement]
) -> Generator[Step, str, str]:
    """Save a verdict, after asking for a reason if one is required; return an error message, "" on success."""
    try:
        reason = note or ((yield AskQuestion(_question(state))) if state.needs_reason else "")
        judgements[issue.fingerprint] = verdict = judgement(issue, state, reason)
    except UsageError as problem:
        return str(problem)
    yield SaveVerdict(verdict)
    return ""


def _question(state: TriageState) -> str:
    return "why is it false? " if state is TriageState.FALSE else "why will it not be fixed? "
