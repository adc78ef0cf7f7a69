"""Baselines: what was known before, from a report of ours or from a run over another revision.

Findings are known by their fingerprints, each as often as it was found.  A report is a file from somewhere: it is
read within bounds, and what is not in it as we write it is refused.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.sec.finding import fingerprint_of
from jarvis_workers.store import candidates
from jarvis_workers.store.engine import Store
from jarvis_workers.store.runs import Run

REPORT_BYTES = 200_000_000
FINGERPRINT = re.compile(r"[0-9a-f]{16}")
SARIF_FINGERPRINT = "jarvis/v1"
REPORT_SUFFIXES = (".json", ".sarif")


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each fingerprint was known; `facts` say in reports what the findings were compared with."""

    known: Mapping[str, int]
    facts: Mapping[str, Any] = field(default_factory=dict)


def is_report(named: str) -> bool:
    """Tell a report file from a revision: it is there and no directory, or it ends like one."""
    is_there = os.access(named, os.F_OK) and not Path(named).is_dir()
    return is_there or named.lower().endswith(REPORT_SUFFIXES)


def read_report(named: str) -> Baseline:
    """Read a JSON or SARIF report of ours. Raises UsageError."""
    where = f"--baseline {plain(named)}"
    said = _parsed(_content(named, where), where)
    prints = _of_json(said, where) if "issues" in said else _of_sarif(said, where)
    if prints is None:
        raise UsageError(f"{where}: is not a JSON or SARIF report of jarvis")
    summary = said.get("summary")
    not_listed = summary.get("not_listed") if isinstance(summary, dict) else None
    return Baseline(Counter(prints), {"what": plain(named)} | ({"not_listed": not_listed} if not_listed else {}))


def of_run(store: Store, run: Run, what: str, renamed: Mapping[bytes, bytes]) -> Baseline:
    """Return what a run has found; `renamed` gives the new paths of files by their old ones."""
    paths = {shown(old): shown(new) for old, new in renamed.items()}
    known = Counter[str]()
    with store.read() as session:
        for _, found in candidates.read(session, run.id):
            if found.suppressed is None:
                known[fingerprint_of(paths.get(found.file, found.file), found.pattern, found.evidence)] += 1
    return Baseline(known, {"what": what} | ({"state": run.state} if run.state != "done" else {}))


def _content(named: str, where: str) -> bytes:
    try:
        with Path(named).open("rb") as stream:
            content = stream.read(REPORT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{where}: cannot be read: {error.strerror}") from error
    if len(content) > REPORT_BYTES:
        raise UsageError(f"{where}: is larger than {REPORT_BYTES:,} bytes; no report of jarvis is")
    return content


def _parsed(content: bytes, where: str) -> dict[str, Any]:
    try:
        said = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: cannot be read as JSON; give a JSON or SARIF report of jarvis") from error
    if not isinstance(said, dict):
        raise UsageError(f"{where}: is not a JSON or SARIF report of jarvis")
    return said


def _of_json(said: Mapping[str, Any], where: str) -> list[str] | None:
    issues = said["issues"]
    _refuse_partial(said, where)
    if not isinstance(issues, list):
        return None
    return _checked([issue.get("fingerprint") if isinstance(issue, dict) else None for issue in issues])


def _refuse_partial(said: Mapping[str, Any], where: str) -> None:
    run = said.get("run")
    if isinstance(run, dict) and "baseline" in run:
        raise UsageError(f"{where}: lists only what was new to its own baseline; give a report of a whole scan")


def _of_sarif(said: Mapping[str, Any], where: str) -> list[str] | None:
    """Results carry the fingerprint and, behind a colon, which of its kind they are."""
    runs = said.get("runs")
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        return None
    for run in runs:
        _refuse_partial(run["properties"] if isinstance(run.get("properties"), dict) else {}, where)
    listed = [run.get("results") for run in runs]
    if not all(isinstance(results, list) for results in listed):
        return None
    prints = []
    for result in (result for results in listed for result in results):
        if not isinstance(result, dict) or not isinstance(result.get("partialFingerprints"), dict):
            return None
        if not result.get("suppressions"):
            prints.append(str(result["partialFingerprints"].get(SARIF_FINGERPRINT)).partition(":")[0])
    return _checked(prints)


def _checked(prints: Sequence[object]) -> list[str] | None:
    good = [one for one in prints if isinstance(one, str) and FINGERPRINT.fullmatch(one)]
    return good if len(good) == len(prints) else None
