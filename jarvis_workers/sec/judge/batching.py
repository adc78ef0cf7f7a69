"""Divide candidates into batches: one for each defect that several files share, then those of each file.

A batch belongs to one file and has at most the configured size.  Candidates that several files share are batched first
and verified once for all files: they have the same root cause, or the same rule in the same macro (its definition is
the evidence) or on a path through the same line of another file.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from jarvis_workers.sec.finding import FOUND_BY_MODEL, Candidate, defect_of, needs_oom
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.trace import read_trail

MACRO = re.compile(r"#\s*define\s+(\w+)")
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*!?\(")
NO_CALLS = frozenset(["if", "for", "while", "switch", "return", "sizeof", "match", "defined"])


class Shared(NamedTuple):
    """A rule or family of rules that fires in several files, and the macro or line that its hits have in common."""

    pattern: str
    place: str
    name: str


class Member(NamedTuple):
    """A candidate, reduced to the fields that planning needs.

    `cause` is its root cause, as others may share it.  Members with equal `defect` need one verdict.  A model reports
    it if it `is_reported`; it `needs_oom` if only a lack of memory triggers it.
    """

    gid: int
    file: str
    score: float
    shared: Shared | None
    cause: Shared
    defect: Hashable
    is_reported: bool = False
    needs_oom: bool = False


class CandidateBatch(NamedTuple):
    """Candidates for one job; `batch_index` counts a file's batches from 1, `shared` is what they have in common."""

    file: str
    batch_index: int
    gids: tuple[int, ...]
    score: float
    shared: str = ""


def place_of(gid: int, candidate: Candidate, severities: Mapping[str, str], *, is_reported: bool = False) -> Member:
    """Return the planning fields of a candidate; `severities` are the configured severities of rules."""
    score = candidate.score_under(severities)
    defect = defect_of(candidate)
    family, source, sink = defect.cause
    cause = Shared(family, f"{source} {sink}", source[0])
    is_reported = is_reported or candidate.pattern in FOUND_BY_MODEL
    return Member(gid, candidate.file, score, _shared(candidate), cause, defect.key, is_reported, needs_oom(candidate))


def worst(places: Iterable[Member], most: int) -> list[Member]:
    """Return the candidates that models report, and of the others the `most` with the highest score, ordered by gid.

    Those that only a lack of memory triggers come last, whatever their score.
    """
    members = list(places)
    others = (one for one in members if not one.is_reported)
    chosen = heapq.nsmallest(most, others, key=lambda one: (one.needs_oom, -one.score, one.gid))
    return sorted([*chosen, *(one for one in members if one.is_reported)], key=lambda one: one.gid)


def batches(places: Iterable[Member], limit: int) -> list[CandidateBatch]:
    """Assign every candidate to exactly one batch of at most `limit` defects, in order within a file."""
    locations = list(places)
    merged: list[tuple[Shared, list[Member]]] = []
    for shared_by in (_cause, _common):
        merged += merge_across(locations, limit, shared_by)
        gids = {place.gid for _, group in merged for place in group}
        locations = [place for place in locations if place.gid not in gids]
    by_file: defaultdict[str, list[Member]] = defaultdict(list)
    for place in locations:
        by_file[place.file].append(place)
    alone = ((None, group) for those in by_file.values() for group in _chunks(those, limit))
    return list(_numbered(chain(merged, alone)))


def merge_across(
    places: Iterable[Member], limit: int, shared_by: Callable[[Member], Shared | None]
) -> list[tuple[Shared, list[Member]]]:
    """Return groups of at most `limit` defects that several files share, each with what they have in common."""
    if limit == 1:
        return []
    by_shared: defaultdict[Shared, list[Member]] = defaultdict(list)
    for place in places:
        if shared := shared_by(place):
            by_shared[shared].append(place)
    across = [(shared, those) for shared, those in by_shared.items() if len({place.file for place in those}) > 1]
    return [(shared, group) for shared, those in across for group in _by_defect(those, limit)]


def is_plain(candidates: Sequence[Candidate]) -> bool:
    """Return whether candidates obviously share a condition: only one, or all have one rule, text and sink."""
    if len(candidates) == 1:
        return True
    kinds = {(kind_of(one), one.description) for one in candidates}
    return len(kinds) == 1 and next(iter(kinds))[0][1] is not None


def kind_of(candidate: Candidate) -> tuple[str, str | None]:
    """Return the rule and the sink of a candidate; the sink is None if it is ambiguous."""
    return candidate.pattern, _sink(candidate)


def _cause(place: Member) -> Shared:
    return place.cause


def _common(place: Member) -> Shared | None:
    return place.shared


def _numbered(groups: Iterable[tuple[Shared | None, Sequence[Member]]]) -> Iterator[CandidateBatch]:
    indexes: defaultdict[str, int] = defaultdict(int)
    for shared, group in groups:
        first = group[0]
        indexes[first.file] += 1
        score = max(place.score for place in group)
        gids = tuple(place.gid for place in group)
        yield CandidateBatch(first.file, indexes[first.file], gids, score, shared.name if shared else "")


def _by_defect(places: Sequence[Member], limit: int) -> Iterator[list[Member]]:
    """Divide candidates into groups of at most `limit` defects, in order; those of one defect stay together."""
    defects: defaultdict[Hashable, list[Member]] = defaultdict(list)
    for place in places:
        defects[place.defect].append(place)
    those = list(defects.values())
    for start in range(0, len(those), limit):
        yield sorted(chain(*those[start : start + limit]), key=lambda place: place.gid)


def _chunks(places: Sequence[Member], limit: int) -> Iterator[list[Member]]:
    return (list(places[start : start + limit]) for start in range(0, len(places), limit))


def _shared(candidate: Candidate) -> Shared | None:
    if macro := MACRO.match(candidate.evidence):
        return Shared(candidate.pattern, " ".join(candidate.evidence.split()), macro[1])
    steps = read_trail(candidate.trail) if candidate.trail else ()
    away = [step for step in steps if step.file != candidate.file]
    if not away:
        return None
    return Shared(candidate.pattern, f"{away[-1].line}:{away[-1].file}", away[-1].file)


def _sink(candidate: Candidate) -> str | None:
    """Return the only function in the evidence that the rule may refer to, or None if there are several."""
    called = set(CALL.findall(candidate.evidence)) - NO_CALLS
    rule = RULES_BY_PATTERN.get(candidate.pattern)
    sinks = called.intersection(rule.calls) if rule else set()
    names = sinks or called
    return names.pop() if len(names) == 1 else None
