"""The plan of a crate: the modules and signatures that its jobs return, or that the files of a project state."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.crate_layout import MISSING, read_placement
from jarvis_workers.c2rust.layout_question import PLANNED_LAYOUT
from jarvis_workers.c2rust.plan_files import PlanFiles
from jarvis_workers.c2rust.project import Project, plain_name, plannable_enums
from jarvis_workers.c2rust.rust_types import project_types
from jarvis_workers.c2rust.signature_question import PLANNED_SIGNATURES
from jarvis_workers.paths import listing
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.snapshots.blobs import Blobs

# The stages, which are also the names of the blobs of their jobs.
LAYOUT, SIGNATURES = "layout", "signatures"
NAMES_SHOWN = 10


@dataclass(frozen=True)
class CrateModules:
    """What was planned: modules and parameters of functions by plain Rust name, and lines about what is not used.

    `enums` are the kinds of enums, by plain Rust name.
    """

    modules: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Sequence[PassedParameter]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    enums: Mapping[str, str] = field(default_factory=dict)


def read_plan(blobs: Blobs, layouts: Iterable[str], signatures: Iterable[str], files: CrateModules) -> CrateModules:
    """Return what the jobs of both stages have planned, from their results, and otherwise the files of the project."""
    modules, functions, warnings = dict(files.modules), dict(files.functions), list(files.warnings)
    enums = dict(files.enums)
    for content in _contents(blobs, LAYOUT, layouts):
        layout = PLANNED_LAYOUT.validate_json(content)
        modules |= layout.modules
        enums |= layout.enums
        if layout.checked and layout.reason:
            warnings.append(f"the plan of the modules is used in part: {layout.reason}")
    unused = dict[str, list[str]]()
    for content in _contents(blobs, SIGNATURES, signatures):
        signed = PLANNED_SIGNATURES.validate_json(content)
        functions |= signed.functions
        for name, reason in signed.reasons.items() if signed.checked else ():
            unused.setdefault(reason, []).append(name)
    warnings += (f"signatures as proposed: {listing(names, NAMES_SHOWN)}: {why}" for why, names in unused.items())
    return CrateModules(modules, functions, tuple(warnings), enums)


def read_files(blobs: Blobs, name: str, project: Project) -> CrateModules:
    """Return what the files of a project plan, from their blob; nothing without one."""
    if not name:
        return CrateModules()
    files = PlanFiles.model_validate_json(blobs.read(name))
    names = {plain_name(item): None for item in project.functions}
    unknown = sorted(files.functions.keys() - names.keys())
    warnings = [f"signatures.jsonl: there is no function {listing(unknown, NAMES_SHOWN)}"] if unknown else []
    if files.modules is None:
        return CrateModules({}, files.functions, tuple(warnings))
    enums = [name.removeprefix("r#") for name in plannable_enums(project.units)]
    placement = read_placement(files.modules, names, type_names(project), enums)
    warnings += (f"crate_plan.yaml: {one}" for one in placement.problems if not one.startswith(MISSING))
    return CrateModules(placement.modules, files.functions, tuple(warnings), placement.enums)


def type_names(project: Project) -> list[str]:
    """Return the Rust names of the types of a project."""
    return sorted(project_types(project.units).names.names.values())


def _contents(blobs: Blobs, name: str, results: Iterable[str]) -> Iterator[bytes]:
    for result in results:
        if blob := read_result(blobs, result).blobs.get(name):
            yield blobs.read(blob)
