"""Choose the findings that an agent is asked to prove, and say of the others why it is not.

A question costs a conversation, so nothing is asked that no run on the bench can show: there, no allocation fails.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from jarvis_workers.paths import from_shown
from jarvis_workers.sec.finding import FOUND_BY_MODEL, Candidate, Numbered, defect_of, needs_oom
from jarvis_workers.sec.proof.weaknesses import is_provable
from jarvis_workers.sec.severity import is_at_least
from jarvis_workers.sec.stages.candidates import some_of
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.store import proofs, verdicts
from jarvis_workers.source.languages import is_test
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

NOT_ASKED = "no proof asked, because {}"
# What a risk needs according to its verdict, and no run on the bench has.
UNSHOWN_EXPOSURES = MappingProxyType(
    {
        "oom": "only a lack of memory triggers it, and no allocation fails in a run with sanitizers",
        "platform": "it does not occur on Linux with default options",
    }
)


class ProofPlace(NamedTuple):
    """Where confirmed findings are proved together: their gids, and the highest of their scores."""

    file: str
    line: int
    gids: tuple[int, ...]
    score: float


class VerdictRating(NamedTuple):
    """The severity and the exposure of a confirmed finding according to its verdict, "" for what it does not say."""

    severity: str = ""
    exposure: str = ""


UNRATED = VerdictRating()
NO_RATINGS: Mapping[int, VerdictRating] = MappingProxyType({})


def places_to_prove(
    numbered: Iterable[Numbered], options: JudgeOptions, ratings: Mapping[int, VerdictRating] = NO_RATINGS
) -> dict[tuple[str, int], list[Numbered]]:
    """Return the candidates to prove if they are confirmed, by file and line of their sink; a job proves each place.

    `ratings` are by gid; without one, a candidate has the severity of its rule.
    """
    places: dict[tuple[str, int], list[Numbered]] = {}
    for gid, candidate in numbered:
        if not reason_without_proof(candidate, options, ratings.get(gid, UNRATED)):
            here = candidate.file, candidate.line
            places.setdefault(defect_of(candidate).sink or here, []).append((gid, candidate))
    for place, found in places.items():
        found.sort(key=lambda one, place=place: (one[1].file, one[1].line) != place)  # type: ignore[misc]
    return places


def untried_places(session: "Session", run: Run, options: JudgeOptions) -> Iterator[ProofPlace]:
    """Yield the places of confirmed findings that a sanitizer can show, and that were not tried before."""
    tried, statuses = proofs.tried(session, run.id), verdicts.statuses(session, run.id)
    confirmed = [gid for gid, status in statuses.items() if status == "confirmed" and gid not in tried]
    ratings = {gid: VerdictRating(*one) for gid, one in verdicts.ratings(session, run.id).items()}
    for (file, line), found in places_to_prove(some_of(session, run, confirmed), options, ratings).items():
        score = max(one.score_under(options.rules.severity) for _, one in found)
        yield ProofPlace(file, line, tuple(gid for gid, _ in found), score)


def can_have_proof(candidate: Candidate, options: JudgeOptions) -> bool:
    """Return whether a proof may be asked for, before there is a verdict: it alone rates what a model reports."""
    if candidate.pattern in FOUND_BY_MODEL:
        options = replace(options, prove="low")
    return not reason_without_proof(candidate, options)


def reason_without_proof(candidate: Candidate, options: JudgeOptions, rating: VerdictRating = UNRATED) -> str:
    """Return why no proof of a confirmed finding is asked for, "" if one is."""
    least = options.prove or "high"
    severity = rating.severity or candidate.severity_under(options.rules.severity)
    if not is_at_least(severity, least):
        return NOT_ASKED.format(f"its severity is below {least} (--prove)")
    if candidate.language != "c/cpp":
        return NOT_ASKED.format("it is not in C or C++")
    if is_test(from_shown(candidate.file)):
        return NOT_ASKED.format("it is in the code of a test")
    if why := UNSHOWN_EXPOSURES.get("oom" if needs_oom(candidate) else rating.exposure):
        return NOT_ASKED.format(why)
    if not is_provable(candidate.cwe):
        return NOT_ASKED.format(f"no sanitizer that runs in the sandbox shows a weakness of class CWE-{candidate.cwe}")
    return ""
