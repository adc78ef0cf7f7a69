"""The options of `jarvis sec agent`: those of a scan, and how agents judge its findings."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jarvis_cli.completion import groups
from jarvis_cli.options import AGENTS, Budget, Group
from jarvis_cli.scan_options import ScanOptions
from jarvis_cli.status_output import write_line
from jarvis_workers.errors import UsageError
from jarvis_workers.service.scan_request import scan_options_of

if TYPE_CHECKING:
    from jarvis_cli.scan_request import ScanRequest
    from jarvis_workers.steps.sec.judge_options import JudgeOptions


# What the former search of a function took, questions and answers together.
FUNCTION_KILOTOKENS = 5


class ReadChoice(StrEnum):
    """What the model reads before anything is verified."""

    auto = "auto"
    all = "all"
    none = "none"


def _option(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=AGENTS, **settings)


ClusterLimit = Annotated[
    int, _option("--cluster-limit", "-c", min=1, max=1000, metavar="NUMBER", help="Max. candidates per cluster.")
]
MaxFindings = Annotated[
    int | None, _option("--max-findings", min=1, metavar="NUMBER", help="Verify only the N highest-scoring of rules.")
]
Votes = Annotated[int, _option("--votes", min=1, max=9, metavar="NUMBER", help="Votes per high-severity finding.")]
SecondGroup = Annotated[
    str | None,
    _option(
        "--second-group", metavar="GROUP", help="Model group for all votes except the first.", autocompletion=groups
    ),
]
Escalate = Annotated[
    str | None,
    _option("--escalate", metavar="GROUP", help="Model group for what the first leaves open.", autocompletion=groups),
]
SecondLook = Annotated[
    bool, _option("--second-look", help="Ask again with comments visible; mark disagreements for review.")
]
Canary = Annotated[bool, _option("--canary", help="Insert a known bug as a check; exit 3 if it is not confirmed.")]
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
ProofAttempts = Annotated[
    int, _option("--proof-attempts", min=1, max=20, metavar="NUMBER", help="Attempts to prove a finding.")
]
Build = Annotated[
    str | None,
    _option(
        "--build", metavar="COMMAND", help="Build the project with this command for proofs; default: file by file."
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
class AgentScanOptions(ScanOptions):
    """The options of a scan with verification by agents."""

    group: Group = None
    cluster_limit: ClusterLimit = 50
    max_findings: MaxFindings = None
    votes: Votes = 1
    second_group: SecondGroup = None
    second_look: SecondLook = False
    escalate: Escalate = None
    canary: Canary = False
    prove: Prove = None
    proof_attempts: ProofAttempts = 3
    build: Build = None
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


def judge_options_of(request: "ScanRequest", options: AgentScanOptions) -> "JudgeOptions":
    """Return the options of the run that verifies what a scan finds."""
    from jarvis_cli import sec_agent  # noqa: PLC0415
    from jarvis_workers.steps.sec.judge_options import JudgeOptions  # noqa: PLC0415

    settings, scan = request.settings, request.scan_input.options
    return scan_options_of(
        settings,
        JudgeOptions,
        profile=scan.profile,
        lang=scan.lang,
        model_group=options.group,
        second_group=options.second_group,
        escalate=options.escalate,
        cluster_limit=options.cluster_limit,
        max_findings=options.max_findings,
        votes=options.votes,
        second_look=options.second_look,
        canary=options.canary,
        **request.delivery.run_options,
        **sec_agent.proof_options(
            settings,
            options.prove,
            options.proof_attempts,
            options.build,
            options.fuzz_seconds,
            quiet=options.quiet,
        ),
    )
