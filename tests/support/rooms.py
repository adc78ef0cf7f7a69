"""Count the imports between the rooms of the house: python -m tests.support.rooms [ROOT]

A room is a package in the layers of the contract "Imports point down"; the modules of values are one room. Commands are
above all others, but for what they share (`jarvis_cli.kit`), which stands on `runs`. Imports for types alone do not
count, as in contracts.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.syntax import parse, statements

ROOTS = ("jarvis_workers", "jarvis_cli")
KIT, BELOW_KIT, VALUES = "jarvis_cli.kit", "runs", "values"


class Import(NamedTuple):
    """A module that imports another one, with the rooms of both."""

    importer: str
    imported: str
    rooms: tuple[str, str]


class Rooms(NamedTuple):
    """The imports of a tree; `layers` are its rooms, the highest first."""

    layers: Sequence[Sequence[str]]
    imports: Sequence[Import]

    @property
    def upward(self) -> list[Import]:
        """The imports of a room above, or of another one in the same layer."""
        rank = {room: number for number, layer in enumerate(self.layers) for room in layer}
        return [
            one for one in self.imports if one.rooms[0] != one.rooms[1] and rank[one.rooms[0]] >= rank[one.rooms[1]]
        ]

    @property
    def share_inside(self) -> float:
        """The share of imports that stay in a room."""
        return sum(one.rooms[0] == one.rooms[1] for one in self.imports) / len(self.imports)


def rooms_of(root: Path) -> Rooms:
    """Read the rooms of a tree and their imports."""
    files = modules_of(root)
    layers = _layers(root, {name.split(".")[1] for name in files if name.count(".")})
    room_of = {name: _room(name, layers) for name in files}
    imports = [
        Import(name, other, (room_of[name], room_of[other]))
        for name, file in files.items()
        for other in sorted(set(imports_of(file, files, types=False)) - {name})
        if room_of[name] and room_of[other]
    ]
    return Rooms(layers, imports)


def _layers(root: Path, packages: set[str]) -> list[list[str]]:
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    down = next(one for one in contracts if one["name"] == "Imports point down")
    layers = [re.findall(r"\w+", layer) for layer in down["layers"]]
    kit = next((number for number, layer in enumerate(layers) if BELOW_KIT in layer), 0)
    single = {name for name in packages if not (root / "jarvis_workers" / name).is_dir()}
    rooms = [[name for name in layer if name not in single] for layer in layers]
    rooms.insert(kit, [KIT])
    return [["jarvis_cli"], *(layer for layer in rooms if layer), [VALUES]]


def _room(name: str, layers: Sequence[Sequence[str]]) -> str:
    """Return the room of a module, "" for the top packages themselves."""
    top, _, rest = name.partition(".")
    if top == "jarvis_cli":
        return KIT if name.startswith(KIT) else top
    package = rest.partition(".")[0]
    return package if any(package in layer for layer in layers) else VALUES if rest else ""


def modules_of(root: Path) -> dict[str, Path]:
    """Return the modules and packages of a tree, by their dotted names."""
    files = (file for top in ROOTS for file in (root / top).rglob("*.py"))
    return {".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def imports_of(file: Path, modules: Mapping[str, Path], *, types: bool = True) -> Iterator[str]:
    """Yield the modules of ours that imports in a file name: of a package its module, where it is one.

    With `types` also those that only type checkers see.
    """
    tree = parse(file.read_bytes())
    hidden = (
        set()
        if types
        else {id(node) for branch in statements(tree) if _is_typing(branch) for node in statements(branch)}
    )
    for node in (node for node in statements(tree) if id(node) not in hidden):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module in modules:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield name if name in modules else node.module


def _is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


if __name__ == "__main__":
    found = rooms_of(Path(sys.argv[1] if sys.argv[1:] else "."))
    for one in found.upward:
        print(f"{one.importer} imports {one.imported}: {one.rooms[0]} -> {one.rooms[1]}")
    print(f"{len(found.imports)} imports, {len(found.upward)} upward, {found.share_inside:.1%} inside a room")
