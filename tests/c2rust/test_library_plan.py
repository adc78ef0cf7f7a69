"""Which functions a crate leaves out if libraries replace others, on graphs written down as names."""

from dataclasses import replace

import pytest

from jarvis_workers.c2rust.conversion import FunctionResult
from jarvis_workers.c2rust.function_uses import function_uses
from jarvis_workers.c2rust.library_plan import LibraryPlan, library_plan, plan_of_files, with_libraries
from jarvis_workers.c2rust.library_pruning import prune
from jarvis_workers.c2rust.library_replacement import FunctionVerdict, LibraryChoice
from jarvis_workers.c2rust.symbol import SymbolGraph
from tests.c2rust.test_library_pruning import AT, BOX, graph_of

USES = {
    "api": "sort pack",
    "sort": "swap less",
    "pack": "less table",
    "swap": "",
    "less": "",
    "table": "",
    "main": "swap",
}


def keyed(graph: SymbolGraph) -> SymbolGraph:
    """Return the graph with the names of functions as their keys."""
    return SymbolGraph(tuple(replace(one, key=one.name) for one in graph.symbols), graph.edges)


def plan_for(uses: dict[str, str], replaced: str, pruned: str) -> LibraryPlan:
    graph = keyed(graph_of(uses))
    ids = {one.name: one.id for one in graph.symbols}
    choices = {ids[name]: BOX for name in replaced.split()}
    return library_plan(graph, function_uses(graph), choices, [ids[name] for name in pruned.split()])


def test_only_what_replaced_functions_alone_need_is_pruned() -> None:
    """`main` is outside of the roots and stays, with `swap`, which it uses."""
    found = plan_for(USES, "sort", "swap main")
    assert (dict(found.pruned), found.aside) == ({}, {"swap", "main"})
    found = plan_for({**USES, "main": ""}, "sort", "swap main")
    assert (dict(found.pruned), found.aside) == ({"swap": ("sort",)}, {"main"})
    found = plan_for({**USES, "main": ""}, "sort pack", "swap less table main")
    assert dict(found.pruned) == {"less": ("sort", "pack"), "swap": ("sort",), "table": ("pack",)}


def test_the_files_of_a_project_state_the_plan_of_its_run() -> None:
    graph = keyed(graph_of({**USES, "main": ""}))
    ids, uses = {one.name: one.id for one in graph.symbols}, function_uses(graph)
    verdicts = {ids["sort"]: FunctionVerdict(id=ids["sort"], choice=BOX)}
    left = prune(graph, uses, [ids["api"]], verdicts, AT)
    of_run = library_plan(graph, uses, {ids["sort"]: BOX}, left.pruned)
    of_files = plan_of_files(graph, uses, left.graph)
    assert (of_files.pruned, of_files.aside) == (of_run.pruned, of_run.aside)
    assert of_files.replaced["sort"].libraries == ("box",)


def test_replacements_by_other_than_the_allowed_crates_are_left_out() -> None:
    libraries = {"sort": ("std", "Box_A"), "pack": ("box-a", "evil"), "less": ("evil",)}
    plan = LibraryPlan(replaced={name: LibraryChoice(libraries=some) for name, some in libraries.items()})
    found, others = plan.allowed(["box-a"])
    assert (list(found.replaced), others) == (["sort"], ["evil"])


def test_what_a_function_needs_is_not_pruned_if_it_is_not_replaced() -> None:
    plan = plan_for({**USES, "main": ""}, "sort pack", "swap less table main").without(["pack"])
    assert (set(plan.replaced), dict(plan.pruned)) == ({"sort"}, {"swap": ("sort",)})
    assert plan.aside == {"main"}


def function(name: str, **more: object) -> FunctionResult:
    one = FunctionResult(name, "a.c", 1, 9, "a_c", name, state="mechanical", slot=name, proof="compared")
    return replace(one, **more)  # type: ignore[arg-type]


PLAN = LibraryPlan(replaced={"sort": LibraryChoice(libraries=("std",))}, pruned={"swap": ("sort",)})


def settled(sort: FunctionResult, text: str, fixed: tuple[str, ...] = ()) -> tuple[str, ...]:
    functions = [sort, function("swap"), function("less")]
    found = with_libraries(functions, PLAN, lambda slot: slot, {"sort": text}, fixed)
    return tuple(one.state for one in found)


@pytest.mark.parametrize(
    ("sort", "text", "states"),
    [
        (function("sort", state="translated"), "a.sort();", ("replaced", "pruned", "mechanical")),
        (function("sort", state="translated"), "swap(a); // by hand", ("translated", "mechanical", "mechanical")),
        (function("sort", state="translated"), "a.sort(); // no swap", ("replaced", "pruned", "mechanical")),
        (function("sort"), "swap(a);", ("mechanical", "mechanical", "mechanical")),
        (
            function("sort", state="forwarded", cause="different"),
            "a.sort();",
            ("forwarded", "mechanical", "mechanical"),
        ),
    ],
)
def test_functions_are_left_out_only_if_the_replaced_one_calls_its_library(
    sort: FunctionResult, text: str, states: tuple[str, ...]
) -> None:
    assert settled(sort, text) == states


def test_a_function_with_an_effect_on_linking_is_not_left_out() -> None:
    assert settled(function("sort", state="translated"), "a.sort();", ("swap",))[1] == "mechanical"
