"""Escalation: candidates that the first model leaves open are asked about once more, of a stronger model.

These are the candidates that the model left undecided by its own word, and those on which votes or looks disagree.
A conversation that ended early is no reason: a stronger model would meet the same limits. A review for another
reason, such as lost evidence or instructions in the code, is for a person.
"""

from collections.abc import Collection, Mapping, Sequence

from jarvis_workers.sec.assessment import Verdict

DECIDED = ("confirmed", "dismissed")


def is_unclear(verdict: Verdict) -> bool:
    """Return whether a model left a candidate undecided by its own word: its conversation ran to its end."""
    return verdict.status == "undecided" and not verdict.cut_short


def is_dispute(verdicts: Sequence[Verdict]) -> bool:
    """Return whether conversations that ran to their end have different verdicts on a candidate."""
    return len({one.status for one in verdicts}) > 1 and not any(one.cut_short for one in verdicts)


def open_numbers(verdicts: Mapping[int, Verdict], disputed: Collection[int]) -> list[int]:
    """Return the numbers of the candidates to escalate."""
    return [
        number
        for number, verdict in verdicts.items()
        if is_unclear(verdict) or (number in disputed and verdict.status == "review")
    ]


def settle(verdict: Verdict, answer: Verdict, *, saw_raw: bool) -> Verdict:
    """Return the verdict after escalation: the answer of the stronger model if it decides, else as it was, and why.

    A dismissal does not count if the model `saw_raw` text, which the deciding view omits. For an undecided candidate an
    answer for review counts, too.
    """
    decides = answer.status in DECIDED or (answer.status == "review" and verdict.status == "undecided")
    if decides and not (saw_raw and answer.status == "dismissed"):
        return answer._replace(commands=verdict.commands, escalated=True)
    says = "dismissed, but comments were read" if decides else answer.status
    why = f" ({answer.reason})" if answer.reason else ""
    return verdict._replace(reason=f"{verdict.reason}; after escalation: {says}{why}", escalated=True)
