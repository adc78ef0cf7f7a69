"""Group the candidates of a file for verification: by function, or by root cause across functions."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

from jarvis_workers.sec.finding import FOUND_BY_MODEL, Place, RootCause, defect_of
from jarvis_workers.sec.judge.clustering import INVESTIGATED_AT_ONCE, VERIFIED_AT_ONCE, LocatedCandidate


def by_function(located: Sequence[LocatedCandidate], *, by_source: bool = False) -> list[list[LocatedCandidate]]:
    """Divide the candidates of a file: by root cause where that spans several functions, else by function.

    Outside of functions, candidates of the same rule and sink are together. Functions with few candidates, all of which
    models report, are together, since each of these has a claim of its own. With `by_source`, they are with candidates
    of rules whose root cause begins at a line that a model names as the cause, and whole functions are
    together, also those with candidates of rules.
    """
    causes: defaultdict[RootCause, set[Hashable]] = defaultdict(set)
    for one in located:
        causes[defect_of(one.candidate).cause].add(one.scope)
    groups: defaultdict[Hashable, list[LocatedCandidate]] = defaultdict(list)
    for one in located:
        cause = defect_of(one.candidate).cause
        groups[cause if len(causes[cause]) > 1 else one.scope].append(one)
    return list(_packed(_joined(groups.values()), every=True) if by_source else _packed(groups.values()))


def _joined(groups: Iterable[list[LocatedCandidate]]) -> list[list[LocatedCandidate]]:
    """Join what models report with candidates of rules that begin at its source, if one conversation verifies both."""
    reported, result = list[list[LocatedCandidate]](), list[list[LocatedCandidate]]()
    for group in groups:
        by_model = all(one.candidate.pattern in FOUND_BY_MODEL for one in group)
        (reported if by_model else result).append(group)
    for group in reported:
        fitting = (one for one in result if _sources(one) & _sources(group) and _are_few([*one, *group]))
        if other := next(fitting, None):
            other += group
        else:
            result.append(group)
    return result


def _sources(group: Sequence[LocatedCandidate]) -> set[Place]:
    return {defect_of(one.candidate).cause.source for one in group}


def _are_few(group: Sequence[LocatedCandidate]) -> bool:
    return len({defect_of(one.candidate).key for one in group}) <= INVESTIGATED_AT_ONCE


def _packed(groups: Iterable[list[LocatedCandidate]], *, every: bool = False) -> Iterator[list[LocatedCandidate]]:
    """Join groups of what models report, or `every` group, as far as one conversation verifies all of them."""
    open_pack: list[LocatedCandidate] = []
    for group in groups:
        if not every and any(one.candidate.pattern not in FOUND_BY_MODEL for one in group):
            yield group
        elif (every and _are_few([*open_pack, *group])) or len(open_pack) + len(group) <= VERIFIED_AT_ONCE:
            open_pack += group
        else:
            yield from [open_pack] if open_pack else []
            open_pack = group
    if open_pack:
        yield open_pack
