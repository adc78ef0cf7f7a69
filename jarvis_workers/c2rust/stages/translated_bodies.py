"""Function bodies that a model wrote, in place of the mechanically translated ones of a skeleton."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.conversion import FunctionResult, GateOutcome, PassedParameter, Review, proof_of
from jarvis_workers.c2rust.crate import function_of
from jarvis_workers.c2rust.stages.skeleton import Skeleton, with_all_declared
from jarvis_workers.pipeline.history import read_result
from jarvis_workers.pipeline.json_record import JsonRecord
from jarvis_workers.snapshots.blobs import Blobs
from jarvis_workers.store.values import StageJob
from jarvis_workers.toolchain.cargo import CargoMessage

STEP = QUEUE = "translate"
# The stage that translates functions again after a signature changed.
AGAIN = "retranslate"
# The name of the blob with the result of a job.
TRANSLATED = "translated"
UNFINISHED = "the run was paused before it was translated"
NOT_ASKED = "the model was not asked: the function has no Rust signature"


@dataclass(frozen=True)
class TranslatePayload(JsonRecord):
    """The slot of a job's function, and the blob of the skeleton.

    `earlier` is the blob of its result in an earlier stage, "" without one, which does not count because of `failure`.
    `driver` is the blob of the program that calls the function, "" if tests or generated inputs do.
    """

    slot: str
    skeleton: str
    earlier: str = ""
    failure: str = ""
    driver: str = ""


def encode_translated(body: TranslatedBody) -> bytes:
    """Return the result for a function as JSON."""
    return json.dumps(body._asdict()).encode()


def decode_translated(content: bytes) -> TranslatedBody:
    """Return the result that `encode_translated` encoded."""
    body = TranslatedBody(**json.loads(content))
    gates = tuple(GateOutcome(*gate) for gate in body.gates)
    reviews = tuple(Review(topic, tuple(issues)) for topic, issues in body.reviews)
    change = tuple(PassedParameter(*one) for one in body.change)
    return body._replace(failed=tuple(body.failed), gates=gates, reviews=reviews, change=change)


def read_translated(blobs: Blobs, outcomes: Sequence[StageJob]) -> dict[str, TranslatedBody]:
    """Return the results of all jobs by slot."""
    found: dict[str, TranslatedBody] = {}
    for one in outcomes:
        if name := read_result(blobs, one.result).blobs.get(TRANSLATED):
            body = decode_translated(blobs.read(name))
            found[body.slot] = body
    return found


def failed_translations(outcomes: Sequence[StageJob]) -> dict[str, str]:
    """Return the reasons of failed jobs by slot, and of jobs that are not done in a paused run."""
    reasons = [(one.payload, one.reason if one.state == "failed" else UNFINISHED) for one in outcomes if not one.done]
    return {TranslatePayload.from_json(payload).slot: reason or "its job failed" for payload, reason in reasons}


def with_bodies(skeleton: Skeleton, bodies: Mapping[str, TranslatedBody]) -> Skeleton:
    """Return the skeleton with the accepted bodies that a model wrote."""
    accepted = {slot: skeleton.targets[slot].item._replace(text=one.text) for slot, one in bodies.items() if one.text}
    if not accepted:
        return skeleton
    return replace(with_all_declared(skeleton), bodies={**skeleton.bodies, **accepted})


def without_texts(
    bodies: Mapping[str, TranslatedBody], reason: str, slots: Collection[str] | None = None
) -> dict[str, TranslatedBody]:
    """Return the bodies without the texts of some slots, by default of all, for a reason."""
    dropped = {slot for slot, one in bodies.items() if one.text and (slots is None or slot in slots)}
    return {slot: one._replace(text="", reason=reason) if slot in dropped else one for slot, one in bodies.items()}


def failing_slots(messages: Iterable[CargoMessage], skeleton: Skeleton) -> frozenset[str]:
    """Return the slots of the functions in which rustc finds errors."""
    names = {function_of(one.file) for one in messages if one.level == "error"}
    return frozenset(slot for slot, item in skeleton.bodies.items() if item.name.removeprefix("r#") in names)


def with_translation(function: FunctionResult, body: TranslatedBody | None, skeleton: Skeleton) -> FunctionResult:
    """Return the result of a function with that of its translation by a model, if there is one."""
    if body is None:
        if skeleton.targets and function.accepted:
            return replace(function, not_translated=NOT_ASKED)
        return function
    if not body.text:
        return replace(function, attempts=body.attempts, refused=body.failed, not_translated=body.reason)
    return replace(
        function,
        state="translated",
        cause="",
        reason="",
        proof=proof_of(body.gates),
        gates=body.gates,
        calls=body.calls,
        rust_signature=body.signature,
        mapping=skeleton.targets[body.slot].mapping,
        attempts=body.attempts,
        refused=body.failed,
        reviews=body.reviews,
    )
