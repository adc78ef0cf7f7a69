"""The scan that a command requests: resolved once from its options and settings, and then only read.

Slow imports are avoided, since the scan of a small tree takes no longer than some of them.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_cli.kit.report_target import Delivery
from jarvis_workers.paths import shown
from jarvis_workers.runs.request import RunRequest
from jarvis_workers.runs.scan_request import request_for
from jarvis_workers.runs.sources import SourceTree
from jarvis_workers.runs.targets import ScanTarget, target_of
from jarvis_workers.sec.runs.scan_input import ScanInput
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.settings import TOML_FILE, TOML_PLACE, YAML_FILE, Settings, origins

if TYPE_CHECKING:
    from jarvis_workers.models.ratelimit.budget import RunBudget
    from jarvis_workers.runs.named_runs import RunName
    from jarvis_workers.sec.stages.judge_options import JudgeOptions

# The settings whose change in the current directory is told: it may be a clone of somebody else's repository.
SECTIONS = ("rules.", "report.")
# Those of section `scan` that select files; the others are limits and batch sizes.
SCAN = ("extensions", "languages", "exclude_dirs", "use_ignore_files", "jarvisignore_of_addresses", "max_file_mb")


@dataclass(frozen=True)
class ScanRequest:
    """What is scanned, how, and where the report goes; `names` are as a user gives them, paths are relative to `root`.

    `globs` are the patterns to include and to exclude.

    `baseline` is a report or a revision; files unchanged since the revision `since` are left out. `agents` are the
    options of the verification by agents; None disables it. A dry run that is to read files only `ranks` them. One that
    only `imports` takes the findings of other analyzers, and scans nothing. The `flags` are the settings that are given
    on the command line. The `compile_commands` say how other analyzers read the files.
    """

    settings: Settings
    names: Sequence[str]
    delivery: Delivery
    scan_input: ScanInput = field(default_factory=ScanInput)
    globs: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    baseline: str | None = None
    since: str | None = None
    agents: "JudgeOptions | None" = None
    labels: Mapping[str, str] = field(default_factory=dict)
    name: str | None = None
    ranks: bool = False
    imports: bool = False
    detach: bool = False
    root: str | None = None
    flags: Mapping[str, object] = field(default_factory=dict)
    compile_commands: Path | None = None

    @property
    def kind(self) -> str:
        """The kind of the run."""
        if self.imports:
            from jarvis_workers.sec.stages.pipelines import IMPORT  # noqa: PLC0415  (slow to import)

            return IMPORT
        if self.ranks and not self.agents:
            from jarvis_workers.sec.stages.pipelines import RANKED  # noqa: PLC0415  (slow to import)

            return RANKED
        return "sec.agent" if self.agents else "sec.fast"

    @cached_property
    def target(self) -> ScanTarget:
        """The root of the scan, and the paths below it. Raises UsageError."""
        return target_of(self.names, self.root)

    @cached_property
    def notice(self) -> str | None:
        """A line about what changes the scope of the scan: files of the current directory, or a change under test."""
        directory = Path.cwd()
        if self.settings.scope.notice or not any(map(os.path.exists, (directory / YAML_FILE, directory / TOML_FILE))):
            return self.settings.scope.notice
        scope = [origin for origin in origins(self.flags, directory=directory) if _is_of_scope(origin.setting)]
        parts = [
            f"{source} sets {', '.join(names)}"
            for source in (YAML_FILE, TOML_PLACE)
            if (names := [origin.setting for origin in scope if origin.source == source])
        ]
        return f"settings in this directory change the scope of the scan: {'; '.join(parts)}" if parts else None

    @property
    def without_agents(self) -> "ScanRequest":
        """The request without agents, labels, name, remark and delivery, for the scan of a baseline."""
        undelivered: dict[str, Any] = dict.fromkeys(self.delivery.run_options)
        scan_input = replace(self.scan_input, options=replace(self.scan_input.options, remark=None, **undelivered))
        return replace(self, scan_input=scan_input, agents=None, ranks=False, labels={}, name=None)

    def with_options(self, **options: Any) -> "ScanRequest":
        """Return the request with other options of its run, such as a remark, which also appears in the report."""
        scan_input = replace(self.scan_input, options=replace(self.scan_input.options, **options))
        return replace(self, scan_input=scan_input, agents=self.agents and replace(self.agents, **options))

    @cached_property
    def budget(self) -> "RunBudget | None":
        """The budget of the agents. Raises UsageError."""
        if self.agents is None:
            return None
        from jarvis_workers.runs.budgets import budget_of  # noqa: PLC0415  (the store is slow to import)

        return budget_of(self.settings, *self.agents.model_groups)

    @cached_property
    def run_name(self) -> "RunName | None":
        """The name of the run with the hash of this request, or None if it is not named."""
        if self.name is None:
            return None
        from jarvis_workers.runs.named_runs import RunName, request_hash  # noqa: PLC0415  (slow to import)

        settings, scan_input = self.settings, self.scan_input
        root = self.target.root if self.target.is_address else os.path.realpath(self.target.root)
        facts: dict[str, Any] = {
            "where": settings.place,
            "kind": self.kind,
            "source": [root, *map(shown, self.target.paths)],
            "globs": self.globs,
            "scan": settings.scan.model_dump(mode="json", exclude_defaults=True),
            "rules": scan_input.rules.facts.encode(),
            "triage": [scan_input.triage.stored, scan_input.triage.named, scan_input.triage.learns],
            "compared": [self.baseline, self.since],
        }
        if scan_input.build is not None:
            facts["build"] = scan_input.build_blob
        if scan_input.alerts is not None:
            facts["alerts"] = scan_input.alerts_blob
        return RunName(self.name, request_hash(self.agents or scan_input.options, **facts))

    def of(self, source: SourceTree, executor: str) -> RunRequest[ScanInput]:
        """Return the request of the run over a source. Raises UsageError."""
        settings, scan_input = self.settings, self.scan_input
        if self.agents:
            from jarvis_workers.sec.runs.project_builds import with_project  # noqa: PLC0415  (slow to import)

            scan_input = with_project(settings, replace(scan_input, options=self.agents), source.path)
        if settings.scan.witness and not self.imports:
            from jarvis_workers.sec.runs.project_builds import with_witnesses  # noqa: PLC0415  (slow, and rarely needed)

            scan_input = with_witnesses(settings, scan_input, source.path, self.compile_commands)
        if type(scan_input.options) is not SecOptions:
            from jarvis_workers.sec.runs.reading import with_intro  # noqa: PLC0415  (slow to import)

            scan_input = with_intro(scan_input, source.path)
        # Which stages a run has depends on these.
        foreign = replace(scan_input.options, alerts=scan_input.alerts_blob, witness=scan_input.witness_blob)
        scan_input = replace(scan_input, options=foreign)
        run = request_for(settings, source, self.kind, executor, scan_input, labels=self.labels, globs=self.globs)
        selection = run.selection
        if scan_input.build is not None:
            from jarvis_workers.sec.runs.scan_flags import compiled_files  # noqa: PLC0415  (slow, and rarely needed)

            selection = replace(selection, compiled=compiled_files(scan_input.build, selection))
        return replace(
            run,
            budget=self.budget,
            name=self.run_name,
            # Alerts are named, even if the tree has no file that they could be about.
            may_be_empty=self.imports,
            selection=replace(selection, paths=self.target.paths),
        )


def _is_of_scope(setting: str) -> bool:
    return setting.startswith(SECTIONS) or setting in {f"scan.{name}" for name in SCAN}
