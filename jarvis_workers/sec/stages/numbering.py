"""Number the candidates of a scan without a store, as `sec.store.candidates` does in SQL.

If a flow rule has fired on a line, the candidates of the rules that it supersedes get no gid there. The others are
numbered in the order of reports: suppressed ones last, then by file, line and rule.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import HIT_FIELDS, RULE_FIELDS, SUPERSEDES, Candidate, Numbered
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rules.families.flow import HARMLESS
from jarvis_workers.sec.triage_states import unadjusted_minimum
from jarvis_workers.store.values import Meaning, Spot


class PlacedSpot(NamedTuple):
    """A spot with its gid; a spot that is `superseded` by another rule has none."""

    spot: Spot
    gid: int | None
    superseded: str | None


def number_spots(spots: Sequence[Spot], meanings: Iterable[Meaning], least: float) -> list[Numbered]:
    """Return the candidates with their gids; a finding supersedes others if its confidence is at least `least`."""
    meanings_by_pattern = {meaning.pattern: meaning for meaning in meanings}
    placed = place_spots(spots, least)
    return [
        (one.gid, _candidate(one.spot, meanings_by_pattern.get(one.spot.pattern)))
        for one in placed
        if one.gid is not None
    ]


def place_spots(spots: Sequence[Spot], least: float) -> list[PlacedSpot]:
    """Return all spots in the order of their gids, followed by those without a gid."""
    by_place = _superseded(spots, unadjusted_minimum(least, 0.0))
    by_rule = {
        spot: spot.pattern if spot.pattern in HARMLESS else by_place.get((spot.path, spot.line, spot.pattern))
        for spot in spots
    }
    left = [spot for spot in spots if by_rule[spot] is None]
    left.sort(key=lambda spot: (spot.suppressed is not None, spot.path, spot.line, spot.pattern))
    numbered = [PlacedSpot(spot, gid, None) for gid, spot in enumerate(left, 1)]
    return numbered + [PlacedSpot(spot, None, by_rule[spot]) for spot in spots if by_rule[spot] is not None]


def _superseded(spots: Iterable[Spot], least: float) -> Mapping[tuple[bytes, int, str], str]:
    """Return the superseding rule by file, line and rule; if there are several, the last by name."""
    superseding: dict[tuple[bytes, int, str], str] = {}
    sure = (spot for spot in spots if spot.pattern in SUPERSEDES and spot.confidence >= least)
    for spot in sorted(sure, key=lambda spot: spot.pattern):
        superseding |= {(spot.path, spot.line, pattern): spot.pattern for pattern in SUPERSEDES[spot.pattern]}
    return superseding


def _candidate(spot: Spot, meaning: Meaning | None) -> Candidate:
    rule = meaning or RULES_BY_PATTERN[spot.pattern]
    facts = {name: getattr(spot, name) for name in HIT_FIELDS}
    return Candidate(file=shown(spot.path), **{name: getattr(rule, name) for name in RULE_FIELDS}, **facts)
