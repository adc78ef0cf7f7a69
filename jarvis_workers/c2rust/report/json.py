"""Render a report on a symbol graph as JSON, for programs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from jarvis_workers.c2rust.report.body import ScanBody


def render_json(body: ScanBody, run: Mapping[str, Any]) -> Iterator[str]:
    """Yield {"run": …, "graph": …} and a newline; non-ASCII characters are escaped to protect terminals."""
    yield json.dumps({"run": run, "graph": asdict(body)}, indent=2) + "\n"
