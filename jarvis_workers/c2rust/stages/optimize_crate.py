"""Run one pass over a crate in the sandbox, and test the result: the step of stage `optimize`.

Each pass is a job, whose child is the next pass, so that a killed run repeats one pass only.  Files with which the
tests fail stay as they were before the pass; bisection finds them.
"""

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from jarvis_workers.c2rust.bench.crate_archive import files_of, tar_of
from jarvis_workers.c2rust.bench.crate_bench import CargoRun, CrateBench, open_crate_bench
from jarvis_workers.c2rust.bisection import find_culprits
from jarvis_workers.c2rust.crate_metrics import is_module
from jarvis_workers.c2rust.optimization import PASSES, OptimizeReport
from jarvis_workers.c2rust.stages.gate_cache import QUEUE
from jarvis_workers.c2rust.stages.merge_bodies import CRATE
from jarvis_workers.c2rust.stages.merge_bodies import STEP as MERGE
from jarvis_workers.c2rust.stages.optimize_options import OptimizeOptions
from jarvis_workers.c2rust.stages.skeleton import bench_directory
from jarvis_workers.c2rust.unsafe_cleaning import Compilation, RustDiagnostic, Texts
from jarvis_workers.errors import StepFailed
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.sandbox.limits import BenchLimits
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.store.values import Claimed, Commit, NewJob
from jarvis_workers.toolchain.cargo import CargoMessage

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

STEP = "optimize"
# The names of the blobs: the files that differ from those of the crate, and the report so far.
CHANGES, REPORT = "changes", "optimize_report"
SPENT = "stopped at the maximum number of test runs (--max-checks)"
UNRESOLVED = re.compile("no matching package|failed to get|failed to select a version|unable to update")
VENDOR = "; the sandbox has no network: put dependencies into the crate with cargo vendor"
WINDOWS_LINE_END = "\r\n"
SUFFIX, GZIP = ".rs", b"\x1f\x8b"


@dataclass(frozen=True)
class PassPayload(JsonRecord):
    """The pass of a job, as its number in the options; the blobs of the crate, and those of the pass before."""

    crate: str
    number: int = 0
    changes: str = ""
    report: str = ""


@dataclass(frozen=True, kw_only=True)
class PassWork(JsonRecord):
    """The input of a job."""

    payload: PassPayload = field(metadata={"read": lambda value: PassPayload.decode(value)})
    options: OptimizeOptions = field(metadata={"read": lambda value: OptimizeOptions.decode(value)})

    @property
    def name(self) -> str:
        """The name of the pass."""
        return self.options.passes[self.payload.number]


read_work = PassWork.decode


def plan_on(run: "Run", blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield the job of the first pass, over the crate of the options, or that of the stage `merge`."""
    options = OptimizeOptions.of(run)
    merged = () if options.archive else earlier.outcomes(MERGE)
    names = (read_result(blobs, one.result).blobs.get(CRATE) for one in merged)
    crate = options.archive or next((name for name in names if name), "")
    if not crate:
        raise StepFailed("there is no crate to optimize")
    yield _job(options, PassPayload(crate))


def _job(options: OptimizeOptions, payload: PassPayload) -> NewJob:
    name = options.passes[payload.number]
    return NewJob(STEP, QUEUE, name, f"{STEP}:{name}", payload=payload.to_json())


def load(_: "Session", run: "Run", job: Claimed) -> PassWork:
    """Return the pass of a job."""
    return PassWork(payload=PassPayload.from_json(job.payload), options=OptimizeOptions.of(run))


def decide(work: PassWork, resources: Resources) -> Commit:
    """Return the changed files and the report after a pass, as blobs, and the job of the next pass."""
    blobs, options, payload = resources.blobs, work.options, work.payload
    changes = files_of(blobs.read(payload.changes)) if payload.changes else {}
    report = OptimizeReport.model_validate_json(blobs.read(payload.report)) if payload.report else OptimizeReport()
    with crate_bench(payload.crate, options, resources) as bench:
        trial = _PassTrial(bench, sources_of(payload, blobs), options, report)
        if not payload.number:
            trial.require_passing_tests()
        trial.run(work.name)
    report = trial.report
    changes |= trial.changes
    stored = blobs.put(tar_of(changes)), blobs.put(report.model_dump_json().encode())
    number = payload.number + 1
    goes_on = number < len(options.passes) and SPENT not in report.errors
    children = (_job(options, PassPayload(payload.crate, number, *stored)),) if goes_on else ()
    return Commit(files=1, children=children, blobs=tuple(zip((CHANGES, REPORT), stored, strict=True)))


def sources_of(payload: PassPayload, blobs: Blobs) -> dict[str, bytes]:
    """Return the Rust files of the crate with the changes before a job."""
    files = files_of(blobs.read(payload.crate)).items()
    changes = files_of(blobs.read(payload.changes)) if payload.changes else {}
    return {name: content for name, content in files if name.endswith(SUFFIX)} | changes


@contextmanager
def crate_bench(crate: str, options: OptimizeOptions, resources: Resources) -> Iterator[CrateBench]:
    """Yield a bench on this machine with the crate of a blob."""
    content = resources.blobs.read(crate)
    archive = content if content.startswith(GZIP) else gzip.compress(content, 1, mtime=0)
    limits = BenchLimits(options.build_seconds, options.test_seconds, options.memory_mb, options.disk_mb)
    with bench_directory(resources) as place, open_crate_bench(place, archive, limits) as bench:
        yield bench


class _PassTrial:
    """A crate on a bench during a pass: its sources, and the report so far."""

    def __init__(
        self, bench: CrateBench, sources: Mapping[str, bytes], options: OptimizeOptions, report: OptimizeReport
    ) -> None:
        self._bench, self._sources, self._options, self.report = bench, sources, options, report
        self.changes: dict[str, bytes] = {}
        self._spent = False

    def require_passing_tests(self) -> None:
        """Raise StepFailed if the tests fail before any change."""
        run = self._test({})
        if not run.passed:
            advice = VENDOR if UNRESOLVED.search(run.failure) else ""
            raise StepFailed(f"cargo test fails before any change: {run.failure}{advice}")

    def run(self, name: str) -> None:
        """Run a pass; files with which the tests fail do not change."""
        texts, unreadable = _texts(self._sources, self._options.files or list(filter(is_module, self._sources)))
        result = PASSES[name](texts, self._compile)
        files = sorted(result.texts)
        culprits = find_culprits(files, lambda some: self._test({one: result.texts[one] for one in some}).passed)
        if self._spent:
            self.report += OptimizeReport(errors=(SPENT,))
            return
        chosen = [file for file in files if file not in culprits]
        self.changes = {file: _content(result.texts[file], self._sources[file]) for file in chosen}
        problems = [f"{file}: the tests fail after the pass {name}; it stays as it was" for file in culprits]
        self.report += result.report(chosen) + OptimizeReport(errors=(*problems, *unreadable))

    def _compile(self, texts: Texts, *lints: str, users: bool = True) -> Compilation:
        run = self._write(texts).check(*lints, users=users)
        return Compilation(run.passed, [_diagnostic(one) for one in run.messages])

    def _test(self, texts: Texts) -> CargoRun:
        if 0 < self._options.max_checks <= self.report.cargo_checks:
            self._spent = True
            return CargoRun(SPENT, (), 0.0)
        self.report += OptimizeReport(cargo_checks=1)
        return self._write(texts).test()

    def _write(self, texts: Texts) -> CrateBench:
        self._bench.write({**self._sources, **{file: text.encode() for file, text in texts.items()}})
        return self._bench


def _is_windows(content: bytes) -> bool:
    """Return whether all lines end with CRLF."""
    return 0 < content.count(WINDOWS_LINE_END.encode()) == content.count(b"\n")


def _content(text: str, before: bytes) -> bytes:
    """Return the content of a file with the line ends that it had."""
    return (text.replace("\n", WINDOWS_LINE_END) if _is_windows(before) else text).encode()


def _diagnostic(one: CargoMessage) -> RustDiagnostic:
    return RustDiagnostic(one.level, one.code, one.text, one.file, one.line, one.column)


def _texts(sources: Mapping[str, bytes], files: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the texts of files, and a line about each file that is not text."""
    texts, problems = dict[str, str](), list[str]()
    for file in files:
        try:
            text = sources[file].decode()
            texts[file] = text.replace(WINDOWS_LINE_END, "\n") if _is_windows(sources[file]) else text
        except UnicodeDecodeError:
            problems.append(f"{file}: not UTF-8")
    return texts, problems
