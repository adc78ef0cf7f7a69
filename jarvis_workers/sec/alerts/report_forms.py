"""Recognize the form of a report by its content, and read it."""

import codecs
import json
from typing import Any

from jarvis_workers.sec.alerts.alert import AlertReport, UnreadableReport, objects
from jarvis_workers.sec.alerts.compiler_logs import looks_like_log, read_log
from jarvis_workers.sec.alerts.cppcheck_alerts import read_cppcheck
from jarvis_workers.sec.alerts.gitlab_alerts import read_gitlab
from jarvis_workers.sec.alerts.known_weaknesses import with_weakness
from jarvis_workers.sec.alerts.own_alerts import read_own
from jarvis_workers.sec.alerts.sarif_alerts import read_sarif

# A document of this size takes some ten times as much memory.
BYTES_MAX = 256_000_000
# Of all reports of a run; this many take some two minutes of CPU.
ALERTS_MAX = 250_000
TOO_LARGE = f"it has more than {BYTES_MAX // 1_000_000} MB: export it by rule or directory"
TOO_MANY = f"with it there are more than {ALERTS_MAX:,} findings: export it by rule or directory"
FORMS = "SARIF 2.1.0, cppcheck XML, GitLab SAST, jarvis JSON, or what gcc and clang-tidy print"
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def read_alerts(content: bytes) -> AlertReport:
    """Return the alerts of a report of any known form, with their weaknesses. Raises UnreadableReport."""
    report = _read(content)
    return report._replace(alerts=tuple(map(with_weakness, report.alerts)))


def _read(content: bytes) -> AlertReport:
    if len(content) > BYTES_MAX:
        raise UnreadableReport(TOO_LARGE)
    text = _decoded(content)
    start = text.lstrip()[:1]
    if start == "<":
        return read_cppcheck(content)
    if start in ("{", "["):
        return _read_json(text)
    if looks_like_log(text):
        return read_log(text)
    raise UnreadableReport(f"it is none of {FORMS}" if text.strip() else "it is empty")


def _decoded(content: bytes) -> str:
    for mark, encoding in BOMS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    return content.decode("utf-8", "replace")


def _read_json(text: str) -> AlertReport:
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableReport(f"the JSON is damaged: {error}") from None
    if isinstance(document, dict):
        if isinstance(document.get("runs"), list):
            return read_sarif(document)
        if _lists(document, "vulnerabilities", "location"):
            return read_gitlab(document)
        if _lists(document, "issues", "pattern"):
            return read_own(document)
    raise UnreadableReport(f"it is none of {FORMS}")


def _lists(document: dict[str, Any], name: str, key: str) -> bool:
    """Return whether a document has a list of objects with a key, or an empty one and says of which version it is."""
    rows = document.get(name)
    if not isinstance(rows, list):
        return False
    return any(key in row for row in objects(rows)) or (not rows and not {"version", "run"}.isdisjoint(document))
