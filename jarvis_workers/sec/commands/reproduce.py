"""`jarvis sec reproduce`: run the proof of a finding again, on the current tree."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_cli.kit import exits
from jarvis_cli.kit.completion import runs
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

if TYPE_CHECKING:
    from jarvis_workers.sec.runs.reproduction import Reproduction

EXAMPLES = """\
\b
Examples:
  jarvis sec reproduce C3fa81b                on its tree, as it is now
  jarvis sec reproduce C3fa81b --run 1f3a -p ~/src/fixed
  jarvis sec reproduce C3fa81b --json

\b
The exit code is 1 if a sanitizer still reports an error, 0 if it does not, and 3 if that is not known.
"""

Id = Annotated[str, typer.Argument(metavar="ID", help="The finding, as reports name it.")]
RunId = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="The run; default: the newest with a proof of it.", autocompletion=runs),
]
TreePath = Annotated[str | None, typer.Option("--path", "-p", metavar="PATH", help="Another directory of the tree.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SAYS = {
    "fires": "the proof still fires",
    "other_error": "the proof does not fire as before, but a sanitizer reports another error",
    "silent": "the proof no longer fires",
    "unclear": "it is not known whether the proof still fires",
    "not_run": "the proof could not be run",
}
CODES = {
    "fires": exits.FINDINGS,
    "other_error": exits.FINDINGS,
    "silent": exits.DONE,
    "unclear": exits.INCOMPLETE,
    "not_run": exits.INCOMPLETE,
}


def reproduce(identifier: Id, run: RunId = None, path: TreePath = None, as_json: AsJson = False) -> int:
    """Run the proof of a finding again: build the tree as it is now, run the input or harness, say whether it fires."""
    from jarvis_workers.runs import wiring  # noqa: PLC0415  (slow to import)
    from jarvis_workers.runs.scan_request import blobs_of  # noqa: PLC0415  (slow to import)
    from jarvis_workers.sec.runs import reproduction  # noqa: PLC0415  (slow to import)
    from jarvis_workers.sec.triage.queue import find_issue  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    settings = load_settings(directory=Path.cwd())
    with wiring.store_of(settings, tell=write_line, create=False) as store:
        blobs = blobs_of(settings)
        found, issue = find_issue(store, blobs, identifier, run, with_proof=True)
        root = Path(path) if path is not None else Path(os.fsdecode(found.root_raw))
        if not root.is_dir():
            raise UsageError(f"{plain(str(root))}: not a directory on this machine; name the tree with --path")
        repeated = reproduction.reproduce(settings, store, blobs, found, issue, root)
    typer.echo(json.dumps(_facts(repeated), indent=2) if as_json else "\n".join(_lines(repeated)))
    return CODES[repeated.repetition.outcome]


def _facts(repeated: "Reproduction") -> dict[str, object]:
    issue, (outcome, reason, stack) = repeated.issue, repeated.repetition
    place = {"id": issue.id, "file": issue.candidate.file, "line": issue.candidate.line}
    return {**place, "outcome": outcome, "reason": reason, "stack": list(stack), "command": repeated.proof.command}


def _lines(repeated: "Reproduction") -> list[str]:
    issue, (outcome, reason, stack) = repeated.issue, repeated.repetition
    head = f"{issue.id} {issue.candidate.file}:{issue.candidate.line}: {SAYS[outcome]}"
    shown = [head + (f" ({reason})" if reason else ""), f"  {repeated.proof.command}", *(f"  {line}" for line in stack)]
    return [plain(line) for line in shown]
