"""No module imports itself by way of others: not when it is loaded, not within functions, not for types alone."""

from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter

from tests.support.rooms import import_graph


def test_no_modules_import_each_other() -> None:
    graph = import_graph()
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert sum(map(len, imports.values())) > len(imports)  # else nothing was read

    assert _cycle(imports) == []


def test_a_cycle_is_found() -> None:
    assert sorted(set(_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}))) == ["a", "b", "c"]


def _cycle(imports: Mapping[str, Set[str]]) -> list[str]:
    """Return the modules of one cycle, each imported by the next; none if there is no cycle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
