"""The options of a scan. Slow imports are avoided, since the scanning child processes use this module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from jarvis_workers.depth import FLOW_DEPTH, Depth
from jarvis_workers.option import EXECUTION, REPORT, RULES, Option
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.options import RunOptions

if TYPE_CHECKING:
    from jarvis_workers.agents.tools.tool import Language


@dataclass(frozen=True)
class RuleFacts(JsonRecord):
    """The rules of a run: the `blob` for workers (None: built-in rules only), disabled ids, and severities by id.

    `project` are the ids of the project's own rules, `packages` the fingerprints of installed rule packages by name,
    `learned` the adjustments of rule confidences derived from triage verdicts. With the `depth` "rules", all data-flow
    rules are disabled.
    """

    blob: str | None = None
    off: Sequence[str] = field(default_factory=list)
    severity: Mapping[str, str] = field(default_factory=dict)
    project: Sequence[str] = field(default_factory=list)
    packages: Mapping[str, str] = field(default_factory=dict)
    learned: Mapping[str, float] = field(default_factory=dict)
    depth: Depth = FLOW_DEPTH


@dataclass(frozen=True, kw_only=True)
class SecOptions(RunOptions):
    """Options of the report: contents, language and baseline.

    `profile` enables time measurement. `lang` is the language of the report and of the agents' texts. `baseline`
    describes the baseline in reports, `triage` names the file of triage verdicts. `build` is the blob of the macros and
    include directories with which files are compiled, `alerts` that of the findings of other analyzers, `witness` that
    of the analyzers to run. The project is built by the command `proof_build`. `narrowed` are
    the settings by which the scan finds less than with the defaults, `altered` what the change under test narrows of
    its own scan, compared with its base. `selection` are the options that select files, where they differ from the
    defaults.
    """

    min_confidence: Annotated[
        float,
        Option(
            "--min-confidence",
            "Minimum confidence to report (0–1).",
            RULES,
            metavar="NUMBER",
            setting="report.min_confidence",
            at_least=0,
            at_most=1,
        ),
    ] = 0.0
    profile: Annotated[bool, Option("--profile", "Print time per rule and file.", REPORT)] = False
    lang: "Language" = "en"
    rules: RuleFacts = field(default=RuleFacts(), metadata={"read": RuleFacts.decode})
    baseline: Mapping[str, Any] | None = None
    triage: str | None = None
    build: str | None = None
    alerts: str | None = None
    witness: str | None = None
    proof_build: Annotated[
        str | None,
        Option(
            "--build",
            "Build the project with this command, for --witness and for proofs; default: file by file.",
            EXECUTION,
            metavar="COMMAND",
        ),
    ] = None
    narrowed: Sequence[str] = field(default_factory=list)
    altered: Sequence[str] = field(default_factory=list)
    selection: Mapping[str, Any] | None = None

    @property
    def has_alerts(self) -> bool:
        """Whether the run has findings of other analyzers."""
        return self.alerts is not None or self.witness is not None
