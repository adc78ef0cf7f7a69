"""`jarvis sec`: scan a tree and report."""

from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.main import Frame
from jarvis_workers.errors import UsageError

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Find vulnerabilities in C, C++ and Rust.")

EXAMPLES = """\
\b
Examples:
  jarvis sec fast -p src                          Markdown on stdout
  jarvis sec fast -p src -o report.json           JSON to a file, by its suffix
  jarvis sec fast -p src --format json -o - | jq .summary
  jarvis sec fast -p src --fail-on high -q        for CI: exit 1 on a finding of severity high
  jarvis sec fast -p src --exclude 'tests/**'     leave something out

\b
What is not checked is named in the report, and the exit code is 3.
"""


@app.callback()
def sec() -> None:
    """Find vulnerabilities in C, C++ and Rust."""


@app.command(epilog=EXAMPLES, short_help="Scan with the rules alone: no model.")
def fast(
    ctx: typer.Context,
    path: Annotated[str, typer.Option("--path", "-p", metavar="PATH", help="The directory or file to scan.")],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where the report goes; - is stdout.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="json or markdown; by default from -o's suffix.")
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Exit 1 at a finding of this severity or above: high, medium, low."),
    ] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only what matches this glob, as in .gitignore; repeatable."),
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave out what matches this glob; repeatable.")
    ] = None,
    default_excludes: Annotated[
        bool, typer.Option(help="Leave out .git, build, out, target, third_party, vendor.")
    ] = True,
    languages: Annotated[
        str | None, typer.Option(metavar="NAMES", help="c/cpp, rust or both, parted by a comma.")
    ] = None,
    min_confidence: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="NUMBER", help="Report from this confidence on (0 to 1).")
    ] = None,
    processes: Annotated[
        int | None, typer.Option("--processes", "-j", min=1, metavar="NUMBER", help="How many children scan at a time.")
    ] = None,
    where: Annotated[str | None, typer.Option(metavar="PLACE", help="local or cluster.")] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Submit and return; on a cluster only.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")] = False,
) -> int:
    """Scan with the rules alone and report: no model, nothing leaves this machine."""
    flags = {
        "scan.languages": languages,
        "scan.exclude_dirs": None if default_excludes else (".jarvis",),
        "report.min_confidence": min_confidence,
        "processes": processes,
        "where": where,
    }
    from jarvis_cli.deliver import delivery  # noqa: PLC0415  (the store takes a third of a second to import)
    from jarvis_cli.scan import scan_here, scan_on_cluster  # noqa: PLC0415
    from jarvis_workers.settings import load_settings  # noqa: PLC0415

    frame = ctx.find_object(Frame) or Frame()
    settings = load_settings(flags, directory=Path.cwd())
    if detach and settings.place == "local":
        raise UsageError(
            "--detach is for runs on a cluster: a local run is carried out by this command; "
            "leave it out, or put the command in the background"
        )
    if not path:
        raise UsageError("-p is empty; give the directory or file to scan, . for this one")
    asked = delivery(output, form, fail_on, frame.default_output)
    globs = (tuple(include or ()), tuple(exclude or ()))
    if settings.place == "cluster":
        return scan_on_cluster(settings, path, None if detach else asked, globs, quiet)
    return scan_here(settings, path, asked, globs, quiet)
