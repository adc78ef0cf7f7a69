"""No module imports itself by way of others: not when it is loaded, not within functions, not for types alone."""

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.syntax import parse, statements

ROOT = Path(__file__).parents[1]
PACKAGES = ("jarvis_workers", "jarvis_cli")


def test_no_modules_import_each_other() -> None:
    modules = _modules()
    imports = {name: set(_imports(file, modules)) - {name} for name, file in modules.items()}
    assert sum(map(len, imports.values())) > len(modules)  # else nothing was read

    assert _cycle(imports) == []


def test_a_cycle_is_found() -> None:
    assert sorted(set(_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}))) == ["a", "b", "c"]


def _modules() -> Mapping[str, Path]:
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def _imports(file: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of ours that any import in a file names: of a package its module, where it is one."""
    for node in statements(parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            whole = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module for name in whole)


def _cycle(imports: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of one cycle, each imported by the next; none if there is no cycle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
