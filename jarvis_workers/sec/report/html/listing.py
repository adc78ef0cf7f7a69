"""Write the findings down for the page's script: one JSON text in which no tag can begin.

Rules, explanations and file names stand once each, and a finding names them by number, so that 25,000 findings stay a
few megabytes.  All text is written out first (see escape.py): what the script shows is what stands here.
"""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from jarvis_workers.sec.report.body import WORST_FIRST
from jarvis_workers.sec.report.escape import visible
from jarvis_workers.sec.report.html.markup import Html

Issues = Sequence[Mapping[str, Any]]
# Without these no tag, comment or entity begins, and a script element does not end.
TAGS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class _Numbers(dict[Hashable, int]):
    """Gives each new value the next number."""

    def __missing__(self, value: Hashable) -> int:
        self[value] = len(self)
        return self[value]


def listing(issues: Issues, excerpts: Mapping[str, Any]) -> Html:
    """Return what the script reads; `issues` in the order in which they are to be shown."""
    files, rules, texts, statuses = _Numbers(), _Numbers(), _Numbers(), _Numbers()
    rows = [
        (
            visible(issue["id"]),
            files[visible(issue["file"])],
            issue["line"],
            rules[visible(issue["pattern"]), visible(issue["category"]), issue["cwe"]],
            texts[visible(issue["description"]), visible(issue["suggestion"])],
            issue["confidence"],
            WORST_FIRST.index(issue["severity"]),
            statuses[visible(issue["status"])],
            issue["score"],
            visible(issue["evidence"]),
            visible(issue["fingerprint"]),
        )
        for issue in issues
    ]
    paths = {visible(issue["id"]): _steps(issue["path"], files) for issue in issues if "path" in issue}
    return _json(
        {
            "severities": WORST_FIRST,
            "files": list(files),
            "rules": list(rules),
            "texts": list(texts),
            "statuses": list(statuses),
            "findings": rows,
            "paths": paths,
            "excerpts": dict(_in_order(issues, excerpts)),
        }
    )


def _steps(path: Issues, files: _Numbers) -> list[tuple[int, int, str]]:
    return [(files[visible(step["file"])], step["line"], visible(step["note"])) for step in path]


def _in_order(issues: Issues, excerpts: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for issue in issues:
        if issue["id"] in excerpts:
            first, lines = excerpts[issue["id"]]
            yield visible(issue["id"]), (first, [visible(line) for line in lines])


def _json(value: object) -> Html:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for tag, number in TAGS.items():
        text = text.replace(tag, number)
    return Html(text)
