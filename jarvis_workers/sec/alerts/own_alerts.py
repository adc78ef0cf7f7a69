"""Read the JSON report of a run of jarvis, such as one of another machine."""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.sec.alerts.alert import Alert, AlertReport, FlowStep, counted, natural, objects, shortened


def read_own(document: Mapping[str, Any]) -> AlertReport:
    """Return the findings of a report."""
    rows = objects(document["issues"])
    bad = len(document["issues"]) - len(rows)
    return AlertReport(counted([_alert(one) for one in rows]), {"no object": bad} if bad else {})


def _alert(one: Mapping[str, Any]) -> Alert:
    steps = objects(one.get("path"))
    return Alert(
        "jarvis",
        shortened(str(one.get("pattern"))),
        shortened(str(one.get("description"))),
        str(one.get("file") or ""),
        natural(one.get("line")),
        natural(one.get("column")),
        natural(one.get("cwe")),
        shortened(str(one.get("severity") or "")),
        shortened(one.get("evidence")),
        title=shortened(one.get("title")),
        steps=tuple(
            FlowStep(str(step.get("file")), natural(step.get("line")), shortened(step.get("note"))) for step in steps
        ),
    )
