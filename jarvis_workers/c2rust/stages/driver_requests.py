"""The functions of a run that no test and no generated input reaches, with what a model must know to call them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from jarvis_workers.builds.compile_commands import decode_commands
from jarvis_workers.c2rust.bench.driver_programs import Driver
from jarvis_workers.c2rust.driver_question import CALLER_MAX, DriverQuestion
from jarvis_workers.c2rust.project import Project, ProjectItem
from jarvis_workers.c2rust.stages.c_sources import c_texts
from jarvis_workers.c2rust.stages.conversion_project import ConversionProject, project_of
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.skeleton import SKELETON, Skeleton, read_skeleton
from jarvis_workers.paths import shown
from jarvis_workers.pipeline.history import StageHistory
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.snapshots.reader import open_snapshot
from jarvis_workers.source.clang.unit import CompileCommand

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:<[^>\n]{1,200}>|"[^"\n]{1,200}")', re.MULTILINE)
CALLERS = 2
MOST_SYMBOLS = 20


@dataclass(frozen=True)
class DriverRequest:
    """A function without a test: the question about it, how its file is compiled, and what to link."""

    slot: str
    question: DriverQuestion
    compiled: CompileCommand
    symbols: tuple[str, ...]

    def driver(self, text: str) -> Driver:
        """Return the driver with a text."""
        return Driver(text, self.compiled, self.symbols)


REQUEST = TypeAdapter(DriverRequest)


def driver_requests(
    run: "Run", options: TranslateOptions, blobs: Blobs, earlier: StageHistory
) -> Iterator[DriverRequest]:
    """Yield a request for each function with a body or a Rust signature that nothing reaches."""
    skeleton = read_skeleton(blobs, earlier.outcomes(SKELETON))
    found = ConversionProject.of(run, earlier.outcomes)
    unneeded, project = found.libraries(blobs).unneeded, project_of(blobs, found.units)
    left = [
        one
        for one in project.functions
        if one.slot in skeleton.bodies.keys() | skeleton.targets.keys()
        and not skeleton.is_tested(one.slot)
        and one.definition.key not in unneeded
        and one.definition.name != "main"
    ]
    yield from _requests(left, project, skeleton, run.snapshot_id, options, blobs)


def _requests(
    items: Sequence[ProjectItem],
    project: Project,
    skeleton: Skeleton,
    snapshot: str,
    options: TranslateOptions,
    blobs: Blobs,
) -> Iterator[DriverRequest]:
    if not items:
        return
    texts = c_texts(blobs, snapshot, skeleton.functions)
    commands = {one.file: one for one in decode_commands(blobs.read(options.commands))}
    includes = _includes(blobs, snapshot, {one.definition.extent.file for one in items})
    for item in items:
        file = item.definition.extent.file
        if command := commands.get(item.unit.file):
            own = [one.definition for one in project.functions if one.unit.file == item.unit.file]
            external = sorted(one.name for one in own if not one.internal and one.name != "main")
            first = [] if item.definition.internal else [item.definition.name]
            question = DriverQuestion(
                item.definition.name,
                shown(file),
                texts.get(item.slot, ""),
                includes.get(file, ""),
                not item.definition.internal,
                _callers(item, texts),
            )
            yield DriverRequest(item.slot, question, command, tuple([*first, *external][:MOST_SYMBOLS]))


def _includes(blobs: Blobs, snapshot: str, files: set[bytes]) -> dict[bytes, str]:
    with open_snapshot(blobs, snapshot) as reader:
        return {
            entry.path: "\n".join(INCLUDE.findall(reader.read(entry).decode(errors="replace")))
            for entry in reader.files()
            if entry.path in files
        }


def _callers(item: ProjectItem, texts: Mapping[str, str]) -> str:
    call = re.compile(rf"\b{re.escape(item.definition.name)}[ \t]*\(")
    found = (text for slot, text in sorted(texts.items()) if slot != item.slot and call.search(text))
    return "\n\n".join(text[:CALLER_MAX] for text, _ in zip(found, range(CALLERS), strict=False))
