"""No module imports itself by way of others: not when it is loaded, not within functions, not for types alone."""

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.support.rooms import imports_of, modules_of

ROOT = Path(__file__).parents[1]


def test_no_modules_import_each_other() -> None:
    modules = modules_of(ROOT)
    imports = {name: set(imports_of(file, modules)) - {name} for name, file in modules.items()}
    assert sum(map(len, imports.values())) > len(modules)  # else nothing was read

    assert _cycle(imports) == []


def test_a_cycle_is_found() -> None:
    assert sorted(set(_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}))) == ["a", "b", "c"]


def _cycle(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of one cycle, each imported by the next; none if there is no cycle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
