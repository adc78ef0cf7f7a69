"""What the verdicts of a run say about its candidates, for the totals of a report."""

from collections.abc import Container, Mapping
from types import MappingProxyType
from typing import NamedTuple


class VerdictIndex(NamedTuple):
    """Statuses of candidates and severities of rated findings, by gid.

    `candidates` holds the candidates that a model is asked about, None for all.
    """

    statuses: Mapping[int, str]
    severities: Mapping[int, str] = MappingProxyType({})
    candidates: Container[int] | None = None

    def status(self, gid: int) -> str:
        """Return the status of a candidate: undecided without a verdict, heuristic if no model was to be asked."""
        missing = "undecided" if self.candidates is None or gid in self.candidates else "heuristic"
        return self.statuses.get(gid, missing)
