"""Run other analyzers, each on every unit that the scanned files are compiled as: the step of stage `witness`.

A job is a unit. What it finds are alerts, to which stage `alerts` gives places; what an analyzer cannot read is named.
"""

import json
import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_workers.agents.conversations.working_copy import unpack_sources
from jarvis_workers.builds.cargo_workspaces import MANIFEST
from jarvis_workers.builds.compile_commands import decode_commands
from jarvis_workers.builds.unit_inputs import unit_inputs
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.sandbox.limits import BenchLimits
from jarvis_workers.sec.bench.analyzer_bench import AnalyzerBench, AnalyzerLimits
from jarvis_workers.sec.stages.options import SecOptions
from jarvis_workers.sec.stages.place_alerts import ALERTS, WITNESS, alerts_from, alerts_to_bytes
from jarvis_workers.sec.witnesses.analyzer import AnalyzerAnswer
from jarvis_workers.sec.witnesses.analyzers import ANALYZERS
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.checkout import checked_out
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.snapshots.resources import Resources
from jarvis_workers.source.clang.unit import CompileCommand
from jarvis_workers.source.identity import code_fingerprint
from jarvis_workers.store.values import Claimed, Commit, NewJob
from jarvis_workers.toolchain.analyzers import Installed, installed_analyzers
from jarvis_workers.toolchain.temporary import temporary_directory

if TYPE_CHECKING:
    from jarvis_workers.store.session import Session
    from jarvis_workers.store.values import Run

QUEUE = "build"
TREE = "tree"
NOT_CHECKED_BY = "not checked by {name}: {failure}"
# The code on which the meaning of a cached answer depends.
READERS = ("jarvis_workers.sec.witnesses", "jarvis_workers.sec.alerts", "jarvis_workers.sec.bench.analyzer_bench")


@dataclass(frozen=True)
class WitnessPlan(JsonRecord):
    """The names of analyzers, the blobs of the archive of the tree and of the commands of its units, and the limits.

    The last units are crates, built within the limits `build`; `crates` is the archive of their tree.
    """

    analyzers: Sequence[str]
    archive: str
    commands: str
    seconds: float
    memory_mb: float
    crates: str = ""
    build: BenchLimits = field(default=BenchLimits(), metadata={"read": lambda value: BenchLimits(**value)})


@dataclass(frozen=True)
class WitnessWork(JsonRecord):
    """A unit, by its number among the commands."""

    plan: str
    unit: int
    cache: bool = True


read_work = WitnessWork.decode


def plan(run: "Run", blobs: Blobs) -> Iterator[NewJob]:
    """Yield a job per unit whose file is scanned, and per crate with such a file."""
    name = SecOptions.of(run).witness or ""
    with open_snapshot(blobs, run.snapshot_id) as reader:
        sizes = {entry.path: entry.size for entry in reader.files()}
    for number, command in enumerate(_commands(blobs, _plan(blobs, name).commands)):
        size = _rust_size(sizes, command.directory) if is_crate(command) else sizes.get(command.file)
        if size is not None:
            key = sha256(f"{name}:{number}".encode()).hexdigest()
            payload = json.dumps({"unit": number})
            yield NewJob(WITNESS, QUEUE, shown(command.file), key, payload, size)


def is_crate(command: CompileCommand) -> bool:
    """Return whether a unit is a crate, or a workspace: its file is the manifest."""
    return posixpath.basename(os.fsdecode(command.file)) == MANIFEST


def _rust_size(sizes: Mapping[bytes, int], directory: bytes) -> int | None:
    """Return the size of the files of Rust below a directory, None if it has none."""
    prefix = directory + b"/" if directory else b""
    found = [size for path, size in sizes.items() if path.startswith(prefix) and path.endswith(b".rs")]
    return sum(found) if found else None


def load(_: "Session", run: "Run", job: Claimed) -> WitnessWork:
    """Return the unit of a job."""
    options = SecOptions.of(run)
    return WitnessWork(options.witness or "", json.loads(job.payload)["unit"], options.cache)


def decide(work: WitnessWork, resources: Resources) -> Commit:
    """Return the alerts of all analyzers about the unit. Raises StepFailed without a sandbox, HostExhausted."""
    blobs = resources.blobs
    witness_plan = _plan(blobs, work.plan)
    command = _commands(blobs, witness_plan.commands)[work.unit]
    names = [name for name in witness_plan.analyzers if ANALYZERS[name].of_crates == is_crate(command)]
    with _tree(resources, witness_plan.crates if is_crate(command) else witness_plan.archive) as root:
        cache = _AnswerCache(resources if work.cache else None, root, command)
        limits = AnalyzerLimits(witness_plan.seconds, witness_plan.memory_mb, witness_plan.build)
        with AnalyzerBench(root, limits) as bench:
            answers = {name: _answer(name, command, cache, bench) for name in names}
    alerts = [alert for answer in answers.values() for alert in answer.alerts]
    return Commit(
        files=1,
        cached=int(cache.found == len(answers)),
        not_checked=tuple(
            (command.file, NOT_CHECKED_BY.format(name=name, failure=answer.failure))
            for name, answer in answers.items()
            if answer.failure
        ),
        blobs=((ALERTS, blobs.put(alerts_to_bytes(alerts))),) if alerts else (),
    )


def _answer(name: str, command: CompileCommand, cache: "_AnswerCache", bench: AnalyzerBench) -> AnalyzerAnswer:
    program = installed_analyzers()[name]
    if not isinstance(program, Installed):
        return AnalyzerAnswer(failure=program)
    key = cache.key(name, program.version)
    answer = cache.find(key)
    if answer is None:
        answer = bench.run(ANALYZERS[name], program.path, command)
        if answer.lasts:
            cache.put(key, answer)
    return answer


class _AnswerCache:
    """The answers about a unit that earlier runs got on this machine; disabled without `resources`."""

    def __init__(self, resources: Resources | None, root: Path, command: CompileCommand) -> None:
        self._results = resources.cache if resources else None
        self._directory = command.file.rpartition(b"/")[0]
        self._inputs = _inputs(root, command) if self._results else ""
        self.found = 0

    def key(self, name: str, version: str) -> str:
        return sha256(f"{name} {version} {self._inputs}".encode()).hexdigest()

    def find(self, key: str) -> AnalyzerAnswer | None:
        line = self._results.find(_readers(), self._directory, [key]).get(key) if self._results else None
        if line is None:
            return None
        self.found += 1
        row = json.loads(line)
        return AnalyzerAnswer(tuple(alerts_from(json.dumps(row["alerts"]).encode())), row["failure"])

    def put(self, key: str, answer: AnalyzerAnswer) -> None:
        if self._results:
            row = {"alerts": answer.alerts, "failure": answer.failure}
            self._results.put(_readers(), self._directory, {key: json.dumps(row).encode()})


def _inputs(root: Path, command: CompileCommand) -> str:
    """Return a hash of all that a unit may read: a crate, whose build scripts run, any file of its archive."""
    if is_crate(command):
        return sha256(f"{shown(command.file)} {root.parent.name}".encode()).hexdigest()
    return unit_inputs(root).digest(command)


@cache
def _readers() -> str:
    """Return the cache space of answers that this version reads. Long-lived processes call this early."""
    return code_fingerprint(READERS)[:16]


def warm_up() -> None:
    """Read what may be replaced while the process lives."""
    _readers()


@lru_cache(2)
def _plan(blobs: Blobs, name: str) -> WitnessPlan:
    return WitnessPlan.decode(json.loads(blobs.read(name)))


@lru_cache(2)
def _commands(blobs: Blobs, name: str) -> list[CompileCommand]:
    return decode_commands(blobs.read(name))


@contextmanager
def _tree(resources: Resources, archive: str) -> Iterator[Path]:
    """Yield the directory with the files of an archive, which the jobs of a machine share."""
    with ExitStack() as stack:
        place = resources.checkouts or stack.enter_context(temporary_directory("jarvis-witness"))
        content = resources.blobs.read
        yield checked_out(place, archive, lambda target: unpack_sources(content(archive), target / TREE)) / TREE
