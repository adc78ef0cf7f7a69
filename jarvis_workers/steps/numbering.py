"""Number the candidates of a scan without a store, as `store.candidates` does in SQL.

Where a flow rule has fired, the rules that it supersedes get no number on that line; what is left is numbered in the
order of reports: suppressed ones last, then by file, line and rule.
"""

from collections.abc import Iterable, Iterator, Sequence

from jarvis_workers.paths import shown
from jarvis_workers.sec.finding import SUPERSEDES, Found, Numbered
from jarvis_workers.sec.rules import RULES_BY_PATTERN
from jarvis_workers.sec.rules.flow import HARMLESS
from jarvis_workers.sec.triage import stated_at_least
from jarvis_workers.store.values import Meaning, Spot

__all__ = ["number_spots"]


def number_spots(spots: Sequence[Spot], meanings: Iterable[Meaning], least: float) -> list[Numbered]:
    """Return the candidates with their gids; a finding supersedes others from the confidence `least` on."""
    known = {meaning.pattern: meaning for meaning in meanings}
    silent = set(_superseded(spots, stated_at_least(least, 0.0)))
    left = [
        spot for spot in spots if spot.pattern not in HARMLESS and (spot.path, spot.line, spot.pattern) not in silent
    ]
    left.sort(key=lambda spot: (spot.suppressed is not None, spot.path, spot.line, spot.pattern))
    return [(gid, _found(spot, known.get(spot.pattern))) for gid, spot in enumerate(left, 1)]


def _superseded(spots: Iterable[Spot], least: float) -> Iterator[tuple[bytes, int, str]]:
    for spot in spots:
        if spot.pattern in SUPERSEDES and spot.confidence >= least:
            yield from ((spot.path, spot.line, pattern) for pattern in SUPERSEDES[spot.pattern])


def _found(spot: Spot, meaning: Meaning | None) -> Found:
    rule = meaning or RULES_BY_PATTERN[spot.pattern]
    return Found(
        language=rule.language,
        category=rule.category,
        pattern=spot.pattern,
        file=shown(spot.path),
        line=spot.line,
        evidence=spot.evidence,
        description=rule.description,
        suggestion=rule.suggestion,
        confidence=spot.confidence,
        cwe=rule.cwe,
        suppressed=spot.suppressed,
        trail=spot.trail,
    )
