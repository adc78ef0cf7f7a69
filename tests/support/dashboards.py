"""Walk the dashboards: ask a Prometheus for the query of every panel."""

import json
import math
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

DASHBOARDS = Path(__file__).parents[2] / "helm/jarvis/files/dashboards"
# Of Grafana, for queries over short runs.
INTERVALS = {"$__rate_interval": "5m", "$__interval": "15s", "$__range": "1h"}


class PanelQuery(NamedTuple):
    """A query of a panel, with Grafana's variables replaced."""

    dashboard: str
    panel: str
    query: str


def panel_queries(directory: Path = DASHBOARDS) -> Iterator[PanelQuery]:
    """Yield the queries of all panels of all dashboards."""
    for file in sorted(directory.glob("*.json")):
        board = json.loads(file.read_text())
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                query = target["expr"]
                for variable, value in INTERVALS.items():
                    query = query.replace(variable, value)
                assert "$" not in query, f"{file.name}: {panel['title']}: a variable without a value: {query}"
                yield PanelQuery(file.stem, panel["title"], query)


def without_data(prometheus: str, directory: Path = DASHBOARDS) -> list[PanelQuery]:
    """Return the queries for which the Prometheus at this address has no number, in order."""
    queries = list(panel_queries(directory))
    assert queries, f"{directory}: no dashboards"
    return [one for one in queries if not _has_number(ask(prometheus, one.query))]


def ask(prometheus: str, query: str) -> list[dict[str, Any]]:
    """Return the samples of a query now. Raises HTTPError for an invalid query."""
    address = f"{prometheus}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    with urllib.request.urlopen(address, timeout=60) as answer:
        found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return found


def _has_number(samples: list[dict[str, Any]]) -> bool:
    return any(not math.isnan(float(sample["value"][1])) for sample in samples)
