"""One word for one thing: names of classes and modules are unique where a reader would mix them up."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "jarvis_workers"


def test_a_class_name_is_unique() -> None:
    places = defaultdict[str, list[str]](list)
    for file in PACKAGE.rglob("*.py"):
        text = file.read_text()
        for name in _classes(ast.parse(text)) if "class " in text else ():
            places[name].append(file.relative_to(PACKAGE).as_posix())

    assert {name: sorted(files) for name, files in places.items() if len(files) > 1} == {}


def test_a_module_name_is_unique_in_its_package() -> None:
    places = defaultdict[tuple[str, str], list[str]](list)
    for file in PACKAGE.rglob("*.py"):
        where = file.relative_to(PACKAGE)
        if file.name != "__init__.py":
            # Each domain has a package of its own below `steps`.
            package = "/".join(where.parts[: 2 if where.parts[0] == "steps" else 1])
            places[package, file.name].append(where.as_posix())

    assert {key: sorted(files) for key, files in places.items() if len(files) > 1} == {}


def _classes(tree: ast.Module) -> list[str]:
    """Return the classes at the top of a module, those of an `if` or `try` once."""
    return sorted({node.name for top in tree.body for node in _tops(top) if isinstance(node, ast.ClassDef)})


def _tops(node: ast.stmt) -> list[ast.stmt]:
    return [node, *node.body, *node.orelse] if isinstance(node, ast.If) else [node]
