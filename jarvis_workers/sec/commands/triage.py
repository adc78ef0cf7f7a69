"""`jarvis sec triage`: judge the findings of a run, at a terminal or from a script."""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import plain

if TYPE_CHECKING:
    from jarvis_workers.sec.commands.triage_actions import Mark as Marked
    from jarvis_workers.sec.commands.triage_context import TriageContext
    from jarvis_workers.sec.triage.queue import Filter

EXAMPLES = """\
\b
Examples:
  jarvis sec triage last                                  go through the open findings, key by key
  jarvis sec triage last --severity high --file 'src/**'  only some of them
  jarvis sec triage last --status later                   those that were postponed
  jarvis sec triage last --list --rule atoi_family        list findings and their verdicts
  jarvis sec triage last --mark C1a2b3c=true --mark C4d5e6f=false --reason 'both buffers are NAME_MAX + 1 bytes'
  jarvis sec triage last --rule atoi_family --file 'tests/**' --mark false --reason 'input of our own tests'
  jarvis sec triage --undo                                undo only the last such command
  jarvis sec triage last --forget C4d5e6f                 remove a verdict
  jarvis sec triage last --export .jarvis/triage.yaml     verdicts on this run's findings; without RUN: all
  jarvis sec triage --import .jarvis/triage.yaml

\b
States: true, false (a false alarm), wontfix (real, risk accepted), later (postponed). False and wontfix need a
reason and are set aside in later runs. Verdicts are stored by fingerprint: file, rule and line of code.
"""

RunId = Annotated[str | None, typer.Argument(metavar="[RUN]", help='Run id, id prefix, or "last".')]
All = Annotated[bool, typer.Option("--all", help="Include findings that are judged already.")]
List = Annotated[bool, typer.Option("--list", help="List findings and verdicts.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the list as JSON.")]
Mark = Annotated[
    list[str] | None,
    typer.Option(
        "--mark",
        metavar="[ID=]STATE",
        help="Judge one finding (by id or fingerprint; repeatable) or, without ID, all that match the filters.",
    ),
]
Reason = Annotated[
    list[str] | None,
    typer.Option("--reason", metavar="TEXT", help="Reason or note: one for all marks, or one for each."),
]
Rule = Annotated[list[str] | None, typer.Option("--rule", metavar="ID", help="Only findings of these rules.")]
Severity = Annotated[
    list[str] | None,
    typer.Option("--severity", metavar="LEVEL", help="Only findings with these severities: high, medium, low."),
]
File = Annotated[
    list[str] | None,
    typer.Option("--file", metavar="GLOB", help="Only findings in files that match a glob: 'tests/**'."),
]
Category = Annotated[
    list[str] | None, typer.Option("--category", metavar="NAME", help="Only findings in these categories.")
]
Status = Annotated[
    list[str] | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help="Only findings with this triage state (open, true, false, wontfix, later) "
        "or report status (confirmed, review, ...).",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before judging many findings.")]
Undo = Annotated[bool, typer.Option("--undo", help="Undo your last --mark, --forget or --import; repeat to go back.")]
Forget = Annotated[list[str] | None, typer.Option("--forget", metavar="ID", help="Remove a verdict; repeatable.")]
Export = Annotated[
    str | None,
    typer.Option(
        "--export", metavar="FILE", help="Export verdicts as YAML, for RUN's findings or for all; - is stdout."
    ),
]
Import = Annotated[str | None, typer.Option("--import", metavar="FILE", help="Import verdicts from FILE.")]


def triage(
    run: RunId = None,
    rule: Rule = None,
    severity: Severity = None,
    file: File = None,
    category: Category = None,
    status: Status = None,
    everything: All = False,
    listed: List = False,
    as_json: AsJson = False,
    mark: Mark = None,
    reason: Reason = None,
    yes: Yes = False,
    undo: Undo = False,
    forget: Forget = None,
    export: Export = None,
    import_: Import = None,
) -> int:
    """Judge findings; later runs use the verdicts. At a terminal: key by key, the worst first."""
    flags = ("--list", "--mark", "--undo", "--forget", "--export", "--import")
    given = [flag for flag, value in zip(flags, (listed, mark, undo, forget, export, import_), strict=True) if value]
    filters = {"--rule": rule, "--severity": severity, "--file": file, "--category": category, "--status": status}
    _check(given, [name for name, value in filters.items() if value], reason, as_json=as_json, yes=yes)
    from jarvis_workers.sec.commands import named_files, triage_actions, triage_context, triage_terminal  # noqa: PLC0415
    from jarvis_workers.sec.triage.queue import read_filter  # noqa: PLC0415

    criteria = read_filter(rules=rule, severities=severity, files=file, categories=category, statuses=status)
    marks = list(_marks(mark or [], reason or []))
    with triage_context.open_context(run, create=bool(import_)) as place:
        commands: dict[str, Callable[[], int]] = {
            "--import": lambda: named_files.import_file(place, import_ or ""),
            "--export": lambda: named_files.export_file(place, export or ""),
            "--undo": lambda: triage_actions.undo(place),
            "--mark": lambda: _mark(place, criteria, marks, everything=everything, yes=yes),
            "--forget": lambda: triage_actions.forget(place, forget or ()),
            "--list": lambda: triage_actions.show(place, criteria, as_json=as_json),
            "": lambda: triage_terminal.run_session(place, criteria, everything=everything),
        }
        return commands[given[0] if given else ""]()


def _check(commands: Sequence[str], filters: Sequence[str], reason: object, *, as_json: bool, yes: bool) -> None:
    """Raise UsageError for options that exclude each other."""
    if len(commands) > 1:
        raise UsageError(f"{commands[0]} and {commands[1]} cannot be combined; give one at a time")
    command = commands[0] if commands else None
    if reason and command != "--mark":
        raise UsageError("--reason requires --mark")
    if yes and command != "--mark":
        raise UsageError("--yes requires --mark")
    if as_json and command != "--list":
        raise UsageError("--json requires --list")
    if filters and command not in (None, "--list", "--mark"):
        raise UsageError(f"{filters[0]} cannot be combined with {command}")
    if command is None and not _at_terminal():
        raise UsageError("not a terminal; use --list and --mark, see: jarvis sec triage --help")


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _mark(place: "TriageContext", criteria: "Filter", marks: Sequence["Marked"], *, everything: bool, yes: bool) -> int:
    from jarvis_workers.sec.commands import triage_actions  # noqa: PLC0415

    unnamed = [one for one in marks if not one.named]
    if not unnamed:
        if criteria:
            raise UsageError("--mark ID=STATE cannot be combined with filters; use --mark STATE")
        return triage_actions.mark(place, marks)
    if len(marks) > 1:
        raise UsageError("--mark STATE judges all matching findings; give it once")
    ask = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    return triage_actions.mark_all(place, criteria, unnamed[0], judged=everything, ask=ask)


def _marks(marks: Sequence[str], reasons: Sequence[str]) -> Iterator["Marked"]:
    """Pair each mark with its reason; a mark without an id applies to all findings that match the filters."""
    from jarvis_workers.sec.commands import triage_actions  # noqa: PLC0415
    from jarvis_workers.sec.triage_states import TriageState  # noqa: PLC0415

    if len(reasons) not in (0, 1, len(marks)):
        raise UsageError(f"{len(reasons)} reasons for {len(marks)} marks; give one for all, or one for each")
    each = list(reasons) if len(reasons) == len(marks) else [*reasons, ""][:1] * len(marks)
    for mark, reason in zip(marks, each, strict=True):
        named, equals, state = mark.rpartition("=")
        if state not in list(TriageState) or (equals and not named):
            states = ", ".join(TriageState)
            raise UsageError(f"--mark {plain(mark)}: should be ID=STATE, or STATE with filters; states: {states}")
        yield triage_actions.Mark(named, TriageState(state), reason)
