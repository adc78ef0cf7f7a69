"""Translate functions again whose signature has changed, or whose bodies no longer compile after such a change."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from jarvis_workers.c2rust.stages.final_bodies import RESIGN, read_resigned
from jarvis_workers.c2rust.stages.options import TranslateOptions
from jarvis_workers.c2rust.stages.skeleton import decode_skeleton
from jarvis_workers.c2rust.stages.translate_function import converse as converse
from jarvis_workers.c2rust.stages.translate_function import load as load
from jarvis_workers.c2rust.stages.translated_bodies import AGAIN, QUEUE, TRANSLATED, TranslatePayload, read_translated
from jarvis_workers.c2rust.stages.translated_bodies import STEP as TRANSLATE
from jarvis_workers.pipeline.history import StageHistory, read_result
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import NewJob, Run


def plan_on(run: Run, blobs: Blobs, earlier: StageHistory) -> Iterator[NewJob]:
    """Yield a job for each of these functions, unless it had all its answers."""
    resigned = read_resigned(blobs, [one.result for one in earlier.outcomes(RESIGN) if one.result])
    if not resigned.skeleton:
        return
    options, jobs = TranslateOptions.of(run), earlier.outcomes(TRANSLATE)
    skeleton, bodies = decode_skeleton(blobs.read(resigned.skeleton)), read_translated(blobs, jobs)
    payloads = {(payload := TranslatePayload.from_json(one.payload)).slot: (payload, one.result) for one in jobs}
    for slot, failure in sorted({**resigned.changed, **resigned.broken}.items()):
        if options.answers_left(bodies[slot].attempts) > 0:
            first, result = payloads[slot]
            body = read_result(blobs, result).blobs[TRANSLATED]
            again = replace(first, skeleton=resigned.skeleton, earlier=body, failure=failure)
            label = skeleton.targets[slot].item.name
            yield NewJob(AGAIN, QUEUE, label, sha256(again.to_json().encode()).hexdigest(), payload=again.to_json())
