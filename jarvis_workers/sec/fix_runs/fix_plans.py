"""The findings of a run that agents are to fix, with their proofs: the plan of the run that fixes them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from jarvis_workers.errors import UsageError
from jarvis_workers.paths import as_text, from_shown, listing, plain, shown
from jarvis_workers.runs.runs import AGENT_SCAN, find_run, newest_runs
from jarvis_workers.sec.fix.fixable import FIXABLE, UNVERIFIED, FixPlan, fix_finding, order_of, related_finding
from jarvis_workers.sec.proof.proof import Proof
from jarvis_workers.sec.report.defect_groups import DefectGroup, defect_groups
from jarvis_workers.sec.report_document import Issue, ReportBody
from jarvis_workers.sec.run_reports.reports import read_body
from jarvis_workers.sec.runs.scan_runs import has_findings, scan_of
from jarvis_workers.sec.stages.fix_options import FixRequest
from jarvis_workers.sec.stages.pipelines import IMPORT
from jarvis_workers.sec.stages.verdicts import can_be_fixed, has_verdicts
from jarvis_workers.sec.store import proofs
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.store.engine import Store
from jarvis_workers.store.values import Run

MOST_NAMED = 3
MOST_RUNS = 20
# Trees up to these sizes are scanned as a whole after a patch, larger ones around it.
SCAN_FILES, SCAN_BYTES = 2_000, 4_000_000
# Proofs of other findings, with which an error is known to stand without a patch.
PROVED_MAX = 200


def find_judged_run(store: Store, named: str) -> Run:
    """Return the run with this id or prefix; "last" is the newest with verdicts, or import. Raises UsageError."""
    if named == "last":
        run = next((run for run in newest_runs(store, MOST_RUNS, kinds=[AGENT_SCAN, IMPORT]) if run.ended), None)
        if run is None:
            raise UsageError("there is no run with verdicts yet; start one with: jarvis sec agent")
        return run
    run = find_run(store, named)
    if not (run.ended or run.state == "paused"):
        raise UsageError(f"run {run.id} is {run.state}; wait for it with: jarvis runs wait {run.id}")
    if not can_be_fixed(run):
        advice = "verify its findings with: jarvis sec agent" if has_findings(run.kind) else "it is no scan"
        raise UsageError(f"run {run.id} is a {run.kind} run without verdicts; {advice}")
    return run


def chosen_findings(run: Run, body: ReportBody, request: FixRequest) -> list[DefectGroup]:
    """Return the findings to fix, in order and by root cause.

    Raises UsageError if an id is unknown, or there is nothing to fix.
    """
    statuses = FIXABLE if has_verdicts(run) else (*FIXABLE, UNVERIFIED)
    fixable = sorted((issue for issue in body.issues if issue.status in statuses), key=order_of)
    if request.ids:
        by_id = {issue.id: issue for issue in body.findings}
        if unknown := [one for one in request.ids if one not in by_id]:
            ids = f"; choose among {listing([issue.id for issue in fixable], MOST_NAMED)}" if fixable else ""
            raise UsageError(f'run {run.id} has no finding "{plain(unknown[0])}"{ids}')
        if wrong := [by_id[one] for one in request.ids if by_id[one].status not in statuses or by_id[one].suppression]:
            status = "suppressed" if wrong[0].suppression else wrong[0].status
            raise UsageError(f"finding {wrong[0].id} is {status}; only confirmed findings are fixed")
        fixable = [issue for issue in fixable if issue.id in request.ids]
    if not fixable:
        what = "confirmed findings" if has_verdicts(run) else "findings"
        raise UsageError(f"run {run.id} has no {what} to fix; see: jarvis runs report {run.id}")
    return defect_groups(fixable)[: request.top]


class FindingsToFix(NamedTuple):
    """The findings of a run to fix, by root cause, the proved ones of the run, and the stored proofs by gid."""

    run: Run
    groups: Sequence[DefectGroup]
    proved: Sequence[Issue]
    proofs: Mapping[int, Proof]

    @classmethod
    def of(cls, store: Store, blobs: Blobs, run: Run, request: FixRequest) -> Self:
        """Read the findings of a run, and choose. Raises UsageError."""
        body = read_body(store, blobs, scan_of(run))
        groups = chosen_findings(run, body, request)
        proved = sorted((issue for issue in body.issues if issue.status == "proved"), key=order_of)[:PROVED_MAX]
        gids = {issue.gid for issue in (*proved, *(one for first, others in groups for one in (first, *others)))}
        with store.read() as session:
            found = proofs.of_gids(session, run.id, gids)
        return cls(run, groups, proved, {gid: proof for gid, proof in found.items() if proof.blob is not None})

    def plan(self, blobs: Blobs, scanned: str) -> FixPlan:
        """Return the findings with the hashes of their files, the files to scan, and the proved findings.

        The directory `scanned` is relative to the sources.
        """
        with open_snapshot(blobs, self.run.snapshot_id) as reader:
            entries = {shown(entry.path): entry for entry in reader.files()}
            is_small = reader.index.files <= SCAN_FILES and reader.index.bytes <= SCAN_BYTES
        below = f"{scanned}/" if scanned else ""

        def path_of(file: str) -> str:
            return below + as_text(from_shown(file))

        digests = {file: entry.digest for file, entry in entries.items()}
        return FixPlan(
            findings=tuple(
                fix_finding(issue, others, path_of, digests.get(issue.candidate.file, ""), self.proofs)
                for issue, others in self.groups
            ),
            files=tuple(as_text(entry.path) for entry in entries.values()) if is_small else (),
            proved=tuple(related_finding(issue, path_of, self.proofs) for issue in self.proved),
        )
