"""Baselines: earlier findings, from a report file or from a run over another revision.

Findings are counted by fingerprint. A report file is untrusted: its size is bounded, and a malformed file is rejected.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, read_regular, shown
from jarvis_workers.sec.finding import fingerprint_of, pattern_of
from jarvis_workers.sec.report.sarif_results import OWN_PRINT
from jarvis_workers.sec.runs.scan_input import Baseline

REPORT_BYTES = 200_000_000
FINGERPRINT = re.compile(r"[0-9a-f]{16}")
REPORT_SUFFIXES = (".json", ".sarif")

Move = Callable[[str], str | None]
Place = tuple[object, object, object]


def is_report(named: str) -> bool:
    """Return whether the name is that of a report file rather than a revision, by existence or by suffix."""
    is_there = os.access(named, os.F_OK) and not Path(named).is_dir()
    return is_there or named.lower().endswith(REPORT_SUFFIXES)


def read_report(named: str, prefix: bytes = b"", option: str = "--baseline") -> Baseline:
    """Read a JSON or SARIF report. Raises UsageError.

    `prefix` is the path from the top of the repository to the root of the current scan. If the report was made for
    another directory of the repository, its paths are converted to the current root. Errors mention the `option` that
    named the file.
    """
    where = f"{option} {plain(named)}"
    document = load_report(named, where)
    prints = (
        _of_json(document, where, shown(prefix)) if "issues" in document else _of_sarif(document, where, shown(prefix))
    )
    if prints is None:
        raise UsageError(f"{where} is not a JSON or SARIF report of jarvis")
    summary = document.get("summary")
    not_listed = summary.get("not_listed") if isinstance(summary, dict) else None
    return Baseline(Counter(prints), {"what": plain(named)} | ({"not_listed": not_listed} if not_listed else {}))


def load_report(named: str, where: str) -> dict[str, Any]:
    """Return the JSON object in a report file of bounded size; `where` names it in errors. Raises UsageError."""
    return _parsed(_content(named, where), where)


def _content(named: str, where: str) -> bytes:
    try:
        content = read_regular(Path(named), REPORT_BYTES)
    except OSError as error:
        raise UsageError(f"{where}: cannot be read: {error.strerror}") from error
    if len(content) > REPORT_BYTES:
        raise UsageError(f"{where} is larger than {REPORT_BYTES:,} bytes, more than any jarvis report")
    return content


def _parsed(content: bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: cannot be read as JSON; give a JSON or SARIF report of jarvis") from error
    if not isinstance(document, dict):
        raise UsageError(f"{where} is not a JSON or SARIF report of jarvis")
    return document


def _of_json(document: Mapping[str, Any], where: str, prefix: str) -> list[str] | None:
    issues = document["issues"]
    _refuse_partial(document, where)
    if not isinstance(issues, list) or not all(isinstance(issue, dict) for issue in issues):
        return None
    move = _mover(document.get("run"), prefix)
    places = [(issue.get("file"), issue.get("pattern"), issue.get("evidence")) for issue in issues]
    return _moved(_checked([issue.get("fingerprint") for issue in issues]), places, move)


def _refuse_partial(document: Mapping[str, Any], where: str) -> None:
    run = document.get("run")
    if isinstance(run, dict) and "baseline" in run:
        raise UsageError(f"{where} lists only findings new to its own baseline; give a report of a full scan")


def _of_sarif(document: Mapping[str, Any], where: str, prefix: str) -> list[str] | None:
    """Return the fingerprints of a SARIF report, without the ordinal number that follows each one after a colon.

    The first run is that of jarvis; of those of other analyzers, what jarvis has found, too, or not placed has none.
    """
    prints: list[str] = []
    runs = document.get("runs")
    if not isinstance(runs, list) or not runs or not all(isinstance(run, dict) for run in runs):
        return None
    properties = runs[0]["properties"] if isinstance(runs[0].get("properties"), dict) else {}
    _refuse_partial(properties, where)
    for number, run in enumerate(runs):
        results = run.get("results")
        if number and isinstance(results, list):
            results = [result for result in results if is_of_jarvis(result)]
        more = _of_results(results, _mover(properties.get("run"), prefix, from_top=True))
        if more is None:
            return None
        prints += more
    return prints


def is_of_jarvis(result: object) -> bool:
    """Return whether a SARIF result is a finding of jarvis, and not one that another run has."""
    prints = result.get("partialFingerprints") if isinstance(result, dict) else None
    return isinstance(prints, dict) and OWN_PRINT in prints


def _of_results(results: object, move: Move | None) -> list[str] | None:
    if not isinstance(results, list):
        return None
    prints, places = [], []
    for result in results:
        if not isinstance(result, dict) or not isinstance(result.get("partialFingerprints"), dict):
            return None
        if not result.get("suppressions"):
            prints.append(str(result["partialFingerprints"].get(OWN_PRINT)).partition(":")[0])
            places.append(_place_of(result))
    return _moved(_checked(prints), places, move)


def _place_of(result: Mapping[str, Any]) -> Place:
    """Return file, rule and code of a SARIF result; its URI is relative to the top of the repository."""
    properties = result.get("properties")
    if isinstance(properties, dict) and "pattern" in properties:
        return properties.get("file"), properties["pattern"], properties.get("evidence")
    try:
        location = result["locations"][0]["physicalLocation"]
        file = shown(unquote_to_bytes(location["artifactLocation"]["uri"]))
        return file, result["ruleId"], location["region"]["snippet"]["text"]
    except (KeyError, IndexError, TypeError):
        return None, None, None


def _mover(run: object, prefix: str, *, from_top: bool = False) -> Move | None:
    """Return a function that converts a path of a report to the current root; None if the roots are the same.

    The function returns None for a file outside the current root. With `from_top` the paths of the report are relative
    to the top of the repository.
    """
    before = run.get("path_prefix") if isinstance(run, dict) else None
    if not isinstance(before, str) or before == prefix:
        return None

    def move(file: str) -> str | None:
        whole = f"{before}/{file}" if before and not from_top else file
        if not prefix:
            return whole
        return whole.removeprefix(f"{prefix}/") if whole.startswith(f"{prefix}/") else None

    return move


def _moved(prints: list[str] | None, places: Sequence[Place], move: Move | None) -> list[str] | None:
    """Recompute the fingerprints with paths relative to the current root; drop findings in files outside it."""
    if prints is None or move is None:
        return prints
    moved = []
    for known_by, (file, pattern, evidence) in zip(prints, places, strict=True):
        if not isinstance(file, str) or not isinstance(pattern, str) or not isinstance(evidence, str):
            moved.append(known_by)
        elif (name := move(file)) is not None:
            moved.append(fingerprint_of(name, pattern_of(pattern), evidence))
    return moved


def _checked(prints: Sequence[object]) -> list[str] | None:
    good = [one for one in prints if isinstance(one, str) and FINGERPRINT.fullmatch(one)]
    return good if len(good) == len(prints) else None
