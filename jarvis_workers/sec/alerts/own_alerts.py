"""Read the JSON report of a run of jarvis, such as one of another machine."""

from collections.abc import Mapping
from typing import Any

from jarvis_workers.sec.alerts.alert import Alert, AlertReport, FlowStep, counted, natural, shortened


def read_own(document: Mapping[str, Any]) -> AlertReport:
    """Return the findings of a report."""
    return AlertReport(counted([_alert(one) for one in document["issues"] if isinstance(one, dict)]), {})


def _alert(one: Mapping[str, Any]) -> Alert:
    steps = [step for step in one.get("path") or () if isinstance(step, dict)]
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
