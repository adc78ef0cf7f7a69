"""Build a given interface with all bodies, and run its tests: the step of stage `merge`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.bench.crate_archive import CRATE, files_of, tar_of
from jarvis_workers.c2rust.bench.crate_tests import crate_outcome
from jarvis_workers.c2rust.given_interface import missing_functions
from jarvis_workers.c2rust.interface_question import interface_files
from jarvis_workers.c2rust.interface_result import (
    CrateOutcome,
    InterfaceFunction,
    InterfaceResult,
    encode_result,
)
from jarvis_workers.c2rust.interface_translation import WrittenFiles, decode_written
from jarvis_workers.c2rust.stages.gate_cache import QUEUE
from jarvis_workers.c2rust.stages.interface_options import InterfaceOptions
from jarvis_workers.c2rust.stages.write_interface import STEP as INTERFACE
from jarvis_workers.c2rust.stages.write_interface import WRITTEN, GroupPayload
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.pipeline.single_job import single_job
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.rust.rust_syntax import unsafe_lines
from jarvis_workers.store import jobs
from jarvis_workers.store.values import Claimed, Commit, Run, StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session

STEP = "merge"
RESULT = "interface.json"
UNBUILT = "the crate does not build with it and the bodies of other files"


@dataclass(frozen=True)
class MergeInterfaceWork(JsonRecord):
    """The options of the run, and the jobs that wrote files."""

    options: InterfaceOptions = field(metadata={"read": InterfaceOptions.decode})
    written: Sequence[StageJob] = field(metadata={"read": lambda rows: tuple(StageJob(*row) for row in rows)})


read_work = MergeInterfaceWork.decode
plan = single_job(STEP, QUEUE, "run the tests of the crate")


def load(session: "Session", run: Run, _: Claimed) -> MergeInterfaceWork:
    """Return the files that were written."""
    return MergeInterfaceWork(InterfaceOptions.of(run), tuple(jobs.outcomes(session, run.id, INTERFACE)))


def decide(work: MergeInterfaceWork, resources: Resources) -> Commit:
    """Return the crate and its result as blobs; what has no body or fails is not checked."""
    given = files_of(resources.blobs.read(work.options.crate))
    groups = [_written(one, resources.blobs) for one in work.written]
    crate, outcome = _built(given, groups, work.options)
    while outcome.error and (culprits := [one for one in groups if _is_culprit(one, outcome)]):
        groups = [one._replace(files={}, reason=UNBUILT) if one in culprits else one for one in groups]
        crate, outcome = _built(given, groups, work.options)
    files = interface_files(given)
    reasons = {path: one.reason for one, job in zip(groups, work.written, strict=True) for path in _paths(job)}
    result = InterfaceResult(
        tuple(_functions(files, interface_files(crate), reasons)),
        outcome,
        sum(unsafe_lines(crate[name].decode(errors="replace")) for name in files),
        sum(one.answers for one in groups),
    )
    gaps = tuple((b"", line) for line in result.failures())
    contents = (RESULT, encode_result(result)), (CRATE, tar_of(crate))
    return Commit(not_checked=gaps, blobs=tuple((name, resources.blobs.put(content)) for name, content in contents))


def _written(job: StageJob, blobs: Blobs) -> WrittenFiles:
    name = read_result(blobs, job.result).blobs.get(WRITTEN)
    return decode_written(blobs.read(name)) if name else WrittenFiles({}, reason=job.reason or "its job failed")


def _built(
    given: Mapping[str, bytes], groups: Iterable[WrittenFiles], options: InterfaceOptions
) -> tuple[dict[str, bytes], CrateOutcome]:
    crate = {**given, **{path: text.encode() for one in groups for path, text in one.files.items()}}
    return crate, crate_outcome(crate, options.command_limits)


def _is_culprit(group: WrittenFiles, outcome: CrateOutcome) -> bool:
    return any(f"{path}:" in outcome.error for path in group.files)


def _paths(job: StageJob) -> Iterable[str]:
    return GroupPayload.from_json(job.payload).paths


def _functions(
    files: Mapping[str, str], now: Mapping[str, str], reasons: Mapping[str, str]
) -> Iterable[InterfaceFunction]:
    for path, text in files.items():
        left = {one.key for one in missing_functions(now[path])}
        for one in missing_functions(text):
            reason = (reasons.get(path) or "its body is still missing") if one.key in left else ""
            yield InterfaceFunction(path, one.line, one.label, reason)
