"""Verdicts in all formats: their order, their meaning, and the usage of the model.

A finding is open until a model has dismissed it.  Undecided findings and those for review are mentioned at the top of
a report, so that it never suggests that the code is safe.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.defect_groups import root_causes_text
from jarvis_workers.sec.report_document import DiscoveryOutcome, Issue, ReadingOutcome, ReportBody, Summary
from jarvis_workers.sec.severity import WORST_HARM_FIRST, harm_of
from jarvis_workers.words import ENGLISH, Words, cost_text

Part = Mapping[str, Any]

# In the order in which a person should look.
OPEN = ("proved", "confirmed", "review", "undecided", "heuristic")
REAL = ("proved", "confirmed")
WORDS = {
    "proved": "proved",
    "confirmed": "confirmed",
    "review": "to review",
    "undecided": "undecided",
    "heuristic": "not verified",
    "dismissed": "dismissed",
}
MEANS = {
    "proved": "A sanitizer stopped the code at the finding, with input that reaches it: the proof can be run again.",
    "confirmed": "A model explained how it can be exploited, and its quotes were found in the code.",
    "review": "Manual review needed: wrong evidence, differing answers, or instructions to the model in the code.",
    "undecided": "No verdict. This does not mean that the code is safe.",
    "heuristic": "Flagged by a rule, not verified by a model.",
    "dismissed": "A model explained why it is not a risk, and its quotes were found in the code.",
}
# Who can trigger a risk, the worst first.
EXPOSURES = {
    "remote": "remote (data from a network)",
    "file": "file (made by somebody else)",
    "local": "local (another user or process)",
    "self": "self (the user's own input)",
    "oom": "oom (if memory runs out)",
    "platform": "platform (not Linux with default options)",
}
# Risks that nobody can trigger at will: they come after all others with the same status.
RARE_EXPOSURES = ("oom", "platform")
PROOF_STATES = {
    "proved": "Proved by execution:",
    "reproduced": "Reproduced, not proved:",
    "failed": "Not proved by execution:",
}
PROOF_KINDS = {
    "program": "through the program",
    "server": "through a network connection",
    "fuzz_target": "through the fuzz target",
    "api": "through the public API",
    "internal": "by a call of an internal function",
}
TEXT_TITLES = {
    "preconditions": "Preconditions",
    "trigger_path": "Trigger path",
    "consequences": "Consequences",
    "suggestions": "What to do",
}


def has_verdicts(summary: Summary) -> bool:
    """Return whether a model was asked about any of the findings, or to find some."""
    judged = set(summary.by_status or ()) - {"heuristic"}
    return bool(judged or summary.dismissed or summary.canary or summary.reading or summary.discovery)


def rank(issue: Issue) -> int:
    """Return the position of findings with this status in a report."""
    return OPEN.index(issue.status) if issue.status in OPEN else len(OPEN)


def exposure_rank(issue: Issue) -> int:
    """Return the position of findings with this exposure among those of the same severity."""
    return list(EXPOSURES).index(issue.opinion.exposure) if issue.opinion.exposure in EXPOSURES else len(EXPOSURES)


def urgency(issue: Issue) -> tuple[float, ...]:
    """Sort key of the worst finding first: status (proved, confirmed, ...), severity, exposure, likelihood, harm.

    Failed allocations come last among those of a severity.
    """
    is_rare, severity = issue.opinion.exposure in RARE_EXPOSURES, WORST_FIRST.index(issue.severity)
    harm = WORST_HARM_FIRST.index(harm_of(issue.candidate.cwe))
    return rank(issue), is_rare, severity, exposure_rank(issue), issue.needs_oom, -issue.score, harm


def worst_first(issues: Iterable[Issue]) -> list[Issue]:
    """Return the findings by urgency, otherwise in their order."""
    return sorted(issues, key=urgency)


def listed_findings(body: ReportBody) -> Sequence[Issue]:
    """Return the findings in the order in which people read them: worst first."""
    return worst_first(body.issues)


def witness_texts(issue: Issue, say: Words = ENGLISH) -> list[str]:
    """Return what other analyzers say of a finding, with the line where it is another."""
    place = say("line {line}: {text}")
    here = issue.candidate.line
    return [one.text if one.line == here else place.format(line=one.line, text=one.text) for one in issue.witnesses]


def analyzers_texts(summary: Summary, say: Words) -> list[str]:
    """Return how many findings each analyzer reports, and how many no other does; none without other analyzers."""
    alone = summary.by_analyzer_alone
    counts = [
        say("{analyzer} {number} ({alone} alone)", analyzer=name, number=f"{number:,}", alone=f"{alone.get(name, 0):,}")
        for name, number in summary.by_analyzer.items()
    ]
    return [say("Reported by: {counts}.", counts=", ".join(counts))] if counts else []


def rating_texts(issue: Issue, say: Words) -> dict[str, str]:
    """Return exposure, analysis and what others reported of the same defect by title, without empty ones."""
    verdict = issue.opinion
    exposure = say(EXPOSURES.get(verdict.exposure, verdict.exposure)) if verdict.exposure else ""
    also = "\n".join((*issue.also_reported, *witness_texts(issue, say)))
    texts = {say("Exposure"): exposure, say("Analysis"): verdict.analysis, say("Also reported"): also}
    return {title: text for title, text in texts.items() if text}


def counts(summary: Summary) -> dict[str, int]:
    """Return the number of findings by status, without zeros; dismissed findings come last."""
    statuses = summary.by_status or {}
    result = {status: statuses.get(status, 0) for status in OPEN} | {"dismissed": summary.dismissed or 0}
    return {name: number for name, number in result.items() if number}


def lead(summary: Summary, say: Words = ENGLISH) -> tuple[str, str]:
    """Return a short summary of the verdicts, and a statement on its reliability."""
    by_status = counts(summary)
    dismissed, confirmed = by_status.pop("dismissed", 0), by_status.pop("confirmed", 0)
    proved = by_status.pop("proved", 0)
    first = [say.count(proved, "proved finding")] if proved else []
    if confirmed:
        causes = root_causes_text(confirmed, summary.confirmed_root_causes, say)
        first.append(say.count(confirmed, "confirmed finding") + causes)
    found = say(", ").join(first) or say("No confirmed finding")
    rest = "".join(
        say(", {number} {word}", number=f"{number:,}", word=say(WORDS[one])) for one, number in by_status.items()
    )
    sentences = [_verified(summary, say)]
    if summary.discovery:
        sentences.append(_discovery(summary.discovery, say))
    if summary.reading:
        sentences.append(_reading(summary.reading, say))
    if dismissed:
        sentences.append(say("It dismissed {number} of them.", number=f"{dismissed:,}"))
    if escalation := summary.escalation:
        text = "A stronger model was asked about {some} of {all} candidates."
        sentences.append(say(text, some=f"{escalation.escalated:,}", all=f"{escalation.verified:,}"))
    if not summary.total:
        sentences.append(say("This does not prove that the code is free of defects."))
    files = say.count(summary.scanned_files, "file")
    text = say("{findings} in {files}.", findings=found + rest, files=files)
    if summary.not_checked and not (confirmed or proved):
        text = say(" ").join([say("Incomplete: not everything was checked."), text])
    return text, say(" ").join(sentences)


def _verified(summary: Summary, say: Words) -> str:
    """Return how many findings have a verdict: the undecided have none, and of others nobody was asked."""
    there = counts(summary)
    every = sum(there.values())
    decided = every - there.get("undecided", 0) - there.get("heuristic", 0)
    if decided < every:
        text = "A model verified {decided} of {every} locations flagged by rules."
        return say(text, decided=f"{decided:,}", every=f"{every:,}")
    if not every:
        return say("A model was given no location to verify.")
    return say("A model verified the locations flagged by rules.")


def _discovery(discovery: DiscoveryOutcome, say: Words) -> str:
    numbers = {name: f"{number:,}" for name, number in discovery._asdict().items()}
    text = say(
        "It searched {searched} of {functions} functions for defects without a rule ({chosen} were chosen).", **numbers
    )
    if not discovery.lines_outside:
        return text
    outside = say("It did not search the {lines_outside} lines of code outside of functions.", **numbers)
    return say(" ").join([text, outside])


def _reading(reading: ReadingOutcome, say: Words) -> str:
    text = "It read {read} of {files} files whole, {share} of the lines, in {conversations}."
    numbers = {"read": f"{reading.read:,}", "files": f"{reading.files:,}", "share": lines_share(reading)}
    return say(text, **numbers, conversations=say.count(reading.groups, "conversation"))


def lines_share(reading: ReadingOutcome) -> str:
    """Return the share of the lines that were read, which is 100% only if all were."""
    return f"{100 * reading.lines_read // reading.lines}%" if reading.lines else "100%"


def warnings(summary: Summary, say: Words = ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield warnings to show beside the confirmed findings: a number, and its meaning."""
    yield from missed_canary(summary, say)
    for status, number in counts(summary).items():
        if status in ("review", "undecided", "heuristic"):
            word = capital(say(WORDS[status]))
            yield say("{word}: {findings}.", word=word, findings=say.count(number, "finding")), say(MEANS[status])


def missed_canary(summary: Summary, say: Words = ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield a warning if the canary was not confirmed."""
    canary = summary.canary
    if canary and canary.status not in REAL:
        status = say(WORDS.get(canary.status, canary.status))
        why = f" ({canary.reason})" if canary.reason else ""
        means = say("Its status is {status}{why}: do not trust the verdicts of this run.", status=status, why=why)
        yield say("The canary, a known bug, was not confirmed."), means


def verdict_text(issue: Issue) -> str:
    """Return the texts of the verdict on a finding, on one line; empty if there are none."""
    return " ".join(filter(None, (" ".join(getattr(issue.opinion, name).split()) for name in TEXT_TITLES)))


def model_usage_facts(run: Part, say: Words = ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield the usage of the model in words: its name, number of answers, cost and time."""
    model = run.get("model")
    if not model:
        return
    yield say("model group"), str(model.get("group"))
    yield say("answers"), _answers(model, say)
    yield say("tokens"), _tokens(model, say)
    yield say("cost"), cost_text(run.get("cost"), say)
    together = say("total response time {number} s", number=f"{model.get('seconds', 0):,.1f}")
    whole = f"{run['seconds']:,.1f} s; " if run.get("seconds") is not None else ""
    yield say("time"), whole + together
    if "sandbox" in run:
        tiers = ", ".join(map(str, run["sandbox"]))
        yield say("sandbox"), say("tier {tiers}", tiers=tiers) if tiers else say("no script was run")


def _answers(model: Part, say: Words) -> str:
    number, remembered = f"{model.get('calls', 0):,}", model.get("remembered")
    return say("{number}, {some} of them cached", number=number, some=f"{remembered:,}") if remembered else number


def _tokens(model: Part, say: Words) -> str:
    prompt, answered = f"{model.get('prompt', 0):,}", f"{model.get('completion', 0):,}"
    if cached := model.get("cached"):
        text = "{asked} in ({cached} of them cached), {answered} out"
        return say(text, asked=prompt, cached=f"{cached:,}", answered=answered)
    return say("{asked} in, {answered} out", asked=prompt, answered=answered)


def capital(word: str) -> str:
    """Capitalize a word, in languages that have capitals."""
    return word[:1].upper() + word[1:]
