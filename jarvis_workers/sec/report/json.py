"""Render a report as JSON, for programs, piece by piece.

An issue is encoded in one call of the fast C encoder, which cannot indent: its separators contain the indentation.
Control and direction characters are escaped.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.report_json import issue_to_json, summary_to_json

DENSE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
INNER = json.JSONEncoder(ensure_ascii=False, separators=(",\n      ", ": "))
OBEYED = re.compile("[\x80-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]")


def render_json(body: ReportBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield {"run": ..., "summary": ..., "issues": [...]}, in the format of `json.dumps(indent=2)`, and a newline.

    Findings dismissed by verdicts are in "dismissed", findings set aside by comments and judgements are in
    "suppressed".
    """
    head = json.dumps({"run": run, "summary": summary_to_json(body.summary)}, ensure_ascii=False, indent=2)
    yield harmless(head[:-2])
    yield from _listed("issues", body.issues)
    for name, issues in (("dismissed", body.dismissed), ("suppressed", body.suppressed)):
        if issues:
            yield from _listed(name, issues)
    yield "\n}\n"


def _listed(name: str, issues: Iterable[Issue]) -> Iterator[str]:
    yield f',\n  "{name}": ['
    before, close = "\n    ", "]"
    for issue in issues:
        yield f"{before}{harmless(_indented(issue))}"
        before, close = ",\n    ", "\n  ]"
    yield close


def json_line(row: Mapping[str, Any]) -> str:
    """Return the row as a line of a .jsonl file."""
    return harmless(json.dumps(row, ensure_ascii=False)) + "\n"


def dense(value: object) -> str:
    """Return a value as JSON on one line without spaces."""
    return harmless(DENSE.encode(value))


def harmless(text: str) -> str:
    """Escape control and direction characters in JSON, where they can occur only in strings."""
    return text if text.isascii() else OBEYED.sub(lambda match: json.dumps(match[0])[1:-1], text)


def _indented(issue: Issue) -> str:
    """Return an issue as indented JSON; most issues are flat, so that every separator is between two fields."""
    row = issue_to_json(issue)
    if issue.path or issue.verdict or issue.suppression or issue.extra:
        return json.dumps(row, ensure_ascii=False, indent=2).replace("\n", "\n    ")
    return f"{{\n      {INNER.encode(row)[1:-1]}\n    }}"
