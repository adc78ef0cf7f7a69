"""What a conversation about the body of a function needs, read from the blobs of its run."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from jarvis_workers.c2rust.body_question import BodyQuestion, body_question, safe_functions
from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.conversion import FunctionResult, GateOutcome
from jarvis_workers.c2rust.shadow_fields import FunctionTypes
from jarvis_workers.c2rust.stages.c_sources import c_texts
from jarvis_workers.c2rust.stages.conversion_project import ConversionProject
from jarvis_workers.c2rust.stages.library_plans import RunLibraries
from jarvis_workers.c2rust.stages.run_values import of_run
from jarvis_workers.c2rust.stages.skeleton import Skeleton, all_declarations, decode_skeleton
from jarvis_workers.c2rust.stages.translated_bodies import TranslatePayload, decode_translated
from jarvis_workers.c2rust.vendored_crates import VendoredCrates
from jarvis_workers.snapshots.blobs import Blobs


class Translation(NamedTuple):
    """The function, the skeleton of the run, the types that name differences, and its body of an earlier stage.

    `crates` are those that bodies may use. `reached` is the outcome of that gate for its mechanical body.
    """

    function: FunctionResult
    skeleton: Skeleton
    question: BodyQuestion
    types: Callable[[str], FunctionTypes]
    earlier: TranslatedBody | None = None
    crates: VendoredCrates = VendoredCrates()
    reached: GateOutcome | None = None


def read_translation(payload: TranslatePayload, project: ConversionProject, notes: str, blobs: Blobs) -> Translation:
    """Return the function of a job, with the question about it; `notes` are those of the user for all questions."""
    skeleton = _skeleton(blobs, payload.skeleton)
    function = next(one for one in skeleton.functions if one.slot == payload.slot)
    c = _c_texts(blobs, project.snapshot, payload.skeleton).get(payload.slot, "")
    question = question_of(skeleton, payload.slot, c, _declarations(blobs, payload.skeleton), notes)
    libraries = project.libraries(blobs)
    question = _with_libraries(question, libraries, project.keys(blobs))
    earlier = decode_translated(blobs.read(payload.earlier)) if payload.earlier else None
    reached, types = project.reached(blobs).get(payload.slot), project.types(blobs)
    return Translation(function, skeleton, question, types, earlier, libraries.crates, reached)


def _with_libraries(question: BodyQuestion, libraries: RunLibraries, keys: Mapping[str, str]) -> BodyQuestion:
    """Return the question with the crates that replace its function, and those that its body must not use."""
    replaced, crates = libraries.plan.replaced, libraries.crates
    choice = replaced.get(keys[question.slot]) if replaced else None
    if choice is None:
        return question._replace(foreign=crates.foreign(()))
    versions = [f"{one.name} {one.version}" for name in choice.libraries if (one := crates.find(name))]
    line = f"{choice.line}; versions: {', '.join(versions)}" if versions else choice.line
    return question._replace(libraries=line, foreign=crates.foreign(choice.libraries))


def question_of(
    skeleton: Skeleton, slot: str, c: str, declarations: Mapping[str, str], notes: str = ""
) -> BodyQuestion:
    """Return the question for a function with its C text; `declarations` are all of the skeleton."""
    target, body = skeleton.targets[slot], skeleton.bodies.get(slot)
    mechanical = body.text if body else ""
    wrappers = {one.item.name: one.wrapper for one in skeleton.targets.values() if one.wrapper}
    named = target.item, target.forwarder, target.name
    question = body_question(*named, c, mechanical, skeleton.types, declarations, notes)
    return question._replace(safe=safe_functions(question, wrappers))


@of_run
def _skeleton(blobs: Blobs, name: str) -> Skeleton:
    return decode_skeleton(blobs.read(name))


@of_run
def _declarations(blobs: Blobs, skeleton: str) -> dict[str, str]:
    return all_declarations(_skeleton(blobs, skeleton))


@of_run
def _c_texts(blobs: Blobs, snapshot: str, skeleton: str) -> dict[str, str]:
    return c_texts(blobs, snapshot, _skeleton(blobs, skeleton).functions)
