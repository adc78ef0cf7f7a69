"""Count the imports between the rooms of the house: python -m tests.support.rooms [ROOT]

A room is a package in the layers of the contract "Imports point down"; the modules of values are one room. Commands are
above all others, but for what they share (`jarvis_cli.kit`), which stands on `runs`. Imports for types alone do not
count, as in contracts.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import grimp

ROOTS = ("jarvis_workers", "jarvis_cli")
KIT, BELOW_KIT, VALUES = "jarvis_cli.kit", "runs", "values"


class Import(NamedTuple):
    """A module that imports another one, with the rooms of both."""

    importer: str
    imported: str
    rooms: tuple[str, str]


class Rooms:
    """The imports of a tree; `layers` are its rooms, the highest first."""

    def __init__(self, layers: Sequence[Sequence[str]], imports: Iterable[tuple[str, str]]) -> None:
        self.layers = layers
        pairs = [Import(one, other, (self._room(one), self._room(other))) for one, other in imports]
        self.imports = [pair for pair in pairs if all(pair.rooms)]

    @property
    def upward(self) -> list[Import]:
        """The imports of a room above, or of another one in the same layer."""
        rank = {room: number for number, layer in enumerate(self.layers) for room in layer}
        return [one for one in self.imports if len({*one.rooms}) > 1 and rank[one.rooms[0]] >= rank[one.rooms[1]]]

    @property
    def share_inside(self) -> float:
        """The share of imports that stay in a room."""
        return sum(one.rooms[0] == one.rooms[1] for one in self.imports) / len(self.imports)

    def _room(self, name: str) -> str:
        """Return the room of a module, "" for the top packages themselves."""
        top, _, rest = name.partition(".")
        if top == "jarvis_cli":
            return KIT if f"{name}.".startswith(f"{KIT}.") else top
        package = rest.partition(".")[0]
        return package if any(package in layer for layer in self.layers) else VALUES if rest else ""


def import_graph(*, types: bool = True) -> grimp.ImportGraph:
    """Return the imports of all modules, with `types` also those that only type checkers see."""
    return grimp.build_graph(*ROOTS, exclude_type_checking_imports=not types, cache_dir=None)


def rooms_of(root: Path) -> Rooms:
    """Read the rooms of the tree whose packages this process imports."""
    graph = import_graph(types=False)
    imports = ((name, other) for name in graph.modules for other in graph.find_modules_directly_imported_by(name))
    return Rooms(layers_of(root), imports)


def layers_of(root: Path) -> list[list[str]]:
    """Return the rooms of a tree by layer, the highest first."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    down = next(one for one in contracts if one["name"] == "Imports point down")
    layers = [re.findall(r"\w+", layer) for layer in down["layers"]]
    kit = next((number for number, layer in enumerate(layers) if BELOW_KIT in layer), 0)
    rooms = [[name for name in layer if (root / "jarvis_workers" / name).is_dir()] for layer in layers]
    rooms.insert(kit, [KIT])
    return [["jarvis_cli"], *(layer for layer in rooms if layer), [VALUES]]


if __name__ == "__main__":
    place = sys.argv[1] if sys.argv[1:] else "."
    sys.path.insert(0, place)
    found = rooms_of(Path(place))
    for one in found.upward:
        print(f"{one.importer} imports {one.imported}: {one.rooms[0]} -> {one.rooms[1]}")
    print(f"{len(found.imports)} imports, {len(found.upward)} upward, {found.share_inside:.1%} inside a room")
