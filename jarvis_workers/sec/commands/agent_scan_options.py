"""The options of `jarvis sec agent`: those of a scan, and how agents judge its findings."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from jarvis_cli.kit.options import AGENTS, Budget
from jarvis_cli.kit.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.sec.commands.scan_options import ScanCommandOptions
from jarvis_workers.sec.stages.judge_options import JudgeOptions

# What the former search of a function took, questions and answers together.
FUNCTION_KILOTOKENS = 5


class ReadChoice(StrEnum):
    """What the model reads before anything is verified."""

    auto = "auto"
    all = "all"
    none = "none"


def _option(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=AGENTS, **settings)


Read = Annotated[
    ReadChoice | None,
    _option("--read", help="Have the model read whole files first: as many as --read-budget pays for, or all. [auto]"),
]
ReadBudget = Annotated[
    str | None,
    _option("--read-budget", metavar="AMOUNT", help="Estimated cost of --read auto: 1usd, 200ktok. [500ktok]"),
]
Discover = Annotated[bool, _option("--discover", hidden=True, help="Same as --read auto.")]
DiscoverLimit = Annotated[
    int | None,
    _option("--discover-limit", min=1, max=1000, metavar="NUMBER", hidden=True, help="A --read-budget for functions."),
]
DiscoverBudget = Annotated[
    str | None, _option("--discover-budget", metavar="AMOUNT", hidden=True, help="Same as --read-budget.")
]
Prove = Annotated[
    bool | None,
    _option(
        "--prove/--no-prove",
        help="Prove confirmed findings by running them with sanitizers. Default: high severity, with gcc or clang.",
    ),
]
FuzzSeconds = Annotated[
    int | None,
    _option(
        "--fuzz-seconds",
        min=0,
        max=86_400,
        metavar="NUMBER",
        help="Fuzz fuzz targets and programs so long in all; 0: off. [0]",
    ),
]
DryRun = Annotated[bool, _option("--dry-run", help="Scan and estimate tokens and cost; call no model.")]


@dataclass(frozen=True, kw_only=True)
class AgentScanOptions(ScanCommandOptions):
    """The options of a scan with verification by agents."""

    order = (
        f"{ScanCommandOptions.order} model_group cluster_limit max_findings votes second_group second_look escalate "
        "canary prove proof_attempts fuzz_seconds"
    )
    options: JudgeOptions = field(default_factory=JudgeOptions)
    prove: Prove = None
    fuzz_seconds: FuzzSeconds = None
    read: Read = None
    read_budget: ReadBudget = None
    discover: Discover = False
    discover_limit: DiscoverLimit = None
    discover_budget: DiscoverBudget = None
    budget: Budget = None
    dry_run: DryRun = False


def with_current_names(options: AgentScanOptions) -> AgentScanOptions:
    """Return the options with those of the former search of single functions replaced; a line says by which."""
    if not (options.discover or options.discover_limit or options.discover_budget):
        return options
    if options.read == ReadChoice.none:
        raise UsageError("--discover is now --read auto, and cannot be combined with --read none")
    limit = f"{options.discover_limit * FUNCTION_KILOTOKENS}ktok" if options.discover_limit else None
    read, budget = options.read or ReadChoice.auto, options.read_budget or options.discover_budget or limit
    if not options.quiet:
        limited = f" --read-budget {budget}" if budget else ""
        write_line(f"--discover is now --read {read}{limited}: whole files are read instead of single functions")
    return replace(options, read=read, read_budget=budget, discover=False, discover_limit=None, discover_budget=None)


def reading_flags(options: AgentScanOptions) -> dict[str, object]:
    """Return the settings that the options of reading give. Raises UsageError if they contradict each other."""
    read, budget = options.read, options.read_budget
    if budget is not None and read in (ReadChoice.all, ReadChoice.none):
        raise UsageError(f"--read-budget limits --read auto, and cannot be combined with --read {read}")
    if budget is not None:
        read = ReadChoice.auto
    return {"agent.read": read and read.value, "agent.read_budget": budget}


def check_dry(options: AgentScanOptions) -> None:
    """Raise UsageError for options of a report or a run, as a dry run produces neither."""
    flags = {"-o": options.output, "--format": options.form, "--fail-on": options.fail_on, "--budget": options.budget}
    flag_names = [name for name, value in flags.items() if value is not None] + ["--detach"] * options.detach
    if flag_names:
        raise UsageError(
            f"{flag_names[0]} cannot be combined with --dry-run, which writes no report and records no run"
        )
