"""Submit a run that fixes the findings of another run."""

import gzip
import io
import os
import stat
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import as_text, from_shown, listing, plain, shown
from jarvis_workers.runs.budgets import budget_of
from jarvis_workers.runs.conversation_limits import agent_limits_of
from jarvis_workers.runs.models import model_name
from jarvis_workers.runs.request import RunInput, RunRequest
from jarvis_workers.runs.runs import AGENT_SCAN, find_run, newest_runs
from jarvis_workers.runs.scan_request import request_for, with_settings
from jarvis_workers.runs.sources import SourceTree, source_labels
from jarvis_workers.sec.fix.fixable import FIXABLE, FixPlan, fix_finding, order_of, related_finding
from jarvis_workers.sec.fix_runs.fix_results import LABEL
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.defect_groups import DefectGroup, defect_groups
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_runs import has_findings, scan_of
from jarvis_workers.sec.stages.fix_options import FixOptions, FixRequest
from jarvis_workers.sec.stages.judge_options import JudgeOptions
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.pipelines import FIX
from jarvis_workers.sec.stages.verdicts import has_verdicts
from jarvis_workers.sec.store import proofs
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.selection import OWN_DIRECTORY, Selection
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run
from jarvis_workers.toolchain.git_import import AUTHOR, Author
from jarvis_workers.toolchain.gittree import TreeBounds
from jarvis_workers.toolchain.local_repository import LocalRepository

if TYPE_CHECKING:
    from jarvis_workers.settings import Settings


# The sources of a run that fixes findings: a commit of the user's repository, or the directory itself.

LEFT_OUT = frozenset({".git", ".hg", ".svn", os.fsdecode(OWN_DIRECTORY)})
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
MODES = {True: 0o755, False: 0o644}


class FixSources(NamedTuple):
    """The archive, the directory in it that was scanned, and the commit; `base` is "" without a repository."""

    archive: bytes
    below: str = ""
    base: str = ""
    copied: str = ""
    closed: tuple[str, ...] = ()
    author: Author = AUTHOR


def read_sources(root: Path, bounds: TreeBounds, tell: Callable[[str], None], *, with_changes: bool) -> FixSources:
    """Return the sources of a scanned directory. Raises UsageError if they cannot be read, or are too large."""
    repository = LocalRepository.around(root, os.environ)
    if repository is not None and (sources := _committed(repository, root, bounds, tell, with_changes=with_changes)):
        return sources
    if with_changes:
        raise UsageError(f"--with-changes: {plain(str(root))} is not in a git repository")
    tell(f"{plain(str(root))} is not under version control: the fixes become patch files, and no branch")
    return FixSources(pack_directory(root, bounds))


def _committed(
    repository: LocalRepository, root: Path, bounds: TreeBounds, tell: Callable[[str], None], *, with_changes: bool
) -> FixSources | None:
    """Return the sources of a commit; None if HEAD has no file of the directory."""
    head, author = repository.head, repository.author() or AUTHOR
    below = os.path.relpath(os.path.realpath(root), repository.top).removeprefix(".")
    closed = repository.submodules(head, bounds) if head else []
    base = repository.copy_changes(head, author, int(time.time()), closed) if with_changes else head
    if base is None or not repository.git("ls-tree", "--full-tree", "--name-only", base, f"{below}/" if below else "."):
        return None
    if not with_changes and (dirty := len(repository.dirty_paths())):
        files = "1 uncommitted file is" if dirty == 1 else f"{dirty:,} uncommitted files are"
        tell(f"the fixes start at HEAD, {base[:12]}; {files} not part of it (--with-changes copies them)")
    copied = base if with_changes and base != head else ""
    return FixSources(repository.pack(base, bounds), below, base, copied, tuple(closed), author)


def pack_directory(root: Path, bounds: TreeBounds) -> bytes:
    """Return the files and links of a directory as a compressed tar archive; equal trees have equal archives.

    Directories of version control and our own are left out, as are devices and pipes.
    """
    buffer, files, size = io.BytesIO(), 0, 0
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in _files(root):
            found = _entry(root, path)
            if found is None:
                continue
            entry, content = found
            files += 1
            size += len(content)
            if files > bounds.files or size > bounds.bytes:
                raise UsageError(
                    f"{plain(str(root))} has more than {bounds.files:,} files or {bounds.bytes / 1e6:,.0f} MB; "
                    "put it under version control, or raise code.max_mb"
                )
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), 1, mtime=0)


def _files(root: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(root):
        links = [name for name in names if Path(directory, name).is_symlink()]
        names[:] = sorted(name for name in names if name not in LEFT_OUT and name not in links)
        yield from (Path(directory, name) for name in sorted([*files, *links]))


def _entry(root: Path, path: Path) -> tuple[tarfile.TarInfo, bytes] | None:
    """Return the entry of a file or a link, without owner and times; None for anything else."""
    entry = tarfile.TarInfo(str(path.relative_to(root)))
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            entry.type, entry.linkname = tarfile.SYMTYPE, os.fspath(path.readlink())
            return entry, b""
        if not stat.S_ISREG(mode):
            return None
        content = _read(path)
    except OSError as error:
        raise UsageError(f"{plain(str(path))}: cannot be read: {error.strerror}") from error
    entry.mode, entry.size = MODES[bool(mode & stat.S_IXUSR)], len(content)
    return entry, content


def _read(path: Path) -> bytes:
    with os.fdopen(os.open(path, READ_FLAGS), "rb") as file:
        return file.read()


NO_SOURCES = "no-sources"
MOST_NAMED = 3
MOST_RUNS = 20
# A patch takes many calls, and the same reading after each failed gate; the rounds limit them.
SAME_CALL = 10
# Trees up to these sizes are scanned as a whole after a patch, larger ones around it.
SCAN_FILES, SCAN_BYTES = 2_000, 4_000_000
# Proofs of other findings, with which an error is known to stand without a patch.
PROVED_MAX = 200

Tell = Callable[[str], None]


@dataclass(frozen=True)
class FixInput(RunInput):
    """The input of a run: its options, the archive of the sources, the findings, and the contents of their proofs."""

    options: FixOptions
    archive: bytes = b""
    plan: FixPlan = field(default_factory=lambda: FixPlan(findings=()))
    proofs: tuple[bytes, ...] = ()
    names_paths: ClassVar[bool] = False

    @cached_property
    def _plan_json(self) -> bytes:
        return self.plan.model_dump_json().encode()

    @property
    def contents(self) -> tuple[bytes, ...]:
        """Return the archive, the findings and the proofs."""
        return (self.archive, self._plan_json, *self.proofs)

    def complete(self, selection: Selection, store: "Store | None") -> FixOptions:
        """Return the options with the names of the blobs."""
        archive, findings = (sha256(content).hexdigest() for content in self.contents[:2])
        return replace(self.options, archive=archive, findings=findings)


def find_judged_run(store: Store, named: str) -> Run:
    """Return the run with this id or prefix; "last" is the newest with verdicts. Raises UsageError."""
    if named == "last":
        run = next((run for run in newest_runs(store, MOST_RUNS, kinds=[AGENT_SCAN]) if run.ended), None)
        if run is None:
            raise UsageError("there is no run with verdicts yet; start one with: jarvis sec agent")
        return run
    run = find_run(store, named)
    if not (run.ended or run.state == "paused"):
        raise UsageError(f"run {run.id} is {run.state}; wait for it with: jarvis runs wait {run.id}")
    if not has_verdicts(run):
        advice = "verify its findings with: jarvis sec agent" if has_findings(run.kind) else "it is no scan"
        raise UsageError(f"run {run.id} is a {run.kind} run without verdicts; {advice}")
    return run


def chosen_findings(run: Run, body: ReportBody, request: FixRequest) -> list[DefectGroup]:
    """Return the findings to fix, in order and by root cause.

    Raises UsageError if an id is unknown, or there is nothing to fix.
    """
    fixable = sorted((issue for issue in body.issues if issue.status in FIXABLE), key=order_of)
    if request.ids:
        by_id = {issue.id: issue for issue in body.findings}
        if unknown := [one for one in request.ids if one not in by_id]:
            ids = f"; choose among {listing([issue.id for issue in fixable], MOST_NAMED)}" if fixable else ""
            raise UsageError(f'run {run.id} has no finding "{plain(unknown[0])}"{ids}')
        if wrong := [by_id[one] for one in request.ids if by_id[one].status not in FIXABLE]:
            status = "suppressed" if wrong[0].suppression else wrong[0].status
            raise UsageError(f"finding {wrong[0].id} is {status}; only confirmed findings are fixed")
        fixable = [issue for issue in fixable if issue.id in request.ids]
    if not fixable:
        raise UsageError(f"run {run.id} has no confirmed findings to fix; see: jarvis runs report {run.id}")
    return defect_groups(fixable)[: request.top]


def fix_request(
    settings: "Settings", store: Store, blobs: Blobs, run: Run, request: FixRequest, executor: str, tell: Tell
) -> RunRequest[FixInput]:
    """Return the request of a run that fixes findings of `run`. Raises UsageError if that is not possible."""
    body = read_body(store, blobs, scan_of(run))
    findings = chosen_findings(run, body, request)
    root = root_of(run)
    bounds = TreeBounds(settings.scan.git_max_files, int(settings.code.max_mb * 1_000_000), "code.max_mb")
    sources = read_sources(root, bounds, tell, with_changes=request.with_changes)
    if not request.options.build:
        tell("no build command is set (--build): only the changed files are compiled, if that is possible")
    if not request.options.tests:
        tell("no test command is set (--test): the patches are not tested")
    proved = sorted((issue for issue in body.issues if issue.status == "proved"), key=order_of)[:PROVED_MAX]
    by_gid = _proofs(store, run, [*proved, *(one for first, others in findings for one in (first, *others))])
    fix_plan = _plan(run, blobs, findings, proved, sources, by_gid)
    attempts = tuple(blobs.read(blob) for found in fix_plan.findings for blob in found.proof_blobs)
    run_input = FixInput(_options(settings, run, sources, request.options), sources.archive, fix_plan, attempts)
    return _request(settings, root, run, executor, run_input)


def root_of(run: Run) -> Path:
    """Return the scanned directory. Raises UsageError if it is not on this machine."""
    root = Path(os.fsdecode(run.root_raw))
    root = root.parent if root.is_file() else root
    if not root.is_dir():
        raise UsageError(f"run {run.id}: its sources {plain(run.root)} are not a directory on this machine")
    return root


def _options(settings: "Settings", run: Run, sources: FixSources, options: FixOptions) -> FixOptions:
    """Return the options completed by the settings, the scanned run and its sources."""
    scan = SecOptions.of(run)
    return with_settings(
        settings,
        options,
        scanned=run.id,
        model_group=model_name(settings, options.model_group),
        agent_limits=replace(agent_limits_of(settings), tool_calls=settings.agent.rounds, same_call=SAME_CALL),
        base=sources.base,
        copied=sources.copied,
        below=sources.below,
        closed=list(sources.closed),
        proof_build=JudgeOptions.of(run).proof_build,
        min_confidence=scan.min_confidence,
        rules=scan.rules,
        build_flags=scan.build,
        author=list(sources.author),
    )


def _proofs(store: Store, run: Run, issues: Sequence[Issue]) -> dict[int, Proof]:
    """Return the stored proofs of findings by gid."""
    gids = {issue.gid for issue in issues}
    with store.read() as session:
        found = proofs.of_gids(session, run.id, gids)
    return {gid: proof for gid, proof in found.items() if proof.blob is not None}


def _plan(
    run: Run,
    blobs: Blobs,
    findings: Sequence[DefectGroup],
    proved: Sequence[Issue],
    sources: FixSources,
    by_gid: Mapping[int, Proof],
) -> FixPlan:
    """Return the findings with the hashes of their files, the files to scan, and the proved findings."""
    with open_snapshot(blobs, run.snapshot_id) as reader:
        entries = {shown(entry.path): entry for entry in reader.files()}
        is_small = reader.index.files <= SCAN_FILES and reader.index.bytes <= SCAN_BYTES
    below = f"{sources.below}/" if sources.below else ""

    def path_of(file: str) -> str:
        return below + as_text(from_shown(file))

    digests = {file: entry.digest for file, entry in entries.items()}
    return FixPlan(
        findings=tuple(
            fix_finding(issue, others, path_of, digests.get(issue.candidate.file, ""), by_gid)
            for issue, others in findings
        ),
        files=tuple(as_text(entry.path) for entry in entries.values()) if is_small else (),
        proved=tuple(related_finding(issue, path_of, by_gid) for issue in proved),
    )


def _request(settings: "Settings", root: Path, run: Run, executor: str, run_input: FixInput) -> RunRequest[FixInput]:
    """Return the request; its sources are in the archive, so that the snapshot is empty."""
    nothing = settings.data_dir / "cache" / NO_SOURCES
    nothing.mkdir(parents=True, exist_ok=True)
    labels = {**source_labels(SourceTree(root, os.fsencode(root))), LABEL: run.id}
    request = request_for(settings, SourceTree(nothing, os.fsencode(root)), FIX, executor, run_input, labels=labels)
    budget = budget_of(settings, run_input.options.model_group)
    return replace(request, selection=Selection(suffixes=None), may_be_empty=True, budget=budget)
