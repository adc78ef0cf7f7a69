"""What the gates find in the sources without a patch, computed once for all attempts on these sources.

The results belong to a process: another one computes them again, with the same outcome.
"""

from collections.abc import Callable, Hashable
from functools import lru_cache

from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.sandbox.limits import Tier
from jarvis_workers.sec.fix.rule_sites import RuleSites

# Sources differ by the patches before a finding; those of a run without patches are shared by most findings.
SOURCES_MAX = 16


class UnpatchedResults:
    """The outcomes of commands, and the findings of rules.  Concurrent attempts may compute the same result twice."""

    def __init__(self) -> None:
        self._outcomes = dict[str, ToolOutcome]()
        self._sites = dict[Hashable, RuleSites]()

    def outcome_of(self, command: str, run: Callable[[], ToolOutcome]) -> ToolOutcome:
        """Return the outcome of a command; `run` computes it."""
        outcome = self._outcomes.get(command) or run()
        if outcome.state != "error":
            self._outcomes[command] = outcome
        return outcome

    def sites_of(self, request: Hashable) -> RuleSites | None:
        """Return the findings of a scan, None if it has not been made."""
        return self._sites.get(request)

    def add_sites(self, request: Hashable, sites: RuleSites) -> None:
        """Add the findings of a scan, unless it failed."""
        if not sites.problem:
            self._sites[request] = sites


@lru_cache(SOURCES_MAX)
def shared_results(run_id: str, sources: tuple[str, ...], tier: Tier) -> UnpatchedResults:
    """Return the results on the sources of a run: the blobs of their archive, and of the patches before a finding."""
    return UnpatchedResults()
