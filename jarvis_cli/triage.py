"""`jarvis sec triage`: judge the findings of a run, here at a terminal or from a script."""

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

EXAMPLES = """\
\b
Examples:
  jarvis sec triage last                                  go through the findings, key by key
  jarvis sec triage last --all                            also through those that are judged
  jarvis sec triage last --list --json | jq '.[] | select(.verdict == null).id'
  jarvis sec triage last --mark C1a2b3c=true
  jarvis sec triage last --mark C4d5e6f=false --reason 'both buffers are NAME_MAX + 1 bytes'
  jarvis sec triage last --forget C4d5e6f                 take back what was said
  jarvis sec triage last --export .jarvis/triage.yaml     what was said of this run's findings
  jarvis sec triage --export - > all.yaml                 all that is kept
  jarvis sec triage --import .jarvis/triage.yaml
  jarvis sec fast -p . --triage .jarvis/triage.yaml       heed a file without importing it

\b
What is said is kept by the finding's fingerprint (file, rule and line of code), and heeded by later runs.
"""
VERDICTS = {"true": True, "false": False}

RunId = Annotated[str | None, typer.Argument(metavar="[RUN]", help='A run\'s id, its beginning, or "last".')]
All = Annotated[bool, typer.Option("--all", help="Also what is judged already.")]
List = Annotated[bool, typer.Option("--list", help="List the findings and what was said of them.")]
AsJson = Annotated[bool, typer.Option("--json", help="The list for programs.")]
Mark = Annotated[
    list[str] | None,
    typer.Option("--mark", metavar="ID=true|false", help="Judge a finding, by its id or fingerprint; repeatable."),
]
Reason = Annotated[
    list[str] | None,
    typer.Option("--reason", metavar="TEXT", help="Why: one for all marks, or one for each. A false one needs it."),
]
Forget = Annotated[list[str] | None, typer.Option("--forget", metavar="ID", help="Take back; repeatable.")]
Export = Annotated[
    str | None,
    typer.Option("--export", metavar="FILE", help="Write judgements as YAML: of RUN's findings, or all; - is stdout."),
]
Import = Annotated[str | None, typer.Option("--import", metavar="FILE", help="Take the judgements of such a file in.")]


def triage(
    run: RunId = None,
    everything: All = False,
    listed: List = False,
    as_json: AsJson = False,
    mark: Mark = None,
    reason: Reason = None,
    forget: Forget = None,
    export: Export = None,
    import_: Import = None,
) -> int:
    """Judge findings true or false; later runs heed it. At a terminal: key by key, the worst first."""
    asked = {"--list": listed, "--mark": mark, "--forget": forget, "--export": export, "--import": import_}
    given = [name for name, value in asked.items() if value]
    if len(given) > 1:
        raise UsageError(f"{given[0]} and {given[1]} are two commands; give one at a time")
    if reason and not mark:
        raise UsageError("--reason belongs to --mark")
    if as_json and not listed:
        raise UsageError("--json belongs to --list")
    if not given and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("there is no terminal to ask at; use --list and --mark, see: jarvis sec triage --help")
    marks = list(_marks(mark or [], reason or []))
    from jarvis_cli import judge  # noqa: PLC0415  (the store takes a third of a second to import)

    with judge.opened(run) as place:
        if import_:
            return judge.take_in(place, import_)
        if export:
            return judge.hand_out(place, export)
        if marks:
            return judge.mark(place, marks)
        if forget:
            return judge.forget(place, forget)
        if listed:
            return judge.show(place, as_json=as_json)
        return judge.sit_down(place, everything=everything)


def _marks(marks: Sequence[str], reasons: Sequence[str]) -> Iterator[tuple[str, bool, str]]:
    """Pair each mark with its reason."""
    if len(reasons) not in (0, 1, len(marks)):
        raise UsageError(f"{len(reasons)} reasons for {len(marks)} marks; give one for all, or one for each")
    each = list(reasons) if len(reasons) == len(marks) else [*reasons, ""][:1] * len(marks)
    for mark, reason in zip(marks, each, strict=True):
        named, _, verdict = mark.partition("=")
        if verdict not in VERDICTS:
            raise UsageError(f"--mark {plain(mark)}: should be ID=true or ID=false")
        yield named, VERDICTS[verdict], reason
