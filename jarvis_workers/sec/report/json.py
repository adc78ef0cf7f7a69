"""Write a report as JSON, for programs.

An issue is written in one call of the fast encoder, which does not indent: its separators do.
"""

import json
from collections.abc import Mapping
from typing import Any

INNER = json.JSONEncoder(ensure_ascii=False, separators=(",\n      ", ": "))


def render_json(body: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Return {"run": ..., "summary": ..., "issues": [...]}, as `json.dumps(indent=2)` writes it, and a newline."""
    head = json.dumps({"run": run, "summary": body["summary"]}, ensure_ascii=False, indent=2)
    issues = ",\n    ".join(_indented(issue) for issue in body["issues"])
    listed = f"[\n    {issues}\n  ]" if issues else "[]"
    text = f'{head[:-2]},\n  "issues": {listed}\n}}\n'
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _indented(issue: Mapping[str, Any]) -> str:
    """Issues are flat, so that every separator stands between two of their fields."""
    return f"{{\n      {INNER.encode(issue)[1:-1]}\n    }}"
