"""Render verdicts as Markdown: in full where a person must act, otherwise in one line.

Confirmed findings come first, sorted by severity, exposure and score; those with one root cause are told once, with all
places.  Undecided findings are grouped by reason: if the model was unavailable, thousands of findings share one reason.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from jarvis_workers.escape import code, fenced, lines, prose
from jarvis_workers.sec.assessment import EvidenceQuote
from jarvis_workers.sec.finding import WITHOUT_RULE, Candidate
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.defect_groups import DefectGroup, defect_groups
from jarvis_workers.sec.report.fired_rules import finding_title, rule_of
from jarvis_workers.sec.report.patches import patch_lines, patch_summary
from jarvis_workers.sec.report.verdicts import (
    MEANS,
    OPEN,
    PROOF_KINDS,
    PROOF_STATES,
    REAL,
    TEXT_TITLES,
    WORDS,
    capital,
    rating_texts,
    verdict_text,
    worst_first,
)
from jarvis_workers.sec.report_document import Issue, ReportPatch, Summary
from jarvis_workers.sec.trace import TraceLocation
from jarvis_workers.words import Words

# Render the proof of a finding as Markdown: the command, the sanitizer's error, and the files.


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


# Description and suggestion.
Text = tuple[str, str]
NO_PATCHES: Mapping[str, ReportPatch] = {}
DETAILED_STATUSES = ("proved", "confirmed", "review")


def verdict_findings(
    issues: Sequence[Issue], say: Words, patches: Mapping[str, ReportPatch] = NO_PATCHES
) -> Iterator[str]:
    """Yield the findings that are not dismissed, by status, severity, exposure and score, with their patches."""
    for status in OPEN:
        matches = worst_first(one for one in issues if one.status == status)
        if not matches:
            continue
        yield f"## {capital(say(WORDS[status]))}"
        yield say(MEANS[status])
        if status in DETAILED_STATUSES:
            for issue, others in defect_groups(matches):
                yield from _finding_lines(issue, patches.get(issue.id), say)
                if others:
                    yield "\n".join(same_root_cause(others, say, ""))
        else:
            yield from _by_reason(matches, say)


def dismissed_findings(dismissed: Sequence[Issue], summary: Summary, say: Words) -> Iterator[str]:
    """Yield a line for each dismissed finding, with the reason."""
    if not summary.dismissed:
        return
    yield f"## {capital(say(WORDS['dismissed']))}"
    yield say(MEANS["dismissed"])
    if dismissed:
        yield "\n".join(_dismissed(issue, say) for issue in dismissed)
    if (more := summary.dismissed - len(dismissed)) > 0:
        yield say("Not listed: {findings}.", findings=say.count(more, "dismissed finding"))


def finding_label(issue: Issue) -> str:
    """Return the rule of a finding, which is explained once in a report; for what a model has found, its title, too."""
    rule = code(rule_of(issue))
    return f"{prose(finding_title(issue))} ({rule})" if issue.candidate.pattern in WITHOUT_RULE else rule


def steps(issue: Issue, say: Words, indent: str = "") -> Iterator[str]:
    """Yield a numbered line for each step that leads to a finding."""
    for number, step in enumerate(issue.path, 1):
        yield f"{indent}{number}. {_place(step, say)}: {prose(step.note)}"


def same_root_cause(others: Sequence[Issue], say: Words, indent: str = "  ") -> Iterator[str]:
    """Yield a list of the other findings with the root cause of a finding."""
    if others:
        yield f"{indent}- {say('Same root cause:')}"
    yield from (f"{indent}  {_line(issue, say)}" for issue in others)


def _place(place: Candidate | TraceLocation | EvidenceQuote, say: Words) -> str:
    return say("{file} line {line}", file=code(place.file), line=place.line)


def _finding_lines(issue: Issue, patch: ReportPatch | None, say: Words) -> Iterator[str]:
    place = _place(issue.candidate, say)
    yield say("### {id}: {rule} in {place}", id=issue.id, rule=finding_label(issue), place=place)
    yield say(
        "{severity} severity, confidence {confidence}, score {score}{more}.",
        severity=capital(say(issue.severity)),
        confidence=f"{issue.candidate.confidence:.2f}",
        score=f"{issue.score:.2f}",
        more="".join(_beside(issue, say)),
    )
    yield "\n".join(_verdicts_facts(issue, say))
    if issue.proof:
        yield from proof_lines(issue.proof, say)
    yield from _patch(patch, say)
    if quotes := issue.opinion.evidence:
        yield say("Evidence:")
        yield "\n".join(_quote(quote, say) for quote in quotes).rstrip()
    if way := list(steps(issue, say)):
        yield say("Path:")
        yield "\n".join(way)
    if scripts := issue.opinion.commands:
        yield say("To reproduce, in a copy of the source:")
        for command in scripts:
            yield fenced(command.script, command.interpreter)


def _patch(patch: ReportPatch | None, say: Words) -> Iterator[str]:
    """Yield the patch of a finding, with what the gates said of it."""
    if patch is None:
        return
    yield f"**{say('Patch')}.** {lines(patch_summary(patch, say))}"
    if text := "\n".join(line for _, line in patch_lines(patch)):
        yield fenced(text, "diff")


def _beside(issue: Issue, say: Words) -> Iterator[str]:
    if issue.candidate.cwe:
        yield say(", CWE-{number}", number=issue.candidate.cwe)
    if issue.cluster:
        yield say(", cluster {number}", number=issue.cluster)


def _verdicts_facts(issue: Issue, say: Words) -> Iterator[str]:
    facts = {say("Description"): prose(issue.candidate.description)} if issue.candidate.pattern in WITHOUT_RULE else {}
    facts[say("Code")] = code(issue.candidate.evidence)
    if issue.opinion.reason:
        facts[say("Reason" if issue.status in REAL else "Reason for review")] = lines(issue.opinion.reason)
    facts |= {title: lines(text) for title, text in rating_texts(issue, say).items()}
    facts |= {say(title): lines(text) for name, title in TEXT_TITLES.items() if (text := getattr(issue.opinion, name))}
    if issue.verification:
        facts[say("Question")] = lines(issue.verification)
    return (f"- **{title}:** {text}" for title, text in facts.items())


def _quote(quote: EvidenceQuote, say: Words) -> str:
    text = quote.quote.strip("\n")
    if "\n" in text:
        return f"- {_place(quote, say)}:\n\n{fenced(text, indent='  ')}\n"
    return f"- {_place(quote, say)}: {code(text)}"


def _by_reason(found: Sequence[Issue], say: Words) -> Iterator[str]:
    reasons: defaultdict[str, list[Issue]] = defaultdict(list)
    for issue in found:
        reasons[issue.opinion.reason or ""].append(issue)
    for reason, issues in reasons.items():
        if reason:
            yield f"**{lines(reason)}** ({say.count(len(issues), 'finding')})"
        yield "\n".join(_open(group, say) for group in defect_groups(issues))


def _open(group: DefectGroup, say: Words) -> str:
    issue, others = group
    line = f"{_line(issue, say)}: {code(issue.candidate.evidence)} ({say('score')} {issue.score:.2f})"
    own = (
        [explained((issue.candidate.description, issue.candidate.suggestion), say, "  ")]
        if issue.candidate.pattern in WITHOUT_RULE
        else []
    )
    return "\n".join([line, *own, *same_root_cause(others, say)])


def explained(text: Text, say: Words, indent: str = "") -> str:
    """Return lines with a description and a suggestion."""
    why, remedy = map(prose, text)
    return f"{indent}- {say('Why:')} {why}\n{indent}- {say('What to do:')} {remedy}"


def _dismissed(issue: Issue, say: Words) -> str:
    against = verdict_text(issue)
    suffix = f": {prose(against)}" if against else f": {code(issue.candidate.evidence)}"
    for quote in issue.opinion.evidence[:1]:
        suffix += say(" Evidence in {place}: {quote}", place=_place(quote, say), quote=code(quote.quote))
    return f"{_line(issue, say)}{suffix}"


def _line(issue: Issue, say: Words) -> str:
    return f"- **{issue.id}** {_place(issue.candidate, say)}, {finding_label(issue)}"
