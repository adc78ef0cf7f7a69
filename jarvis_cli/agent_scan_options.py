"""The options of `jarvis sec agent`: those of a scan, and how agents judge its findings."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jarvis_cli.completion import groups
from jarvis_cli.language import language_of
from jarvis_cli.options import AGENTS, Budget, Group
from jarvis_cli.scan_options import ScanOptions

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings
    from jarvis_workers.steps.sec.judge_options import JudgeOptions


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
Discover = Annotated[
    bool, _option("--discover", help="Also ask for defects without a rule, in functions that handle outside data.")
]
DiscoverLimit = Annotated[
    int | None,
    _option("--discover-limit", min=1, max=1000, metavar="NUMBER", help="Functions to search with --discover. [20]"),
]
DiscoverBudget = Annotated[
    str | None,
    _option("--discover-budget", metavar="AMOUNT", help="Max. cost of --discover: 1usd, 200ktok."),
]
Read = Annotated[
    ReadChoice | None,
    _option("--read", help="Have the model read whole files first: what fits into agent.read_tokens, or all. [none]"),
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
    discover: Discover = False
    discover_limit: DiscoverLimit = None
    discover_budget: DiscoverBudget = None
    budget: Budget = None
    dry_run: DryRun = False


def judge_options_of(settings: "Settings", options: AgentScanOptions) -> "JudgeOptions":
    """Return the options of the run."""
    from jarvis_cli import sec_agent  # noqa: PLC0415
    from jarvis_workers.service import wiring  # noqa: PLC0415
    from jarvis_workers.service.discovery import discovery_of  # noqa: PLC0415
    from jarvis_workers.service.reading import reading_of  # noqa: PLC0415
    from jarvis_workers.steps.sec.judge_options import JudgeOptions  # noqa: PLC0415

    return wiring.scan_options_of(
        settings,
        JudgeOptions,
        profile=options.profile,
        lang=language_of(options.lang),
        model_group=options.group,
        second_group=options.second_group,
        escalate=options.escalate,
        cluster_limit=options.cluster_limit,
        max_findings=options.max_findings,
        votes=options.votes,
        second_look=options.second_look,
        canary=options.canary,
        **sec_agent.proof_options(
            settings,
            options.prove,
            options.proof_attempts,
            options.build,
            options.fuzz_seconds,
            quiet=options.quiet,
        ),
        **reading_of(settings, options.read, discover=options.discover),
        **discovery_of(discover=options.discover, limit=options.discover_limit, budget=options.discover_budget),
    )
