"""Divide candidates into batches for the clustering model, and find clusters that need no model.

A batch belongs to one file and has at most the configured size.  Candidates that several files share are batched first
and verified once for all files: they have the same rule, and are in the same macro (its definition is the evidence) or
on a path through the same line of another file.
"""

import heapq
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from jarvis_workers.sec.finding import Candidate, score_of
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.trace import read_trail

MACRO = re.compile(r"#\s*define\s+(\w+)")
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*!?\(")
NO_CALLS = frozenset(["if", "for", "while", "switch", "return", "sizeof", "match", "defined"])


class Shared(NamedTuple):
    """A rule that fires in several files, and the macro or the line of another file that its hits have in common."""

    pattern: str
    place: str
    name: str


class Member(NamedTuple):
    """A candidate, reduced to the fields that planning needs."""

    gid: int
    file: str
    score: float
    shared: Shared | None = None


class CandidateBatch(NamedTuple):
    """Candidates for one job; `batch_index` counts a file's batches from 1, `shared` is what they have in common."""

    file: str
    batch_index: int
    gids: tuple[int, ...]
    score: float
    shared: str = ""


def place_of(gid: int, candidate: Candidate, severities: Mapping[str, str]) -> Member:
    """Return the planning fields of a candidate; `severities` are the configured severities of rules."""
    score = score_of(candidate.confidence, severities.get(candidate.pattern))
    return Member(gid, candidate.file, score, _shared(candidate))


def worst(places: Iterable[Member], most: int) -> list[Member]:
    """Return the `most` candidates with the highest score, ordered by gid."""
    return sorted(heapq.nsmallest(most, places, key=lambda place: (-place.score, place.gid)), key=lambda one: one.gid)


def batches(places: Iterable[Member], limit: int) -> list[CandidateBatch]:
    """Assign every candidate to exactly one batch of at most `limit` candidates, in order within a file."""
    locations = list(places)
    merged = merge_across(locations, limit)
    shared_gids = {place.gid for group in merged for place in group}
    by_file: defaultdict[str, list[Member]] = defaultdict(list)
    for place in locations:
        if place.gid not in shared_gids:
            by_file[place.file].append(place)
    groups = chain(merged, *(_chunks(those, limit) for those in by_file.values()))
    return list(_numbered(groups, shared_gids))


def merge_across(places: Iterable[Member], limit: int) -> list[list[Member]]:
    """Return groups of at most `limit` candidates that share a wrapper or macro across several files."""
    if limit == 1:
        return []
    by_shared: defaultdict[Shared, list[Member]] = defaultdict(list)
    for place in places:
        if place.shared:
            by_shared[place.shared].append(place)
    across = [those for those in by_shared.values() if len({place.file for place in those}) > 1]
    return [group for those in across for group in _chunks(those, limit)]


def is_plain(candidates: Sequence[Candidate]) -> bool:
    """Return whether candidates obviously share a condition: only one, or all have one rule, text and sink."""
    if len(candidates) == 1:
        return True
    kinds = {(kind_of(one), one.description) for one in candidates}
    return len(kinds) == 1 and next(iter(kinds))[0][1] is not None


def kind_of(candidate: Candidate) -> tuple[str, str | None]:
    """Return the rule and the sink of a candidate; the sink is None if it is ambiguous."""
    return candidate.pattern, _sink(candidate)


def _numbered(groups: Iterable[Sequence[Member]], merged: Collection[int]) -> Iterator[CandidateBatch]:
    indexes: defaultdict[str, int] = defaultdict(int)
    for group in groups:
        first = group[0]
        indexes[first.file] += 1
        shared = first.shared.name if first.shared and first.gid in merged else ""
        score = max(place.score for place in group)
        yield CandidateBatch(first.file, indexes[first.file], tuple(place.gid for place in group), score, shared)


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
