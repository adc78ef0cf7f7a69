"""Which functions are judged, and which remain, on graphs written down as names; the expectations are by hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.c2rust.function_uses import function_uses, root_functions
from jarvis_workers.c2rust.library_pruning import PrunedGraph, earlier_verdicts, open_functions, prune
from jarvis_workers.c2rust.library_replacement import FunctionVerdict, LibraryChoice
from jarvis_workers.c2rust.symbol import Edge, SymbolGraph
from jarvis_workers.errors import UsageError
from tests.c2rust.graphs import symbol

BOX = LibraryChoice(libraries="box")
AT = "2026-01-01T00:00:00+00:00"


def graph_of(uses: Mapping[str, str], addresses: Sequence[str] = (), **categories: str) -> SymbolGraph:
    """Return the graph of some symbols, in this order, with the names that each uses.

    `categories` are those of symbols that are no functions; `addresses` are edges such as "f g".
    """
    numbers = {name: number for number, name in enumerate(uses, 1)}
    symbols = [symbol(numbers[name], name, category=categories.get(name, "function")) for name in uses]
    edges = [Edge(numbers[name], numbers[used], "call") for name, all_used in uses.items() for used in all_used.split()]
    edges += [Edge(*(numbers[name] for name in pair.split()), "address") for pair in addresses]
    return SymbolGraph(tuple(symbols), tuple(sorted(edges)))


def names_of(graph: SymbolGraph, numbers: Iterable[int]) -> str:
    return " ".join(graph.by_id[number].name for number in numbers)


def roots_of(graph: SymbolGraph, names: Sequence[str] = ()) -> str:
    return names_of(graph, root_functions(graph, function_uses(graph), names))


def judged(
    graph: SymbolGraph, replaced: str, roots: Sequence[str] = (), entries: str = ""
) -> dict[int, FunctionVerdict]:
    """Judge functions until none is left, those in `replaced` positively; return the verdicts in order."""
    uses = function_uses(graph)
    start = root_functions(graph, uses, roots)
    special = {one.id for one in graph.symbols if one.name in entries.split()}
    verdicts = earlier_verdicts(graph)
    while number := next(open_functions(uses, start, verdicts, special), None):
        choice = BOX if graph.by_id[number].name in replaced.split() else None
        verdicts[number] = FunctionVerdict(id=number, choice=choice)
    return verdicts


def pruned(graph: SymbolGraph, verdicts: Mapping[int, FunctionVerdict], roots: Sequence[str] = ()) -> PrunedGraph:
    uses = function_uses(graph)
    return prune(graph, uses, root_functions(graph, uses, roots), verdicts, AT)


TREE = graph_of({"main": "a b", "a": "c d", "b": "d e", "c": "f", "d": "g", "e": "", "f": "", "g": ""})


def test_parents_are_judged_before_children_and_children_of_a_replaced_function_never() -> None:
    assert names_of(TREE, judged(TREE, "a")) == "main a b d e g"
    assert names_of(TREE, judged(TREE, "")) == "main a b c d e f g"
    assert names_of(TREE, judged(TREE, "main")) == "main"


def test_an_entry_point_is_not_judged_but_its_children_are() -> None:
    assert names_of(TREE, judged(TREE, "main a", entries="main")) == "a b d e g"


def test_only_what_nobody_else_needs_is_pruned() -> None:
    found = pruned(TREE, judged(TREE, "a"))

    assert names_of(TREE, found.pruned) == "c f"
    assert names_of(TREE, found.replaced) == "a"
    a = found.graph.by_id[2]
    assert a.replacement is not None
    assert (a.replacement.references, a.replacement.updated_at) == (["lib::box"], AT)
    assert [edge for edge in found.graph.edges if edge.caller == 2] == []


def test_a_callback_belongs_to_the_function_that_passes_it_on() -> None:
    graph = graph_of({"sort": "", "compare": "", "other": ""}, ["sort compare"])

    assert roots_of(graph) == "sort other"
    assert names_of(graph, pruned(graph, judged(graph, "sort")).pruned) == "compare"


def test_functions_of_an_exported_table_stay_and_those_of_a_static_table_belong_to_its_users() -> None:
    graph = graph_of({"api": "f", "f": "table", "table": "g", "g": ""}, api="global", table="global")
    static = SymbolGraph(
        tuple(replace(one, facts=("internal",)) if one.name == "table" else one for one in graph.symbols), graph.edges
    )

    assert roots_of(graph) == "f g"
    assert roots_of(static) == "f"
    assert names_of(static, pruned(static, judged(static, "f")).pruned) == "g"
    assert names_of(graph, pruned(graph, judged(graph, "f")).pruned) == ""


def test_a_cycle_of_roots_is_judged_function_by_function() -> None:
    graph = graph_of({"a": "b", "b": "a c", "c": "", "main": ""})

    assert roots_of(graph) == "main a b c"
    assert names_of(graph, judged(graph, "a b")) == "main a b c"
    assert names_of(graph, pruned(graph, judged(graph, "a b")).pruned) == ""


def test_a_cycle_below_a_root_ends_and_is_pruned_with_it() -> None:
    graph = graph_of({"top": "a", "a": "b a", "b": "a"})

    assert names_of(graph, judged(graph, "")) == "top a b"
    assert names_of(graph, pruned(graph, judged(graph, "top")).pruned) == "a b"


def test_named_roots_limit_the_scope_and_types_are_never_pruned() -> None:
    graph = graph_of({"main": "a t", "a": "b", "b": "", "t": "", "m": "b"}, t="type", m="macro")
    found = pruned(graph, judged(graph, "", ["b"]), ["b"])

    assert names_of(graph, judged(graph, "", ["b", "a", "b"], entries="main")) == "b a"
    assert names_of(graph, found.pruned) == "main a"
    assert [one.name for one in found.graph.symbols] == ["b", "t", "m"]
    with pytest.raises(UsageError, match='no function is named "mian" \\(did you mean "main"\\?\\)'):
        roots_of(graph, ["mian"])


def test_a_function_that_was_replaced_before_is_not_judged_again() -> None:
    first = pruned(TREE, judged(TREE, "a")).graph
    again = judged(first, "e")

    assert earlier_verdicts(first).keys() < again.keys()
    assert names_of(first, again) == "a main b d e g"
    second = pruned(first, again)
    assert names_of(TREE, second.replaced) == "a e"
    assert second.graph.by_id[2] == first.by_id[2]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=25), st.sets(st.integers(1, 9)), st.randoms())
def test_the_result_does_not_depend_on_the_order_of_answers(
    pairs: list[tuple[int, int]], replaced: set[int], dice: "object"
) -> None:
    symbols = tuple(symbol(number, f"f{number}") for number in range(1, 10))
    graph = SymbolGraph(symbols, tuple(sorted({Edge(one, other, "call") for one, other in pairs})))
    uses = function_uses(graph)
    roots = root_functions(graph, uses)

    def verdict(number: int) -> FunctionVerdict:
        return FunctionVerdict(id=number, choice=BOX if number in replaced else None)

    verdicts: dict[int, FunctionVerdict] = {}
    waiting = list(open_functions(uses, roots, verdicts, ()))
    while waiting:
        number = waiting.pop(dice.randrange(len(waiting)))  # type: ignore[attr-defined]
        if number not in verdicts:
            verdicts[number] = verdict(number)
            waiting += open_functions(uses, [number], {number: verdicts[number]}, ())

    one_by_one = judged(graph, " ".join(f"f{number}" for number in replaced))
    assert verdicts == one_by_one
    found = pruned(graph, verdicts)
    assert found == pruned(graph, one_by_one)
    assert set(roots) <= {one.id for one in found.graph.symbols}
    assert {one.id for one in found.graph.symbols} | set(found.pruned) == set(range(1, 10))
