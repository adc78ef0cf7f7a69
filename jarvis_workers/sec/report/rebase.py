"""Give the files of a report the names that they have from a directory above the scanned root."""

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["below"]

Part = Mapping[str, Any]
PLACED = ("not_checked", "unused_suppressions", "suppressions_without_reason")


def below(prefix: str, body: Part) -> Part:
    """Return a body whose files have `prefix` and a slash before their names; ids and fingerprints stay."""
    if not prefix:
        return body
    lists = {
        name: [_issue(prefix, one) for one in body[name]]
        for name in ("issues", "dismissed", "suppressed")
        if name in body
    }
    summary = body["summary"]
    placed = {name: _placed(prefix, summary[name]) for name in PLACED if name in summary}
    excluded = [{**tree, "path": f"{prefix}/{tree['path']}"} for tree in summary.get("excluded", ())]
    riskiest = [f"{prefix}/{file}" for file in summary.get("top_risk_files", ())]
    return {**body, **lists, "summary": {**summary, **placed, "excluded": excluded, "top_risk_files": riskiest}}


def _issue(prefix: str, issue: Part) -> Part:
    inner = {name: _placed(prefix, issue[name]) for name in ("path", "quotes") if issue.get(name)}
    return {**issue, **inner, "file": f"{prefix}/{issue['file']}"}


def _placed(prefix: str, places: Iterable[Part]) -> list[Part]:
    return [{**place, "file": f"{prefix}/{place['file']}"} for place in places]
