"""ARCHITECTURE.md, docs/architecture/ and docs/adr/ name what exists, and the map is true of the imports."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.syntax import parse

ROOT = Path(__file__).parent.parent
WORKERS = ROOT / "jarvis_workers"
OVERVIEW = ROOT / "ARCHITECTURE.md"
DOCS = (OVERVIEW, *sorted((ROOT / "docs" / "architecture").glob("*.md")), *sorted((ROOT / "docs" / "adr").glob("*.md")))
LINES_MAX = 120
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)*(?:\.py|\.lua|\.toml|/))`")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FILE_NAMES = {
    path.name for package in ("jarvis_workers", "jarvis_cli", "tests") for path in (ROOT / package).rglob("*")
}
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MAP_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+)\)", re.MULTILINE)


class Link(NamedTuple):
    """A relative link: the page it stands in, the file it names, and the anchor behind `#`."""

    page: Path
    file: str
    anchor: str


def prose(page: Path) -> str:
    """Return a page without its code blocks and diagrams."""
    return FENCE.sub("", page.read_text())


def links(page: Path) -> Iterator[Link]:
    """Yield the relative links of a page."""
    for target in LINK.findall(prose(page)):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            yield Link(page, file, anchor)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    plain = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in HEADING.findall(prose(page)))
    return {heading.replace(" ", "-") for heading in plain}


def is_broken(link: Link) -> bool:
    target = (link.page.parent / link.file).resolve() if link.file else link.page
    return not target.exists() or bool(link.anchor and link.anchor not in anchors(target))


def exists(name: str) -> bool:
    """Whether a name in a page is a file: by its path, or a name alone wherever it stands."""
    places = [base / name for base in (ROOT, WORKERS)]
    return any(place.exists() for place in places) or ("/" not in name and name in FILE_NAMES)


def map_rows() -> list[str]:
    """Return the packages of the map, in its order."""
    section = OVERVIEW.read_text().partition("\n## Map\n")[2].partition("\n## ")[0]
    return [Path(target).name.removesuffix(".py") for _, target in MAP_ROW.findall(section)]


def may_import() -> dict[str, set[str]]:
    """Return what the map lets each package import: what its cell names, and with "X and below" the rows below X."""
    names, allowed = map_rows(), {}
    section = OVERVIEW.read_text().partition("\n## Map\n")[2].partition("\n## ")[0]
    cells = [line.split(" | ")[3] for line in section.splitlines() if MAP_ROW.match(line)]
    for name, cell in zip(names, cells, strict=True):
        named = set(re.findall(r"\w+", cell)) & set(names)
        first = name if cell == "all below" else cell.removesuffix(" and below")
        allowed[name] = named | set(names[names.index(first) + 1 :] if first in names else ())
    return allowed


def imports(package: str) -> set[str]:
    """Return the packages of jarvis_workers that a package imports when it runs."""
    place = ROOT / package if package == "jarvis_cli" else WORKERS / package
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    return {name for file in files for name in imports_of(parse(file.read_text()))} - {package}


def imports_of(node: ast.AST) -> Iterator[str]:
    """Yield the packages that code imports; imports for type checkers alone are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            package, _, rest = (child.module or "").partition(".")
            if package == "jarvis_workers":
                yield from [rest.split(".")[0]] if rest else [alias.name for alias in child.names]
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(child, ast.expr):
            yield from imports_of(child)


def layers() -> list[set[str]]:
    """Return the layers that import-linter holds, the highest first."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = (one for one in config["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [{name.strip(" ()").rpartition(".")[2] for name in re.split(r"[|:]", layer)} for layer in contract["layers"]]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert [link[1:] for link in links(page) if is_broken(link)] == []


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_every_file_and_directory_in_backticks_exists(page: Path) -> None:
    named = FILE.findall(prose(page))

    assert [name for name in named if not exists(name)] == []


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_every_test_in_backticks_exists(page: Path) -> None:
    def is_missing(file: str, test: str) -> bool:
        path = ROOT / file
        return not path.exists() or not re.search(rf"^(async )?def {test}\(", path.read_text(), re.MULTILINE)

    assert [(file, test) for file, test in TEST.findall(prose(page)) if is_missing(file, test)] == []


def test_a_missing_file_or_heading_is_a_broken_link() -> None:
    assert is_broken(Link(OVERVIEW, "jarvis_workers/missing.py", ""))
    assert is_broken(Link(OVERVIEW, "README.md", "no-such-heading"))
    assert not is_broken(Link(OVERVIEW, "", "map"))


def test_architecture_fits_on_a_page() -> None:
    assert len(OVERVIEW.read_text().splitlines()) <= LINES_MAX


def test_every_package_stands_in_the_map() -> None:
    packages = {file.parent.name for file in WORKERS.glob("*/__init__.py")}

    assert packages <= set(map_rows())


def test_the_map_follows_the_layers_of_imports() -> None:
    level = {name: number for number, names in enumerate(layers()) for name in names}
    ordered = [level[name] for name in map_rows() if name in level]

    assert ordered == sorted(ordered)


@pytest.mark.parametrize("package", map_rows())
def test_a_package_imports_what_the_map_allows(package: str) -> None:
    assert (imports(package) & set(map_rows())) - may_import()[package] == set()


def test_the_map_allows_imports_of_rows_below_only() -> None:
    names, allowed = map_rows(), may_import()

    assert [name for name in names if not allowed[name] <= set(names[names.index(name) + 1 :])] == []


def test_every_invariant_names_its_test() -> None:
    section = OVERVIEW.read_text().partition("\n## Invariants\n")[2].partition("\n## ")[0]
    invariants = re.findall(r"^\d+\. .+$", section, re.MULTILINE)

    assert len(invariants) >= 10
    assert [line for line in invariants if not TEST.search(line)] == []


def test_every_page_is_reachable_from_the_overview() -> None:
    reached = {OVERVIEW}
    waiting = [OVERVIEW]
    while waiting:
        page = waiting.pop()
        for link in links(page):
            target = (page.parent / link.file).resolve()
            if link.file and target in DOCS and target not in reached:
                reached.add(target)
                waiting.append(target)

    assert set(DOCS) - reached == set()
