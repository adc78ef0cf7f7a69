"""The bodies of a run after its signatures changed: those that were translated again replace the first ones."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.conversion import BY_MODEL, Conversion
from jarvis_workers.c2rust.stages.conversion_project import ConversionProject, job_results
from jarvis_workers.c2rust.stages.skeleton import SKELETON, Skeleton, decode_skeleton, read_skeleton
from jarvis_workers.c2rust.stages.translated_bodies import AGAIN, failed_translations, read_translated, with_bodies
from jarvis_workers.c2rust.stages.translated_bodies import STEP as TRANSLATE
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.source.rust.rust_syntax import masked
from jarvis_workers.store.values import StageJob

if TYPE_CHECKING:
    from jarvis_workers.store.values import Run

# The stage that changes signatures, and the name of its blob.
RESIGN, RESIGNED = "resign", "resigned"
STAGES = (TRANSLATE, RESIGN, AGAIN)
SPENT = "a signature changed, and no answer was left"
ONCE = "a signature changes once in a run"
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Resigned(JsonRecord):
    """What changed: the blob of the new skeleton, and the functions to translate again, by slot, with the reasons.

    `changed` are those with another signature, `broken` their callers that no longer compile. Without a change,
    `skeleton` is "". `remarks` are lines about all requests.
    """

    skeleton: str = ""
    changed: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()


class FinalBodies(NamedTuple):
    """The skeleton with the final signatures, the bodies by slot, and lines about requests for other signatures."""

    skeleton: Skeleton
    bodies: dict[str, TranslatedBody]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Translations(JsonRecord):
    """The results of jobs of the stages that translate, and the reasons of those that failed, by slot."""

    first: Sequence[str] = ()
    failed: Mapping[str, str] | None = None
    resigned: Sequence[str] = ()
    again: Sequence[str] = ()
    failed_again: Mapping[str, str] | None = None

    @classmethod
    def of(cls, first: Sequence[StageJob], resigned: Sequence[StageJob], again: Sequence[StageJob]) -> "Translations":
        """Return the results of the jobs of each stage."""
        one, changes, second = map(job_results, (first, resigned, again))
        return cls(one, failed_translations(first), changes, second, failed_translations(again))

    @property
    def results(self) -> tuple[str, ...]:
        """The results of all jobs."""
        return (*self.first, *self.resigned, *self.again)


@dataclass(frozen=True, kw_only=True)
class MergeWork(ConversionProject):
    """The input of the merge: a project with its skeleton and the bodies of a model."""

    skeleton: Sequence[str]
    translations: Translations = field(default=Translations(), metadata={"read": Translations.decode})

    @classmethod
    def of(cls, run: "Run", outcomes: Callable[[str], Sequence[StageJob]], **more: Any) -> Self:
        """Return the project of a run from the outcomes of its stages."""
        skeleton, translations = job_results(outcomes(SKELETON)), Translations.of(*map(outcomes, STAGES))
        return super().of(run, outcomes, skeleton=skeleton, translations=translations, **more)

    @property
    def results(self) -> tuple[str, ...]:
        """The results of all jobs."""
        return (*self.units, *self.skeleton, *self.checks, *self.translations.results, *self.pruning)

    def read_bodies(self, blobs: Blobs) -> FinalBodies:
        """Read the skeleton of the run, and the bodies of a model. Raises StepFailed if there is no skeleton."""
        return final_bodies(blobs, read_skeleton(blobs, _done(self.skeleton)), self.translations)

    def read_skeleton(self, blobs: Blobs, conversion: Conversion) -> Skeleton:
        """Read the skeleton of the run with the bodies that its conversion uses. Raises StepFailed without one."""
        final = self.read_bodies(blobs)
        translated = (one.slot for one in conversion.functions if one.state in BY_MODEL)
        return with_bodies(final.skeleton, {slot: final.bodies[slot] for slot in translated})


def final_bodies(blobs: Blobs, skeleton: Skeleton, found: Translations) -> FinalBodies:
    """Return the bodies that a run ends with, before they are united."""
    bodies = _read(blobs, found.first, found.failed)
    resigned = read_resigned(blobs, found.resigned)
    if not resigned.skeleton:
        return FinalBodies(skeleton, bodies, tuple(resigned.remarks))
    fresh = decode_skeleton(blobs.read(resigned.skeleton))
    return replace_bodies(skeleton, bodies, resigned, fresh, _read(blobs, found.again, found.failed_again))


def read_resigned(blobs: Blobs, results: Sequence[str]) -> Resigned:
    """Return the changes of a run from the results of this stage; none without any."""
    names = (read_result(blobs, one).blobs.get(RESIGNED) for one in results)
    return next((Resigned.from_json(blobs.read(name).decode()) for name in names if name), Resigned())


def replace_bodies(
    skeleton: Skeleton,
    first: Mapping[str, TranslatedBody],
    resigned: Resigned,
    fresh: Skeleton,
    again: Mapping[str, TranslatedBody],
) -> FinalBodies:
    """Return the bodies with those that were translated `again`, for the signatures of the skeleton `fresh`.

    A function keeps its first signature and body if none with the new one is accepted and nothing calls it by it.
    """
    bodies = dict(first)
    for slot in (*resigned.changed, *resigned.broken):
        before, after = first[slot], again.get(slot, TranslatedBody(slot, reason=SPENT))
        answers, failed = before.attempts + after.attempts, (*before.failed, *after.failed)
        bodies[slot] = after._replace(attempts=answers, failed=failed)
    targets, remarks = dict(fresh.targets), list(resigned.remarks)
    for slot in resigned.changed:
        name, others = fresh.targets[slot].name, (one for one in bodies.values() if one.slot != slot)
        if not bodies[slot].text and first[slot].text and not any(mentions(one.text, [name]) for one in others):
            bodies[slot] = first[slot]._replace(attempts=bodies[slot].attempts, failed=bodies[slot].failed)
            targets[slot] = skeleton.targets[slot]
            remarks.append(f"{targets[slot].item.name} keeps its first signature: no body with the other is accepted")
    names = sorted(fresh.targets[slot].item.name for slot, one in again.items() if one.change)
    remarks += (f"the signature of {name} is not changed: {ONCE}" for name in names)
    return FinalBodies(replace(fresh, targets=targets), bodies, tuple(remarks))


def mentions(text: str, names: Collection[str]) -> bool:
    """Return whether Rust code contains one of these names."""
    return not set(WORD.findall(masked(text))).isdisjoint(names)


def _read(blobs: Blobs, results: Sequence[str], failed: Mapping[str, str] | None) -> dict[str, TranslatedBody]:
    bodies = read_translated(blobs, _done(results))
    return {slot: TranslatedBody(slot, reason=reason) for slot, reason in (failed or {}).items()} | bodies


def _done(results: Sequence[str]) -> list[StageJob]:
    return [StageJob("done", None, "", 0, "{}", one, 0) for one in results]
