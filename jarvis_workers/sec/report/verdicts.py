"""What every format says of verdicts: in which order they stand, what each means, and what asking for them took.

A finding is open until a model has dismissed it.  What is undecided or for review is said at the head of a report, so
that it never reads as safe.
"""

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = [
    "MEANS",
    "OPEN",
    "TEXTS",
    "WORDS",
    "counted",
    "counts",
    "has_verdicts",
    "lead",
    "missed_canary",
    "rank",
    "said_against",
    "took",
    "warnings",
]

Body = Mapping[str, Any]

# In the order in which a person should look.
OPEN = ("confirmed", "review", "undecided", "heuristic")
WORDS = {
    "confirmed": "confirmed",
    "review": "to review",
    "undecided": "undecided",
    "heuristic": "not looked at",
    "dismissed": "dismissed",
}
MEANS = {
    "confirmed": "A model says how it is a risk, and what it quotes stands in the code.",
    "review": "A person has to decide: evidence does not hold, answers differ, or the code speaks to the model.",
    "undecided": "There is no verdict, which is not the same as safe.",
    "heuristic": "A rule fired, and no model has looked at it.",
    "dismissed": "A model says why it is no risk, and what it quotes stands in the code.",
}
TEXTS = {
    "preconditions": "Preconditions",
    "trigger_path": "Trigger path",
    "consequences": "Consequences",
    "suggestions": "What to do",
}


def has_verdicts(summary: Body) -> bool:
    """Tell whether a model was asked about any of the findings."""
    judged = set(summary.get("by_status", ())) - {"heuristic"}
    return bool(judged or summary.get("dismissed") or summary.get("canary"))


def rank(issue: Body) -> int:
    """Return where findings of this status stand."""
    return OPEN.index(issue["status"]) if issue["status"] in OPEN else len(OPEN)


def counts(summary: Body) -> dict[str, int]:
    """Return how many findings have each status, dismissed ones last; only those that there are."""
    found = {status: summary.get("by_status", {}).get(status, 0) for status in OPEN}
    return {name: number for name, number in (*found.items(), ("dismissed", summary.get("dismissed", 0))) if number}


def lead(summary: Body) -> tuple[str, str]:
    """Say in a few words what the verdicts come to, and in how far that is to be trusted."""
    found = counts(summary)
    gone, files = found.pop("dismissed", 0), counted(summary["scanned_files"], "file")
    confirmed = found.pop("confirmed", 0)
    first = counted(confirmed, "confirmed finding") if confirmed else "No confirmed finding"
    rest = "".join(f", {number:,} {WORDS[status]}" for status, number in found.items())
    incomplete = "Incomplete: not everything was checked. " if summary["not_checked"] and not confirmed else ""
    dismissed = f" It has dismissed {gone:,} of them." if gone else ""
    proof = "" if summary["total"] else " That is not a proof that there is no fault."
    return (
        f"{incomplete}{first}{rest} in {files}.",
        f"A model was asked about places where rules fired.{dismissed}{proof}",
    )


def warnings(summary: Body) -> Iterator[tuple[str, str]]:
    """Yield what must not be overlooked beside the confirmed findings: how many, and what that means."""
    yield from missed_canary(summary)
    for status, number in counts(summary).items():
        if status in ("review", "undecided", "heuristic"):
            yield f"{WORDS[status].capitalize()}: {counted(number, 'finding')}.", MEANS[status]


def missed_canary(summary: Body) -> Iterator[tuple[str, str]]:
    """Say that a known bug was put among the candidates and not confirmed, where that is so."""
    canary = summary.get("canary")
    if canary and canary["status"] != "confirmed":
        status = WORDS.get(canary["status"], canary["status"])
        why = f" ({canary['reason']})" if canary.get("reason") else ""
        yield "The known bug was missed.", f"It is {status}{why}: do not trust the verdicts of this run."


def said_against(issue: Body) -> str:
    """Return what a verdict says against a finding, on one line; nothing where it gives no words."""
    return " ".join(" ".join(issue.get(name, "").split()) for name in TEXTS if issue.get(name))


def took(run: Body) -> Iterator[tuple[str, str]]:
    """Yield what asking took, in words: who was asked, how often, and the money and the time."""
    model = run.get("model")
    if not model:
        return
    yield "model group", str(model.get("group"))
    remembered = f", {model['remembered']:,} of them remembered" if model.get("remembered") else ""
    yield "answers", f"{model.get('calls', 0):,}{remembered}"
    cached = f" ({model['cached']:,} of them cached)" if model.get("cached") else ""
    yield "tokens", f"{model.get('prompt', 0):,} in{cached}, {model.get('completion', 0):,} out"
    yield "cost", f"{run.get('cost') or 0:.4f} dollars"
    whole = f"{run['seconds']:,.1f} s; " if run.get("seconds") is not None else ""
    yield "time", f"{whole}answers together {model.get('seconds', 0):,.1f} s"
    if "sandbox" in run:
        tiers = ", ".join(map(str, run["sandbox"]))
        yield "sandbox", f"tier {tiers}" if tiers else "no script was run"


def counted(number: int, noun: str) -> str:
    """Say how many there are."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
