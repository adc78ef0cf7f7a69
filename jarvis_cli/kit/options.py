"""Options shared by several commands, with the same name and meaning everywhere."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Annotated

import typer

from jarvis_cli.kit.completion import formats, groups, runs, severities
from jarvis_cli.kit.language import LanguageCode
from jarvis_workers.errors import UsageError
from jarvis_workers.option import AGENTS as AGENTS
from jarvis_workers.option import EXECUTION as EXECUTION
from jarvis_workers.option import REPORT as REPORT
from jarvis_workers.option import RULES as RULES
from jarvis_workers.option import Option
from jarvis_workers.paths import plain

# A help panel that groups options.
SCOPE = "What is scanned"
# The value of --fail-on for two conversions.
WORSE = "worse"

Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE|URL", help="Report file or s3://…; - is stdout.", rich_help_panel=REPORT
    ),
]
Form = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="text, json, markdown, sarif, html, junit, gcc, github, github-summary, gitlab-sast, codequality or csv; "
        "default: by -o's suffix, else text.",
        autocompletion=formats,
        rich_help_panel=REPORT,
    ),
]
FormJson = Annotated[bool, typer.Option("--json", help="Same as --format json.", rich_help_panel=REPORT)]
AnswerOutput = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="File for the answer; - is stdout.", rich_help_panel=REPORT),
]
AnswerForm = Annotated[
    str | None, typer.Option("--format", metavar="FORMAT", help="text, markdown or json.", rich_help_panel=REPORT)
]
RelativeTo = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Base of paths in sarif, junit, gcc, github, csv and GitLab reports; default: top of the git repository.",
        rich_help_panel=REPORT,
    ),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        help="Exit 1 on a finding of this severity or above: high, medium, low.",
        autocompletion=severities,
        rich_help_panel=REPORT,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="Pause the run when it reaches this limit: 5usd, 200ktok or 30min.",
        rich_help_panel=AGENTS,
    ),
    Option(setting="agent.budget"),
]
Group = Annotated[
    str | None,
    typer.Option(
        "--llm-group",
        "-g",
        metavar="GROUP",
        help="Model group of jarvis.yaml.",
        autocompletion=groups,
        rich_help_panel=AGENTS,
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="KEY=VALUE",
        help="Label to find the run by; repeatable.",
        rich_help_panel=EXECUTION,
    ),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Unique name of the run; repeating the command continues it.",
        rich_help_panel=EXECUTION,
    ),
]
Lang = Annotated[
    LanguageCode | None,
    typer.Option(
        "--lang",
        metavar="LANG",
        help="en or zh: language of rules, report and model; default: system locale.",
        rich_help_panel=REPORT,
    ),
]
Where = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE", help="local or cluster; default: cluster if a broker is set.", rich_help_panel=EXECUTION
    ),
    Option(setting="where"),
]
Detach = Annotated[bool, typer.Option("--detach", help="Submit to the cluster and return.", rich_help_panel=EXECUTION)]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Suppress progress and summary; one line on stderr if exit code ≠ 0.",
        rich_help_panel=REPORT,
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="List findings of low severity in text, too.",
        rich_help_panel=REPORT,
    ),
]
RunId = Annotated[str, typer.Argument(metavar="RUN", help='Run id, id prefix, or "last".', autocompletion=runs)]
AsJson = Annotated[bool, typer.Option("--json", help="JSON output; same as --format json.")]
TableForm = Annotated[str | None, typer.Option("--format", metavar="FORMAT", help="table or json.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Build the questions and estimate tokens and cost; call no model.", rich_help_panel=AGENTS
    ),
]
EstimateJson = Annotated[bool, typer.Option("--json", help="With --dry-run: JSON output.", rich_help_panel=AGENTS)]
TABLE_FORMS = ("table", "json")


def form_of(form: str | None, as_json: bool) -> str | None:
    """Return the format given by --format and --json. Raises UsageError if they conflict."""
    if as_json and form not in (None, "json"):
        raise UsageError(
            f"--json is the same as --format json, and cannot be combined with --format {plain(form or '')}"
        )
    return "json" if as_json else form


def is_json(form: str | None, as_json: bool) -> bool:
    """Return whether to print a table as JSON. Raises UsageError."""
    if form is not None and form not in TABLE_FORMS:
        raise UsageError(not_one_of("--format", form, TABLE_FORMS))
    return form_of(form, as_json) == "json"


def joined(values: Sequence[str] | None) -> str | None:
    """Return the values of an option that is repeatable and accepts commas, joined by commas."""
    return None if values is None else ",".join(values)


def not_one_of(option: str, value: str, choices: Iterable[str]) -> str:
    """Return the message for an invalid choice, with a suggestion."""
    names = list(choices)
    near = get_close_matches(value.lower(), names, 1)
    hint = f' (did you mean "{near[0]}"?)' if near else ""
    return f'{option}: "{plain(value)}" is not one of {", ".join(names)}{hint}'
