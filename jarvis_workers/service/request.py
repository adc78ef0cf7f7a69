"""What is asked of a run, as one value, and the run that follows from it: light, and without a store."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jarvis_workers import __version__
from jarvis_workers.errors import UsageError
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.each_file import FileLimits
from jarvis_workers.sec.rules import RULES, Rule
from jarvis_workers.sec.sourcelinks import fill_template
from jarvis_workers.service.checkouts import read_checkout
from jarvis_workers.service.targets import repository_prefix
from jarvis_workers.snapshots.pack import Snapshot
from jarvis_workers.snapshots.selection import Selection
from jarvis_workers.store.values import Run

if TYPE_CHECKING:
    from jarvis_workers.agent.limits import AgentLimits
    from jarvis_workers.ratelimit.budget import RunBudget
    from jarvis_workers.sec.triage_record import Judgement
    from jarvis_workers.tools.tool import Language

__all__ = ["AgentTask", "Baseline", "Chosen", "Inquiry", "RunRequest", "Triage", "check_found", "check_path", "run_of"]

BATCHES_PER_PROCESS = 4
SMALLEST_BATCH_BYTES = 1 << 20
NAMES_MAX = 3


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rules of a run: `content` is the blob that workers read (None: those built in), `facts` its options."""

    rules: tuple[Rule, ...] = RULES
    content: bytes | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each fingerprint was known; `facts` say in reports what the findings were compared with."""

    known: Mapping[str, int]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Triage:
    """What a run heeds: what the store keeps, if `kept`, and `more` of the file `named`, which wins.

    One that `learns` weighs findings as judgements of others suggest.
    """

    kept: bool = True
    more: "tuple[Judgement, ...]" = ()
    named: str | None = None
    learns: bool = False


class KindOptions(Protocol):
    """What only runs of one kind are asked for; `options` are kept with the run, where its steps read them."""

    @property
    def options(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class AgentTask:
    """What an agent is asked to do, with the model of which group, within which limits."""

    task: str
    model_group: str
    limits: "AgentLimits"

    @property
    def options(self) -> dict[str, Any]:
        return {"task": self.task, "model_group": self.model_group, "agent_limits": asdict(self.limits)}


@dataclass(frozen=True, slots=True)
class Inquiry:
    """How agents judge what a scan finds: by the model of which group, within which limits, in which language.

    At most `cluster_limit` candidates are put to one agent; what is of high severity gets `votes`, all but the first by
    the `second_group` if there is one; `max_findings` are the candidates judged at most, the worst first; a
    `canary` is a known bug among them.
    """

    model_group: str
    limits: "AgentLimits"
    language: "Language" = "en"
    cluster_limit: int = 50
    votes: int = 1
    second_group: str | None = None
    second_look: bool = False
    max_findings: int | None = None
    canary: bool = False

    @property
    def model_groups(self) -> tuple[str | None, ...]:
        """All that may be asked."""
        return (self.model_group, self.second_group)

    @property
    def options(self) -> dict[str, Any]:
        names = ("model_group", "cluster_limit", "votes", "second_group", "second_look", "max_findings", "canary")
        chosen = {name: getattr(self, name) for name in names}
        return {**chosen, "lang": self.language, "agent_limits": asdict(self.limits)}


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What a user asks for. `run_id` is new, `executor` carries it out; `root` names the tree if `path` does not.

    With `profile` times are taken; then nothing is taken from the `cache`, as what is not done takes no time.
    The `language` is that of the report; where agents judge, their inquiry says it.
    What the `baseline` knew, and what people had said of findings, is kept with the run, so that its report says the
    same later. The `skipped_stages`, which must be optional, are left out. The `remark` is repeated in its report.
    The `source_url` is a template of links to the source.
    """

    run_id: str
    kind: str
    path: Path
    selection: Selection
    executor: str
    min_confidence: float
    batch_files: int
    batch_bytes: int
    processes: int
    root: bytes | None = None
    rules: Chosen = field(default_factory=Chosen)
    limits: FileLimits = field(default_factory=FileLimits)
    cache: bool = True
    profile: bool = False
    baseline: Baseline | None = None
    may_be_empty: bool = False
    skipped_stages: tuple[str, ...] = ()
    agent: KindOptions | None = None
    remark: str | None = None
    triage: Triage = field(default_factory=Triage)
    budget: "RunBudget | None" = None
    language: "Language" = "en"
    source_url: str | None = None


def check_found(request: RunRequest, snapshot: Snapshot) -> None:
    """Raise UsageError where there is nothing to do."""
    if not (snapshot.files or snapshot.not_checked or request.may_be_empty or _is_all_unchanged(request, snapshot)):
        raise UsageError(_nothing(request, snapshot))


def check_path(path: Path) -> None:
    """Raise UsageError where there is nothing to pack."""
    if not os.path.lexists(path):
        raise UsageError(f"{shown(os.fsencode(path))}: no such file or directory")


def run_of(request: RunRequest, snapshot: Snapshot, learned: Mapping[str, float]) -> Run:
    """Return the run of a request over its packed tree; `learned` says how far the confidence of rules has moved."""
    raw = request.root or os.fsencode(request.path.absolute())
    return Run(
        id=request.run_id,
        kind=request.kind,
        root=shown(raw),
        root_raw=raw,
        snapshot_id=snapshot.id,
        executor=request.executor,
        version=__version__,
        options=_options(request, snapshot, learned),
    )


def _options(request: RunRequest, snapshot: Snapshot, learned: Mapping[str, float]) -> dict[str, Any]:
    """Small trees get smaller batches, so that every process has something to do."""
    shares = max(1, request.processes) * BATCHES_PER_PROCESS
    rules = {**request.rules.facts, **({"learned": dict(learned)} if learned else {})}
    share = max(SMALLEST_BATCH_BYTES, snapshot.bytes // shares)
    return {
        "batch_bytes": min(request.batch_bytes, share),
        "batch_files": request.batch_files,
        "min_confidence": request.min_confidence,
        "processes": request.processes,
        "limits": request.limits._asdict(),
        "cache": request.cache and not request.profile,
        **_origin(request),
        **({"paths": [shown(path) for path in request.selection.paths]} if not request.selection.is_whole else {}),
        **({"profile": True} if request.profile else {}),
        **({"lang": request.language} if request.language != "en" else {}),
        **(request.agent.options if request.agent else {}),
        **({"remark": request.remark} if request.remark else {}),
        **({"baseline": _compared(request, request.baseline)} if request.baseline else {}),
        **({"rules": rules} if rules else {}),
        **({"triage": request.triage.named} if request.triage.named else {}),
    }


def _origin(request: RunRequest) -> dict[str, Any]:
    """Return where in a repository the tree is, what is checked out there, and the template of links to it."""
    directory = _directory(request.path)
    prefix, checkout = shown(repository_prefix(directory)), read_checkout(directory)
    facts: dict[str, Any] = {"path_prefix": prefix, **({"checkout": checkout._asdict()} if checkout else {})}
    if request.source_url:
        root = shown(request.root or os.fsencode(request.path.absolute()))
        commit = checkout.commit if checkout else None
        if url := fill_template(request.source_url, root=root, prefix=prefix, commit=commit):
            facts["source_url"] = url
    return facts


def _directory(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _compared(request: RunRequest, baseline: Baseline) -> dict[str, Any]:
    is_partial = request.selection.unchanged or not request.selection.is_whole
    return {**baseline.facts, **({"partial": True} if is_partial else {})}


def _is_all_unchanged(request: RunRequest, snapshot: Snapshot) -> bool:
    unchanged = request.selection.unchanged
    return unchanged is not None and unchanged.reason in snapshot.left_out


def _nothing(request: RunRequest, snapshot: Snapshot) -> str:
    names = request.selection.paths if not request.selection.is_whole else (os.fsencode(request.path),)
    more = f" and {len(names) - NAMES_MAX:,} more" if len(names) > NAMES_MAX else ""
    named = ", ".join(map(shown, names[:NAMES_MAX])) + more
    reasons = [f"{reason}: {count:,}" for reason, count in sorted(snapshot.left_out.items())]
    reasons += [f"{reason}: {shown(tree)}" for tree, reason in snapshot.excluded[:3]]
    why = "left out: " + "; ".join(reasons) if reasons else "no file has a suffix of the selected languages"
    return f"{named}: no C, C++ or Rust files to scan ({why})"
