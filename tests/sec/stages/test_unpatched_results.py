"""Sources without a patch are built and scanned once, not for each attempt at a patch."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from jarvis_workers.agents.tools.tool import ToolOutcome
from jarvis_workers.sec.fix.rule_sites import RuleSites
from jarvis_workers.sec.stages import patch_gates
from jarvis_workers.sec.stages.unpatched_results import UnpatchedResults
from tests.agents.loop.server import ModelServer
from tests.sec.stages.fixing import ANSWER, COPY, FILES, FIX, GOOD, FixPlace, edit
from tests.sec.stages.test_fix_finding import make_place

__all__ = ["make_place"]
MORE = "#include <string.h>\nvoid more(char *out, const char *text)\n{\n    strcpy(out, text);\n}\n"


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """Count the commands and scans over each tree: "base" without a patch, "tree" with it."""
    counts = Counter[tuple[str, str]]()
    run, scan = patch_gates.run_in_copy, patch_gates.scan_trees

    def count_command(runtime: Any, root: Path, *rest: Any) -> Any:
        counts["command", root.name] += 1
        return run(runtime, root, *rest)

    def count_scan(request: Any, *rest: Any) -> Any:
        counts.update(("scan", Path(root).parent.name) for root in request.trees)
        return scan(request, *rest)

    monkeypatch.setattr(patch_gates, "run_in_copy", count_command)
    monkeypatch.setattr(patch_gates, "scan_trees", count_scan)
    return counts


@pytest.mark.slow
def test_a_command_that_fails_thrice_is_run_once_without_a_patch(
    make_place: Callable[[Mapping[str, str]], FixPlace], trees: Counter[tuple[str, str]]
) -> None:
    wrong = edit(COPY, FIX.replace("return length", "return FIRST"))
    steps = [wrong, ANSWER, edit("FIRST", "SECOND"), ANSWER, edit("SECOND", "THIRD"), ANSWER]
    result = make_place(FILES).fix(*steps)

    assert (result.state, result.attempts, result.gates[-1].gate) == ("refused", 3, "build")
    assert trees == {("command", "tree"): 3, ("command", "base"): 1}


@pytest.mark.slow
def test_sources_without_a_patch_are_scanned_once(
    make_place: Callable[[Mapping[str, str]], FixPlace], trees: Counter[tuple[str, str]]
) -> None:
    copy = "    strcpy(out, name);\n"
    steps = [
        edit(copy, f"    if (*name == 0)\n        return 0;\n{copy}"),
        ANSWER,
        edit("return 0;", "return -1;"),
        ANSWER,
    ]
    bound = edit(f"    if (*name == 0)\n        return -1;\n{COPY}", FIX)
    result = make_place(FILES).fix(*steps, bound, ANSWER)

    assert (result.state, result.attempts) == ("fixed", 3), result.reason
    assert {place: number for (what, place), number in trees.items() if what == "scan"} == {"base": 1, "tree": 3}


@pytest.mark.slow
def test_findings_of_other_files_share_what_is_known_of_the_sources(
    make_place: Callable[[Mapping[str, str]], FixPlace], trees: Counter[tuple[str, str]]
) -> None:
    place = make_place(FILES | {"src/more.c": MORE})
    bound = edit("strcpy(out, text);", "out[0] = text[0];", "src/more.c")
    other = place.finding("strcpy(out, text);", "src/more.c")
    results = [place.fix(GOOD, ANSWER)]
    with ModelServer(bound, ANSWER) as server:
        results.append(place.result(place.commit(place.work(other), server)))

    assert [result.state for result in results] == ["fixed", "fixed"], results[1].reason
    assert (trees["scan", "base"], trees["scan", "tree"]) == (1, 2)


def test_what_could_not_be_computed_is_computed_again() -> None:
    results, outcomes = UnpatchedResults(), [ToolOutcome("error"), ToolOutcome("failed"), ToolOutcome()]
    results.add_sites("a", RuleSites(problem="the scan ended"))
    results.add_sites("b", RuleSites())

    assert [results.outcome_of("make", lambda: outcomes.pop(0)).state for _ in range(3)] == [
        "error",
        "failed",
        "failed",
    ]
    assert (results.sites_of("a"), results.sites_of("b")) == (None, RuleSites())
