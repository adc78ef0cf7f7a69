"""Texts and paths in the report of a scan, as its command asks for them. Avoids slow imports."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jarvis_cli.kit.colour import paint, use_colour
from jarvis_cli.kit.report_target import Delivery
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain, shown
from jarvis_workers.sec.report.text import TextOptions, render_text, text_lines
from jarvis_workers.sec.report_document import ReportBody
from jarvis_workers.store.values import Run

# A terminal gets about one screen of findings; a pipe or file gets all.
TERMINAL_FINDINGS = 30
TERMINAL_NAMES = 10


def relative_to(facts: Mapping[str, Any], run: Run, base: Path | None) -> dict[str, Any]:
    """Return the `run` part of a report with paths relative to `base`. Raises UsageError if the root is not below it.

    The revision is left out, because it belongs to another directory.
    """
    if base is None:
        return dict(facts)
    top, root = base.resolve(), Path(os.fsdecode(run.root_raw))
    is_address = not root.is_absolute()
    root = (root.parent if root.is_file() else root).resolve()
    if is_address or not root.is_relative_to(top):
        raise UsageError(f"--relative-to {plain(str(base))}: the scanned {plain(run.root)} is not below it")
    prefix = "" if root == top else shown(os.fsencode(root.relative_to(top)))
    return {name: fact for name, fact in facts.items() if name != "repository_url"} | {"path_prefix": prefix}


def report_text(body: ReportBody, run: Mapping[str, Any], delivery: Delivery, prefix: str) -> Iterator[str]:
    """Yield a text report; on a terminal it is limited and coloured."""
    low = delivery.verbose or delivery.fail_on == "low"
    if delivery.output is not None:
        return render_text(body, run, TextOptions(prefix, low=low))
    if delivery.quiet:
        options = TextOptions(prefix, least=delivery.fail_on, concise=True)
    elif sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        options = TextOptions(prefix, low=low, most=TERMINAL_FINDINGS, names=TERMINAL_NAMES, width=width)
    else:
        options = TextOptions(prefix, low=low)
    if not use_colour(sys.stdout):
        return render_text(body, run, options)
    return (f"{paint(line)}\n" for line in text_lines(body, run, options))
