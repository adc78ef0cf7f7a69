"""In which order a model translates functions."""

from hypothesis import given
from hypothesis import strategies as st

from jarvis_workers.c2rust.symbol import SymbolGraph
from jarvis_workers.c2rust.translation_weights import RiskyFiles, translation_weights
from tests.c2rust.graphs import graph_of

NOTHING: RiskyFiles = {}


def order(graph: SymbolGraph, risky: RiskyFiles = NOTHING) -> list[str]:
    """Return the names of the functions, the heaviest first, then by id."""
    weights = translation_weights(graph, risky)
    return [one.name for one in sorted(graph.symbols, key=lambda one: (-weights[one.key], one.id))]


def test_callees_come_first_and_then_the_longest_chain_of_callers() -> None:
    graph = graph_of(["main", "parse", "token", "peek", "print"], [(1, 2), (2, 3), (3, 4), (1, 5)])
    assert order(graph) == ["peek", "token", "parse", "print", "main"]


def test_functions_that_call_each_other_have_one_weight() -> None:
    weights = translation_weights(graph_of(["main", "even", "odd", "half"], [(1, 2), (2, 3), (3, 2), (3, 4)]), NOTHING)
    assert list(weights.values()) == [1, 3, 3, 4]


def test_functions_of_risky_files_come_before_all_others() -> None:
    """In `b.c`, the function with a finding of a rule that is easy to confirm is the first of all."""
    places = {"b": {"file": b"b.c"}, "log": {"file": b"b.c", "line": 100}}
    graph = graph_of(["main", "a", "b", "log"], [(1, 2), (2, 3), (1, 4)], **places)
    assert order(graph) == ["b", "a", "log", "main"]
    assert order(graph, {"b.c": (), "gone.c": (1,)}) == ["b", "log", "a", "main"]
    assert order(graph, {"b.c": (104,)}) == ["log", "b", "a", "main"]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=30))
def test_no_caller_comes_before_a_callee_outside_of_its_cycle(calls: list[tuple[int, int]]) -> None:
    graph = graph_of([f"f{number}" for number in range(1, 10)], [*dict.fromkeys(calls)])
    weights = translation_weights(graph, NOTHING)
    reached = {number: _reached(number, calls) for number in range(1, 10)}
    for caller, callee in calls:
        heavier = weights[graph.by_id[callee].key] > weights[graph.by_id[caller].key]
        assert heavier or caller in reached[callee]


def _reached(start: int, calls: list[tuple[int, int]]) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        caller = waiting.pop()
        for one, callee in calls:
            if one == caller and callee not in found:
                found.add(callee)
                waiting.append(callee)
    return found
