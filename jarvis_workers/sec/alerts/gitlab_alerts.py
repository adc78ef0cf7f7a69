"""Read GitLab's SAST report (schema 14 and 15): vulnerabilities with a location and identifiers."""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.sec.alerts.alert import Alert, AlertReport, counted, cwe_in, natural, objects, shortened


def read_gitlab(document: Mapping[str, Any]) -> AlertReport:
    """Return the vulnerabilities of a report."""
    rows = objects(document["vulnerabilities"])
    bad = len(document["vulnerabilities"]) - len(rows)
    return AlertReport(counted([_alert(one, document) for one in rows]), {"no object": bad} if bad else {})


def _alert(one: Mapping[str, Any], document: Mapping[str, Any]) -> Alert:
    place = _mapping(one.get("location"))
    identifiers = objects(one.get("identifiers"))
    own = next((row for row in identifiers if str(row.get("type")).lower() not in ("cwe", "owasp")), {})
    cwe = next((cwe_in(f"CWE-{row.get('value')}") for row in identifiers if str(row.get("type")).lower() == "cwe"), 0)
    scanner = _mapping(one.get("scanner")) or _mapping(_mapping(document.get("scan")).get("scanner"))
    text = str(one.get("description") or one.get("message") or one.get("name") or "")
    return Alert(
        shortened(str(scanner.get("name") or scanner.get("id") or "unknown")),
        shortened(str(own.get("value") or own.get("name") or "unknown")),
        shortened(text),
        str(place.get("file") or ""),
        natural(place.get("start_line")),
        cwe=cwe,
        level=shortened(str(one.get("severity") or "").lower()),
        title=shortened(str(one.get("name") or "")),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
