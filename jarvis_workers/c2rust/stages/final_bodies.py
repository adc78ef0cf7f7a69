"""The bodies of a run after its signatures changed: those that were translated again replace the first ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.stages.change_signatures import STEP as RESIGN
from jarvis_workers.c2rust.stages.change_signatures import Resigned, mentions, read_resigned
from jarvis_workers.c2rust.stages.skeleton import Skeleton, decode_skeleton
from jarvis_workers.c2rust.stages.translated_bodies import AGAIN, failed_translations, read_translated
from jarvis_workers.c2rust.stages.translated_bodies import STEP as TRANSLATE
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import StageJob

STAGES = (TRANSLATE, RESIGN, AGAIN)
SPENT = "a signature changed, and no answer was left"
ONCE = "a signature changes once in a run"


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
        results = ([one.result for one in some if one.result] for some in (first, resigned, again))
        one, changes, second = results
        return cls(one, failed_translations(first), changes, second, failed_translations(again))

    @property
    def results(self) -> tuple[str, ...]:
        """The results of all jobs."""
        return (*self.first, *self.resigned, *self.again)


def final_bodies(blobs: Blobs, skeleton: Skeleton, found: Translations) -> FinalBodies:
    """Return the bodies that a run ends with, before they are united."""
    bodies = _read(blobs, found.first, found.failed)
    resigned = read_resigned(blobs, found.resigned)
    if not resigned.skeleton:
        return FinalBodies(skeleton, bodies, tuple(resigned.remarks))
    fresh = decode_skeleton(blobs.read(resigned.skeleton))
    return replace_bodies(skeleton, bodies, resigned, fresh, _read(blobs, found.again, found.failed_again))


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


def _read(blobs: Blobs, results: Sequence[str], failed: Mapping[str, str] | None) -> dict[str, TranslatedBody]:
    jobs = [StageJob("done", None, "", 0, "{}", one, 0) for one in results]
    return {slot: TranslatedBody(slot, reason=reason) for slot, reason in (failed or {}).items()} | read_translated(
        blobs, jobs
    )
