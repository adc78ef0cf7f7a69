"""Bodies of a model that do not build beside the others give way to the mechanical ones; with a bench of fakes."""

import pytest

from jarvis_workers.c2rust.body_translation import TranslatedBody
from jarvis_workers.c2rust.conversion import FunctionResult, GateOutcome
from jarvis_workers.c2rust.crate import CrateItem
from jarvis_workers.c2rust.stages.body_union import BESIDE, unite
from jarvis_workers.c2rust.stages.compile_errors import error_summary, own_errors
from jarvis_workers.c2rust.stages.options import FastOptions
from jarvis_workers.c2rust.stages.skeleton import Skeleton, TranslationTarget
from jarvis_workers.c2rust.stages.translated_bodies import NOT_ASKED, UNFINISHED, TranslatePayload, failed_translations
from jarvis_workers.errors import StepFailed
from jarvis_workers.store.values import StageJob
from jarvis_workers.toolchain.cargo import CargoMessage

PASSED = tuple(GateOutcome(name, passed=True) for name in ("check", "reached", "suite"))
NAMES = ("alpha", "beta", "gamma")


class FakeBench:
    """A bench on which texts that contain BREAKS do not build; `broken` is the file in which rustc finds the error."""

    library = shapes = "none"

    def __init__(self, broken: str) -> None:
        self.broken, self.crates = broken, list[dict[str, str]]()

    def write_crate(self, crate: dict[str, str]) -> None:
        self.crates.append(crate)

    def build_library(self) -> tuple[bool, list[CargoMessage]]:
        wrong = any("BREAKS" in text for text in self.crates[-1].values())
        return not wrong, [CargoMessage("error", "E0119", "conflict", self.broken, 1, 1)] if wrong else []

    def name_list(self, _: str, names: list[str]) -> str:
        return ",".join(names)


def item(name: str, text: str) -> CrateItem:
    return CrateItem(name, name, "lib", f'pub unsafe extern "C" fn {name}() {{ {text} }}')


def skeleton() -> Skeleton:
    functions = tuple(FunctionResult(name, "a.c", 1, 1, "lib", name, "fn f()", slot=name) for name in NAMES)
    targets = {name: TranslationTarget(item(name, "forward"), "f", "r", ()) for name in NAMES[:2]}
    bodies = {name: item(name, "mechanical") for name in NAMES}
    return Skeleton(functions, "", {}, bodies, targets=targets)


def translated(name: str, text: str) -> TranslatedBody:
    return TranslatedBody(name, item(name, text).text, 1, (), "", PASSED, 0, signature="fn r()")


@pytest.mark.parametrize(("broken", "left"), [("src/f_beta.rs", "translated"), ("src/types.rs", "forwarded")])
def test_bodies_that_do_not_build_together_give_way(broken: str, left: str) -> None:
    """If rustc names a body, the other one stays; if it names none, both give way."""
    bench = FakeBench(broken)
    bodies = {"alpha": translated("alpha", "right"), "beta": translated("beta", "BREAKS")}
    start = skeleton()
    found = unite(start, list(start.functions), bodies, bench, FastOptions())  # type: ignore[arg-type]

    assert [one.state for one in found.functions] == [left, "forwarded", "forwarded"]
    assert found.functions[1].not_translated == BESIDE
    assert found.functions[2].not_translated == NOT_ASKED
    assert "mechanical" in bench.crates[-1]["src/f_beta.rs"]
    assert found.culprits == frozenset()


def test_bodies_that_use_crates_give_way_first() -> None:
    """Cargo names no body if the crates of two bodies exclude each other."""
    bodies = {"alpha": translated("alpha", "right"), "beta": translated("beta", "BREAKS")}
    start = skeleton()
    found = unite(start, list(start.functions), bodies, FakeBench(""), FastOptions(), {"beta"})  # type: ignore[arg-type]

    assert [one.state for one in found.functions] == ["translated", "forwarded", "forwarded"]


def test_a_mechanical_crate_that_does_not_build_is_a_failure() -> None:
    start = skeleton()
    start.bodies["gamma"] = item("gamma", "BREAKS")  # type: ignore[index]
    with pytest.raises(StepFailed, match="the crate does not build"):
        unite(start, list(start.functions), {}, FakeBench("src/f_gamma.rs"), FastOptions())  # type: ignore[arg-type]


def test_a_failed_job_is_named_with_its_reason() -> None:
    payload = TranslatePayload("beta", "blob").to_json()
    waiting = TranslatePayload("alpha", "blob").to_json()
    outcomes = [
        StageJob("failed", "no model", "beta", 0, payload, None, 0),
        StageJob("done", None, "", 0, "{}", "", 0),
        StageJob("pending", "an earlier attempt", "alpha", 0, waiting, None, 0),
    ]
    start = skeleton()
    bodies = {slot: TranslatedBody(slot, reason=reason) for slot, reason in failed_translations(outcomes).items()}
    found = unite(start, list(start.functions), bodies, FakeBench(""), FastOptions())  # type: ignore[arg-type]
    assert [one.not_translated for one in found.functions] == [UNFINISHED, "no model", NOT_ASKED]


def test_errors_of_rustc_outside_of_the_body_are_told_to_the_model() -> None:
    body = item("alpha", "x")
    errors = [CargoMessage("error", "E0308", "mismatched types", "/rustc/macros.rs", 291, 1)]
    assert error_summary(own_errors(errors, body), body) == "E0308 (type_mismatch) mismatched types: ``"
    with pytest.raises(StepFailed, match="stopped at its limit"):
        own_errors([CargoMessage("error", "", "cargo: stopped at its limit of time", "", 0, 0)], body)
