"""The options of `jarvis sec import`."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

from jarvis_cli.kit.option_records import CommandOptions, Without
from jarvis_cli.kit.options import SCOPE
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


# What chooses files and rules of a scan.
OF_SCAN = (
    "options paths path include exclude default_excludes languages baseline since compile_commands findings witness "
    "proof_build rules exclude_rules only project_rules depth learned processes cache"
)


@dataclass(frozen=True, kw_only=True)
class ImportOptions(CommandOptions):
    """Reports, the tree that they are about, and the report of the run."""

    order = "reports path root triage no_triage output"
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
    scan: Annotated[ScanCommandOptions, Without(OF_SCAN)] = field(default_factory=ScanCommandOptions)

    @property
    def of_scan(self) -> ScanCommandOptions:
        """The options of a scan with the same files and report."""
        return replace(self.scan, findings=self.reports, path=self.path)
