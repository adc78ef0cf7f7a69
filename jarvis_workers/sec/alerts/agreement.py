"""How likely a finding is by who reports it: an analyzer alone, several, or a rule of jarvis too.

The numbers are measured with gcc, clang-tidy and cppcheck on programs with known defects (docs/witnesses.md): of three
sets the lowest share of right findings, rounded down. Other tools are not measured: they change nothing.
"""

import re
from collections.abc import Iterable

from jarvis_workers.sec.finding import FOREIGN, Candidate, analyzer_of

MEASURED = re.compile(r"gcc|g\+\+|gnu|clang|cppcheck")
# Checks of clang-tidy that follow no path, as those of clang's analyzer do: names of functions, forms of expressions.
CHECK, API = re.compile(r"clang[^:]*:(?:(?!clang-diagnostic-)[^.]*$|.*insecureAPI\.)"), "insecureAPI."
# By the number of analyzers that report a defect, at most two. What no rule and no analyzer follows is not listed in a
# scan, but for the functions that nobody should call.
WITH_RULE, WITHOUT_RULE, NOT_SCANNED, LISTED = (0.0, 0.8, 0.85), (0.2, 0.4, 0.5), (0.4, 0.55, 0.8), 0.4


def is_measured(pattern: str) -> bool:
    """Return whether it was measured how often the analyzer of a rule is right."""
    return FOREIGN in pattern and MEASURED.search(analyzer_of(pattern)) is not None


def confidence_of(standing: Candidate, witnesses: Iterable[Candidate], *, scanned: bool) -> float:
    """Return the confidence of a finding with its witnesses; `scanned` tells that the rules were looking, too."""
    reports = [one for one in (standing, *witnesses) if is_measured(one.pattern)]
    analyzers = {analyzer_of(one.pattern) for one in reports if one.cwe and not CHECK.match(one.pattern)}
    number = min(2, len(analyzers))
    if FOREIGN not in standing.pattern:
        return max(standing.confidence, WITH_RULE[number])
    table = WITHOUT_RULE if scanned else NOT_SCANNED
    if is_measured(standing.pattern):
        return max(table[number], LISTED if API in standing.pattern and standing.cwe else 0.0)
    return max(standing.confidence, table[number]) if reports else standing.confidence
