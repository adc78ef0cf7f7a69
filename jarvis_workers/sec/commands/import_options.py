"""The options of `jarvis sec import`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.option_records import CommandOptions
from jarvis_cli.kit.options import (
    SCOPE,
    Detach,
    FailOn,
    Form,
    FormJson,
    Label,
    Lang,
    Name,
    Output,
    Quiet,
    RelativeTo,
    Verbose,
    Where,
)
from jarvis_workers.sec.commands.scan_options import ScanCommandOptions

IMPORT_EXAMPLES = """\
\b
Examples:
  jarvis sec import codeql.sarif                       findings in this directory
  jarvis sec import codeql.sarif cppcheck.xml -p src   of several analyzers
  make CC='gcc -fanalyzer' 2> gcc.log; jarvis sec import gcc.log
  jarvis sec agent --findings codeql.sarif             verify them, beside what jarvis finds

\b
SARIF 2.1.0, XML of cppcheck, SAST reports of GitLab, JSON of jarvis, and what gcc and clang-tidy print.
A finding whose file or line is not in the tree is named in the report; the exit code is 3.
"""


@dataclass(frozen=True, kw_only=True)
class ImportOptions(CommandOptions):
    """Reports, the tree that they are about, and the report."""

    order = "reports path root output form as_json relative_to fail_on lang quiet verbose label name where detach"
    reports: Annotated[list[Path], typer.Argument(metavar="REPORT", help="Reports of other analyzers.")]
    path: Annotated[
        list[str] | None,
        typer.Option(
            "--path",
            "-p",
            metavar="PATH",
            help="The tree that they are about; repeatable. [default: .]",
            rich_help_panel=SCOPE,
        ),
    ] = None
    root: Annotated[
        str | None,
        typer.Option(
            "--root", metavar="DIR", help="Directory that paths in reports are relative to.", rich_help_panel=SCOPE
        ),
    ] = None
    output: Output = None
    form: Form = None
    as_json: FormJson = False
    relative_to: RelativeTo = None
    fail_on: FailOn = None
    lang: Lang = None
    quiet: Quiet = False
    verbose: Verbose = False
    label: Label = None
    name: Name = None
    where: Where = None
    detach: Detach = False

    @property
    def of_scan(self) -> ScanCommandOptions:
        """The options of a scan with the same files and report."""
        return ScanCommandOptions(
            flags=self.flags,
            findings=self.reports,
            path=self.path or ["."],
            root=self.root,
            output=self.output,
            form=self.form,
            as_json=self.as_json,
            relative_to=self.relative_to,
            fail_on=self.fail_on,
            lang=self.lang,
            quiet=self.quiet,
            verbose=self.verbose,
            label=self.label,
            name=self.name,
            where=self.where,
            detach=self.detach,
        )
