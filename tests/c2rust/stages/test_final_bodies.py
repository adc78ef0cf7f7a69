"""The bodies of a run after signatures changed."""

from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.conversion import PassedParameter
from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.stages.change_signatures import CHANGED
from jarvis_workers.c2rust.stages.final_bodies import ONCE, SPENT, FinalBodies, Resigned, replace_bodies
from jarvis_workers.c2rust.stages.skeleton import Skeleton, TranslationTarget

RESIGNED = Resigned("blob", {"sum": CHANGED}, {"mean": "check: E0308 mismatched types"}, ("sum is changed",))
SUM, MEAN = "fn rust_sum(p: &[i32]) {}", "fn rust_mean() { rust_sum(&[]) }"
NEW_SUM, NEW_MEAN = "fn rust_sum(p: *const i32) {}", "fn rust_mean() { sum(p) }"


def skeleton(form: str) -> Skeleton:
    targets = {
        name: TranslationTarget(CrateItem(name, name, "lib", ""), "", f"rust_{name}", (PassedParameter("p", form),))
        for name in ("sum", "mean", "other")
    }
    return Skeleton((), "", {}, {}, targets=targets)


def body(slot: str, text: str, **more: object) -> TranslatedBody:
    return TranslatedBody(slot, text, 2, ("form",))._replace(**more)


FIRST = {"sum": body("sum", SUM), "mean": body("mean", MEAN), "other": body("other", "fn rust_other() {}")}


def final(*again: TranslatedBody) -> FinalBodies:
    found = replace_bodies(skeleton("slice"), FIRST, RESIGNED, skeleton("raw"), {one.slot: one for one in again})
    assert found.bodies["other"] == FIRST["other"], "everything else stays as it was"
    return found


def texts(found: FinalBodies) -> tuple[str, str]:
    return found.bodies["sum"].text, found.bodies["mean"].text


def test_what_was_translated_again_counts_and_answers_are_added() -> None:
    found = final(body("sum", NEW_SUM), body("mean", NEW_MEAN, change=(PassedParameter("p", "ref"),)))
    assert texts(found) == (NEW_SUM, NEW_MEAN)
    assert (found.bodies["sum"].attempts, found.bodies["sum"].failed) == (4, ("form", "form"))
    assert found.skeleton.targets["sum"].mapping == (PassedParameter("p", "raw"),)
    assert found.remarks == ("sum is changed", f"the signature of mean is not changed: {ONCE}")


def test_a_caller_that_fails_has_no_body() -> None:
    found = final(body("sum", NEW_SUM), body("mean", "", reason="no body was accepted"))
    assert texts(found) == (NEW_SUM, "")
    assert final(body("sum", NEW_SUM)).bodies["mean"].reason == SPENT


def test_a_function_keeps_its_signature_if_it_fails_and_nothing_calls_it() -> None:
    found = final(body("sum", ""), body("mean", NEW_MEAN))
    assert texts(found) == (SUM, NEW_MEAN)
    assert found.skeleton.targets["sum"].mapping == (PassedParameter("p", "slice"),)
    assert "sum keeps its first signature" in found.remarks[-1]
    called = final(body("sum", ""), body("mean", MEAN))
    assert texts(called) == ("", MEAN), "the caller was compiled with the new signature"
    assert called.skeleton.targets["sum"].mapping == (PassedParameter("p", "raw"),)
