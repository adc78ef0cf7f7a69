"""What every format says of verdicts: in which order they stand, what each means, and what asking for them took.

A finding is open until a model has dismissed it.  What is undecided or for review is said at the head of a report, so
that it never reads as safe.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jarvis_workers.sec.report.i18n import ENGLISH, Words
from jarvis_workers.sec.report_document import Issue, Summary

__all__ = [
    "MEANS",
    "OPEN",
    "TEXTS",
    "WORDS",
    "capital",
    "counts",
    "has_verdicts",
    "lead",
    "missed_canary",
    "model_usage_facts",
    "rank",
    "verdict_text",
    "warnings",
]

Part = Mapping[str, Any]

# In the order in which a person should look.
OPEN = ("confirmed", "review", "undecided", "heuristic")
WORDS = {
    "confirmed": "confirmed",
    "review": "to review",
    "undecided": "undecided",
    "heuristic": "not verified",
    "dismissed": "dismissed",
}
MEANS = {
    "confirmed": "A model explained how it can be exploited, and its quotes were found in the code.",
    "review": "Manual review needed: wrong evidence, differing answers, or instructions to the model in the code.",
    "undecided": "No verdict. This does not mean that the code is safe.",
    "heuristic": "Flagged by a rule, not verified by a model.",
    "dismissed": "A model explained why it is not a risk, and its quotes were found in the code.",
}
TEXTS = {
    "preconditions": "Preconditions",
    "trigger_path": "Trigger path",
    "consequences": "Consequences",
    "suggestions": "What to do",
}


def has_verdicts(summary: Summary) -> bool:
    """Tell whether a model was asked about any of the findings."""
    judged = set(summary.by_status or ()) - {"heuristic"}
    return bool(judged or summary.dismissed or summary.canary)


def rank(issue: Issue) -> int:
    """Return where findings of this status stand."""
    return OPEN.index(issue.status) if issue.status in OPEN else len(OPEN)


def counts(summary: Summary) -> dict[str, int]:
    """Return how many findings have each status, dismissed ones last; only those that there are."""
    statuses = summary.by_status or {}
    found = {status: statuses.get(status, 0) for status in OPEN} | {"dismissed": summary.dismissed or 0}
    return {name: number for name, number in found.items() if number}


def lead(summary: Summary, say: Words = ENGLISH) -> tuple[str, str]:
    """Say in a few words what the verdicts come to, and in how far that is to be trusted."""
    found = counts(summary)
    gone, confirmed = found.pop("dismissed", 0), found.pop("confirmed", 0)
    first = say.count(confirmed, "confirmed finding") if confirmed else say("No confirmed finding")
    rest = "".join(
        say(", {number} {word}", number=f"{number:,}", word=say(WORDS[one])) for one, number in found.items()
    )
    told = [say("A model verified the locations flagged by rules.")]
    if gone:
        told.append(say("It dismissed {number} of them.", number=f"{gone:,}"))
    if not summary.total:
        told.append(say("This does not prove that the code is free of defects."))
    files = say.count(summary.scanned_files, "file")
    said = say("{findings} in {files}.", findings=first + rest, files=files)
    if summary.not_checked and not confirmed:
        said = say(" ").join([say("Incomplete: not everything was checked."), said])
    return said, say(" ").join(told)


def warnings(summary: Summary, say: Words = ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield what must not be overlooked beside the confirmed findings: how many, and what that means."""
    yield from missed_canary(summary, say)
    for status, number in counts(summary).items():
        if status in ("review", "undecided", "heuristic"):
            word = capital(say(WORDS[status]))
            yield say("{word}: {findings}.", word=word, findings=say.count(number, "finding")), say(MEANS[status])


def missed_canary(summary: Summary, say: Words = ENGLISH) -> Iterator[tuple[str, str]]:
    """Say that a known bug was put among the candidates and not confirmed, where that is so."""
    canary = summary.canary
    if canary and canary.status != "confirmed":
        status = say(WORDS.get(canary.status, canary.status))
        why = f" ({canary.reason})" if canary.reason else ""
        means = say("It is {status}{why}: do not trust the verdicts of this run.", status=status, why=why)
        yield say("The known bug was missed."), means


def verdict_text(issue: Issue) -> str:
    """Return what a verdict says against a finding, on one line; nothing where it gives no words."""
    return " ".join(filter(None, (" ".join(getattr(issue, name).split()) for name in TEXTS)))


def model_usage_facts(run: Part, say: Words = ENGLISH) -> Iterator[tuple[str, str]]:
    """Yield what asking took, in words: who was asked, how often, and the money and the time."""
    model = run.get("model")
    if not model:
        return
    yield say("model group"), str(model.get("group"))
    yield say("answers"), _answers(model, say)
    yield say("tokens"), _tokens(model, say)
    yield say("cost"), say("{number} dollars", number=f"{run.get('cost') or 0:.4f}")
    together = say("total answer time {number} s", number=f"{model.get('seconds', 0):,.1f}")
    whole = f"{run['seconds']:,.1f} s; " if run.get("seconds") is not None else ""
    yield say("time"), whole + together
    if "sandbox" in run:
        tiers = ", ".join(map(str, run["sandbox"]))
        yield say("sandbox"), say("tier {tiers}", tiers=tiers) if tiers else say("no script was run")


def _answers(model: Part, say: Words) -> str:
    number, remembered = f"{model.get('calls', 0):,}", model.get("remembered")
    return say("{number}, {some} of them cached", number=number, some=f"{remembered:,}") if remembered else number


def _tokens(model: Part, say: Words) -> str:
    asked, answered = f"{model.get('prompt', 0):,}", f"{model.get('completion', 0):,}"
    if cached := model.get("cached"):
        text = "{asked} in ({cached} of them cached), {answered} out"
        return say(text, asked=asked, cached=f"{cached:,}", answered=answered)
    return say("{asked} in, {answered} out", asked=asked, answered=answered)


def capital(word: str) -> str:
    """Begin with a capital, where the language has any."""
    return word[:1].upper() + word[1:]
