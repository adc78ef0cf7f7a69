"""The registry of kinds: a kind is found in the package of its domain, or by an entry point."""

import pytest

from jarvis_workers.errors import UsageError
from jarvis_workers.pipeline.stages import (
    RunKind,
    Stage,
    function_of,
    has_pipeline,
    kinds,
    opened_with,
    register_kind,
    stages_of,
    stages_without,
    warm_up,
)
from tests import toy

DRY = ("prepare-dry", "replace-dry", "run-dry", "transpile-dry")
C2RUST = sorted(
    (
        "fast",
        "interface",
        "optimize",
        "partial",
        "partial-fast",
        "prepare",
        "replace",
        "run",
        "scan",
        "skeleton",
        "transpile",
        *DRY,
    )
)
BUILT_IN = ["agent", "ask", *(f"c2rust.{name}" for name in C2RUST), "code", "dispute", "fix"]
BUILT_IN += ["sec.agent", "sec.fast", "sec.import", "sec.ranked", "team"]
OF_TESTS = ["test.cluster", "test.doze", "test.sleep", "test.stop", "test.stuck", "test.unknown", "toy.lines"]


def test_the_registry_lists_built_in_kinds_and_those_of_entry_points() -> None:
    assert list(kinds()) == BUILT_IN + OF_TESTS


@pytest.mark.parametrize("kind", BUILT_IN + OF_TESTS)
def test_a_streamed_stage_is_never_the_first_and_opens_with_the_one_before(kind: str) -> None:
    names = [name for stage in stages_of(kind) if not stage.streamed for name in opened_with(kind, stage.name)]

    assert names == [stage.name for stage in stages_of(kind)]


@pytest.mark.parametrize("kind", ["", "sec", "sec.slow", "toy.count", "../sec", "sec.fast.", "agent.converse"])
def test_a_kind_that_no_package_provides_is_an_error_that_says_what_to_install(kind: str) -> None:
    with pytest.raises(UsageError, match=f'no pipeline for runs of kind "{kind}": install the package'):
        stages_of(kind)
    assert not has_pipeline(kind)


@pytest.mark.parametrize("row", kinds().values(), ids=lambda row: row.name)
def test_the_functions_that_a_row_names_are_there(row: RunKind) -> None:
    assert all(callable(function_of(name)) for name in (row.sandboxes, row.totals) if name)


def test_a_stage_on_a_queue_without_a_pool_is_refused() -> None:
    with pytest.raises(ValueError, match=r'kind "test\.lost": no queue "nowhere"'):
        register_kind(RunKind("test.lost", (Stage("lose", module="x", queue="nowhere"),)))
    assert not has_pipeline("test.lost")


def test_a_kind_cannot_be_replaced() -> None:
    with pytest.raises(ValueError, match="two kinds are registered"):
        register_kind(RunKind("sec.fast", stages_of("sec.agent")))


def test_a_user_may_leave_out_an_optional_stage_and_no_other() -> None:
    assert [stage.name for stage in stages_without(toy.KIND, ["total"])] == ["count"]
    with pytest.raises(UsageError, match='cannot leave out the stage "count": choose among: total'):
        stages_without(toy.KIND, ["count", "total"])
    with pytest.raises(UsageError, match='cannot leave out the stage "nothing": it has no optional stages'):
        stages_without("sec.fast", ["nothing"])


def test_a_worker_process_warms_up_for_its_queue_alone() -> None:
    toy.WARM.clear()
    warm_up("control")
    assert toy.WARM == []
    warm_up("scan")
    assert toy.WARM == [toy.KIND]
