"""The second look at a function after a patch: what it names is reported beside the patch, and decides nothing."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from jarvis_workers.sec.fix.result import FixResult, SecondLook
from jarvis_workers.sec.fix_runs.fix_results import FixReport, document, report_lines
from jarvis_workers.sec.fix_runs.report_patches import patch_of
from jarvis_workers.sec.stages.fix_options import FixOptions
from jarvis_workers.store.values import Run
from tests.agents.loop.server import FAULTS, ModelServer, Step, says
from tests.sec.stages.fixing import ANSWER, FILES, GOOD, FixPlace
from tests.sec.stages.test_fix_finding import make_place

__all__ = ["make_place"]
DEFECT = {
    "line": 5,
    "quote": 'int length = snprintf(out, NAME_SIZE, "%s", name);',
    "cwe": 787,
    "description": "Nothing says that out has NAME_SIZE bytes",
}
PLACE = "src/name.c:11"


def submits(*items: Mapping[str, Any]) -> Step:
    return says(json.dumps({"report": items}))


@pytest.fixture
def look(make_place: Callable[[Mapping[str, str]], FixPlace]) -> Callable[..., tuple[FixResult, list[Any]]]:
    """Fix a finding without gates that take time, with these answers to the question that follows."""
    place = make_place(FILES)

    def run(*steps: Step) -> tuple[FixResult, list[Any]]:
        with ModelServer(GOOD, ANSWER, *steps) as server:
            work = place.work(place.finding("strcpy(out, name);"), build="true", tests="true", second_look=True)
            return place.result(place.commit(work, server)), server.requests

    return run


def report_of(result: FixResult) -> FixReport:
    run = Run("r", "sec.fix", "", b"", "s", "direct", "", FixOptions().encode())
    return FixReport(run, [result], is_final=True)


@pytest.mark.slow
def test_what_is_still_wrong_in_a_patched_function_is_reported_beside_the_patch(
    look: Callable[..., tuple[FixResult, list[Any]]],
) -> None:
    result, requests = look(submits(DEFECT))
    system, task = (message["content"] for message in requests[-1]["messages"][:2])
    lines = list(report_lines(report_of(result)))
    (fields,) = document(report_of(result))["fixes"]

    assert (result.state, result.attempts) == ("fixed", 1)
    assert system.startswith("You review a C or C++ function that was patched")
    assert "What is still wrong in this function?" in task
    assert "snprintf(out, NAME_SIZE" in task and "-    strcpy(out, name);" in task
    text = f"{PLACE}: {DEFECT['description']} (CWE-787)"
    assert f"  still wrong in copy_name: {text} (named by a model, not verified)" in lines
    (found,) = fields["second_look"]["still_wrong"]
    assert (found["file"], found["line"], found["cwe"]) == ("src/name.c", 11, 787)
    assert patch_of(result, {}, "src").second_look == (
        f"still wrong in copy_name: {text} (named by a model, not verified)",
    )


@pytest.mark.slow
def test_a_defect_without_a_place_is_not_lost(look: Callable[..., tuple[FixResult, list[Any]]]) -> None:
    nowhere = {**DEFECT, "line": 4_000, "quote": "no such line"}

    result, requests = look(submits(nowhere), submits(nowhere))

    assert result.second_look is not None
    assert (result.state, len(requests)) == ("fixed", 4)
    (line,) = result.second_look.lines()
    assert line.startswith(f"still wrong in copy_name: {DEFECT['description']} (line 4000)")


@pytest.mark.slow
@pytest.mark.parametrize("fault", [says("I am sorry."), FAULTS["401"]], ids=["prose", "refused"])
def test_a_second_look_that_fails_says_so_and_costs_no_patch(
    fault: Step, look: Callable[..., tuple[FixResult, list[Any]]]
) -> None:
    more = [fault] if fault is FAULTS["401"] else [fault, fault]

    result, _ = look(*more)

    assert result.second_look is not None
    assert (result.state, bool(result.patch), result.second_look.defects) == ("fixed", True, ())
    assert next(iter(result.second_look.lines())).startswith("second look at copy_name not complete: ")


@pytest.mark.slow
def test_an_empty_report_says_nothing(look: Callable[..., tuple[FixResult, list[Any]]]) -> None:
    result, _ = look(submits())

    assert result.second_look == SecondLook(function="copy_name")
    assert list(result.second_look.lines()) == []
