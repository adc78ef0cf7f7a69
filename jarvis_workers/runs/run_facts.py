"""The `run` part of a report: the only part that differs between two runs over the same input."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from jarvis_workers.depth import FLOW_DEPTH, Depth
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.options import RunOptions
from jarvis_workers.store.values import Run, StageProgress

# What a report repeats of options that are set.
OPTION_FIELDS = ("paths", "source_url", "label", "checkout", "repository_url")
SCOPE_FIELDS = ("narrowed", "altered")
# Options that decide what a scan can find, besides `selection`; those of agents are absent from other runs.
SELECTING_FIELDS = ("min_confidence", "read", "read_tokens", "max_findings")


@dataclass(frozen=True)
class ReportedRules(JsonRecord):
    """What a report repeats of the rules of a scan; see `RuleFacts` of the options of scans."""

    off: Sequence[str] = field(default_factory=list)
    severity: Mapping[str, str] = field(default_factory=dict)
    project: Sequence[str] = field(default_factory=list)
    packages: Mapping[str, str] = field(default_factory=dict)
    learned: Mapping[str, float] = field(default_factory=dict)
    depth: Depth = FLOW_DEPTH


@dataclass(frozen=True, kw_only=True)
class ReportedOptions(RunOptions):
    """What a report repeats of the options of a run; only scans have the fields beside those of all runs."""

    rules: ReportedRules = field(default=ReportedRules(), metadata={"read": ReportedRules.decode})
    baseline: Mapping[str, Any] | None = None
    triage: str | None = None
    narrowed: Sequence[str] = field(default_factory=list)
    altered: Sequence[str] = field(default_factory=list)
    selection: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RunCosts:
    """The cost of a run's models, empty without models; `sandbox` are the tiers in which commands were confined.

    A `cost` of None is unknown.
    """

    model: Mapping[str, Any] | None = None
    cost: float | None = 0.0
    budget: Mapping[str, Any] | None = None
    sandbox: Any = None


def rounded_cost(cost: float | None) -> float | None:
    """Return an amount of dollars as reports contain it; None is unknown."""
    return None if cost is None else round(cost, 6)


def run_facts(run: Run, progress: Iterable[StageProgress], costs: RunCosts) -> dict[str, Any]:
    """Return the `run` part; `progress` are the stages in order."""
    options = ReportedOptions.of(run)
    return {
        "id": run.id,
        "kind": run.kind,
        "state": run.state,
        "reason": run.reason,
        "model": costs.model,
        **({"budget": costs.budget} if costs.budget else {}),
        "scanned_root": run.root,
        **{name: value for name in OPTION_FIELDS if (value := getattr(options, name))},
        "path_prefix": options.path_prefix,
        "snapshot": run.snapshot_id,
        "version": run.version,
        "rules": {one.name: getattr(options.rules, one.name) for one in fields(ReportedRules)},
        **({"selection": selection} if (selection := _selection(run, options)) else {}),
        **({"baseline": options.baseline["what"]} if options.baseline else {}),
        **({"triage": options.triage} if options.triage else {}),
        **{name: list(value) for name in SCOPE_FIELDS if (value := getattr(options, name))},
        "executor": run.executor,
        "created_at": _iso(run.created_at),
        "started_at": _iso(run.started_at),
        "ended_at": _iso(run.ended_at),
        "seconds": _seconds(run.created_at, run.ended_at),
        "cost": rounded_cost(costs.cost),
        **({"sandbox": costs.sandbox} if costs.sandbox else {}),
        **({"remark": options.remark} if options.remark else {}),
        "stages": {stage.name: _stage(stage) for stage in progress},
    }


def _selection(run: Run, options: ReportedOptions) -> dict[str, Any]:
    more = {name: value for name in SELECTING_FIELDS if (value := run.options.get(name))}
    return {**(options.selection or {}), **more}


def _stage(stage: StageProgress) -> dict[str, Any]:
    return {
        "state": stage.state,
        "jobs": stage.jobs,
        "done": stage.done,
        "failed": stage.failed,
        "crashes": stage.crashes,
        "files": stage.files,
        "cached": stage.cached,
        "bytes": stage.bytes,
        "cpu_seconds": round(stage.cpu_seconds, 3),
        "seconds": _seconds(stage.opened_at, stage.closed_at),
        **(_conversations(stage) if stage.mean_seconds or stage.tokens else {}),
    }


def _conversations(stage: StageProgress) -> dict[str, Any]:
    """Return the cost and the times of the conversations of a stage, and the outcomes of those that translate."""
    facts = {
        "running": stage.running,
        "tokens": stage.tokens,
        "cost": rounded_cost(stage.cost),
        "tokens_left": stage.tokens_left,
        "cost_left": rounded_cost(stage.cost_left),
        "a_minute": round(60 * stage.conversation_rate, 3),
        "mean_seconds": round(stage.mean_seconds, 3),
        "seconds_left": round(stage.seconds_left, 3),
    }
    if not stage.proofs:
        return facts
    numbers = {"accepted": sum(stage.accepted.values()), "stepped_down": stage.stepped_down}
    return facts | numbers | {"proofs": dict(stage.accepted)}


def _iso(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")


def _seconds(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else round(max(0.0, end - start), 3)
