"""Recipes of trees with known security fixes: where the code before the fixes is, and what a reader should find there.

`trees.json` names public repositories; none of their code is part of this repository. A fix has the places where its
defect is, each a function with its lines in the commit of the recipe, and the numbers of its weaknesses (CWE).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

PUBLIC = Path(__file__).with_name("trees.json")
# True defects beside the fixes; proofs add to them.
PUBLIC_LABELS = PUBLIC.with_name("labels.json")
# Trees with planted defects that are part of this repository.
OWN = Path(__file__).parents[2] / "data" / "reading"

FirstRead = Literal["product", "plain"]


@dataclass(frozen=True)
class Place:
    """A function with a defect, by its file and lines."""

    file: str
    function: str
    first: int
    last: int

    def contains(self, file: str, line: int) -> bool:
        """Return whether a line is in the function; `file` may be below a subdirectory of the tree, or the reverse."""
        return is_same_file(self.file, file) and self.first <= line <= self.last


@dataclass(frozen=True)
class Fix:
    """A known defect: the commit that fixed it, its weaknesses, and where it is before that commit."""

    commit: str
    date: str
    what: str
    cwes: tuple[int, ...]
    places: tuple[Place, ...]
    id: str = ""


@dataclass(frozen=True)
class Tree:
    """Some paths of a repository at a commit in which all fixes are missing; `lines` are those of its sources."""

    name: str
    repository: str
    commit: str
    paths: tuple[str, ...]
    lines: int
    first_read: FirstRead
    fixes: tuple[Fix, ...] = ()
    without: tuple[str, ...] = ()

    def selects(self, path: str) -> bool:
        """Return whether a path of the repository belongs to the tree."""
        inside = any(one in (".", path) or path.startswith(f"{one}/") for one in self.paths)
        return inside and not path.startswith(self.without)


def load_trees(*files: Path) -> dict[str, Tree]:
    """Read recipes, by default all of them, by name."""
    rows = [row for file in files or (PUBLIC, OWN / "trees.json") for row in json.loads(file.read_text())]
    trees = {row["name"]: _tree(row) for row in rows}
    if len(trees) < len(rows):
        raise ValueError("two recipes have the same name")
    return trees


def is_same_file(one: str, other: str) -> bool:
    """Return whether two paths name the same file if one of them is relative to a subdirectory."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _tree(row: dict[str, Any]) -> Tree:
    fixes = tuple(_fix(one) for one in row["fixes"])
    return Tree(**{**row, "fixes": fixes, "paths": tuple(row["paths"]), "without": tuple(row.get("without", ()))})


def _fix(row: dict[str, Any]) -> Fix:
    places = tuple(Place(**place) for place in row["places"])
    return Fix(**{**row, "cwes": tuple(row["cwes"]), "places": places})
