"""ARCHITECTURE.md, docs/architecture/ and docs/adr/ name what exists, and the map is true of the imports."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.syntax import parse

ROOT = Path(__file__).parent.parent
WORKERS = ROOT / "jarvis_workers"
OVERVIEW = ROOT / "ARCHITECTURE.md"
PAGES = (OVERVIEW, *sorted((ROOT / "docs" / "architecture").glob("*.md")))
DOCS = (*PAGES, *sorted((ROOT / "docs" / "adr").glob("*.md")))
MOVES = ROOT / "docs" / "architecture" / "moves.tsv"
LINES_MAX, WIDTH_MAX = 190, 200
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
FILE = re.compile(r"`([\w.-]+(?:/[\w.-]+)*(?:\.py|\.lua|\.toml|/))`")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
FILE_NAMES = {
    path.name for package in ("jarvis_workers", "jarvis_cli", "tests") for path in (ROOT / package).rglob("*")
}
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MAP_ROW = re.compile(r"^\| \[[^\]]+\]\(([^)]+)\)", re.MULTILINE)
GROUPS = ("Faces", "Domains", "Core", "Engines")
COMMANDS, KIT = "jarvis_cli", "jarvis_cli/kit"
# A part that all domains have, in the list before their rows.
PART = re.compile(r"(?:^- |\. )`(\w+)`:", re.MULTILINE)
EXAMPLE = re.compile(r"`([0-9a-f]{8})` (.+)")


class Link(NamedTuple):
    """A relative link: the page it stands in, its text, the file it names, and the anchor behind `#`."""

    page: Path
    text: str
    file: str
    anchor: str


def prose(page: Path) -> str:
    """Return a page without its code blocks and diagrams."""
    return FENCE.sub("", page.read_text())


def section(heading: str) -> str:
    """Return the text of the overview below a heading such as "## Map"."""
    after = OVERVIEW.read_text().partition(f"\n{heading}\n")[2]
    return re.split(rf"^#{{1,{heading.count('#')}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]


def links(page: Path) -> Iterator[Link]:
    """Yield the relative links of a page."""
    for text, target in LINK.findall(prose(page)):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            yield Link(page, text, file, anchor)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    plain = (re.sub(r"[^\w\- ]", "", heading.strip().lower()) for heading in HEADING.findall(prose(page)))
    return {heading.replace(" ", "-") for heading in plain}


def is_broken(link: Link) -> bool:
    target = (link.page.parent / link.file).resolve() if link.file else link.page
    return not target.exists() or bool(link.anchor and link.anchor not in anchors(target))


def is_misnamed(link: Link) -> bool:
    """Whether the text of a link is a path to another place than the link."""
    is_path = ("/" in link.text or link.text.endswith(".py")) and " " not in link.text
    target = (link.page.parent / link.file).resolve()
    return is_path and f"/{link.text.rstrip('/')}" not in target.as_posix()


def exists(name: str) -> bool:
    """Whether a name in a page is a file: by its path, or a name alone wherever it stands."""
    places = [base / name for base in (ROOT, WORKERS)]
    return any(place.exists() for place in places) or ("/" not in name and name in FILE_NAMES)


def package_names() -> set[str]:
    """Return the packages below jarvis_workers, and those of the command line."""
    return {file.parent.name for file in WORKERS.glob("*/__init__.py")} | {COMMANDS, KIT}


@cache
def layers() -> list[set[str]]:
    """Return the packages by layer, the highest first: those of import-linter, and of the command line."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = config["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["name"] == "Imports point down")
    names = [{name.strip(" ()") for name in re.split(r"[|:]", layer)} for layer in contract["layers"]]
    packages = [layer & package_names() for layer in names]
    below_domains = next(number for number, layer in enumerate(packages) if "sec" in layer) + 1
    return [{COMMANDS}, *filter(None, packages[:below_domains]), {KIT}, *filter(None, packages[below_domains:])]


def level(package: str) -> int:
    return next(number for number, names in enumerate(layers()) if package in names)


def map_rows(group: str) -> dict[str, str]:
    """Return the packages of a group of the map, in its order, with what each may import."""
    rows = [line for line in section(f"### {group}").splitlines() if MAP_ROW.match(line)]
    return {MAP_ROW.findall(row)[0].removeprefix("jarvis_workers/"): row.split(" | ")[2] for row in rows}


def all_map_rows() -> dict[str, str]:
    return {name: cell for group in GROUPS for name, cell in map_rows(group).items()}


def may_import(cell: str) -> tuple[set[str], set[str]]:
    """Return the packages that a cell names, and those it allows together: "X and below" are X, its layer and lower."""
    singly, together = set[str](), set[str]()
    for name in cell.split(", "):
        highest = name.removesuffix(" and below")
        if highest != name:
            together |= set[str]().union(*layers()[level(highest) :])
        elif name != "values":
            singly.add(name)
    return singly, together


def imports(package: str) -> set[str]:
    """Return the packages that a package imports when it runs."""
    place = ROOT / package if package in (COMMANDS, KIT) else WORKERS / package
    files = [file for file in place.rglob("*.py") if package != COMMANDS or ROOT / KIT not in file.parents]
    return {name for file in files for name in imports_of(parse(file.read_text()))} & package_names() - {package}


def imports_of(node: ast.AST) -> Iterator[str]:
    """Yield the packages that code imports; imports for type checkers alone are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            package, _, rest = (child.module or "").partition(".")
            names = [rest.split(".")[0]] if rest else [alias.name for alias in child.names]
            if package == "jarvis_workers":
                yield from names
            elif package == COMMANDS:
                yield from (KIT if name == "kit" else COMMANDS for name in names)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        elif not isinstance(child, ast.expr):
            yield from imports_of(child)


def extensions() -> list[list[str]]:
    """Return the cells of the rows that tell how to extend Jarvis."""
    rows = [line for line in section("## How to extend Jarvis").splitlines() if line.startswith("| ")]
    return [row.strip("| ").split(" | ") for row in rows[2:]]


def history() -> dict[str, str]:
    """Return the subjects of the commits by the first digits of their names, or nothing without the whole history."""
    git = shutil.which("git")
    if not git or not (ROOT / ".git").exists() or _output(git, "rev-parse", "--is-shallow-repository") != "false":
        return {}
    commits = _output(git, "log", "--format=%H %s").splitlines()
    return {name[:8]: subject for name, _, subject in (line.partition(" ") for line in commits)}


def _output(git: str, *words: str) -> str:
    """Return what a command of git prints, or nothing if git refuses this repository."""
    return subprocess.run([git, "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout.strip()


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", DOCS, ids=name_of)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    assert [link[1:] for link in links(page) if is_broken(link)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_link_with_a_path_leads_to_that_path(page: Path) -> None:
    assert [link[1:] for link in links(page) if is_misnamed(link)] == []


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
    assert is_broken(Link(OVERVIEW, "", "jarvis_workers/missing.py", ""))
    assert is_broken(Link(OVERVIEW, "", "README.md", "no-such-heading"))
    assert not is_broken(Link(OVERVIEW, "", "", "map"))


def test_a_link_with_the_path_of_another_file_is_misnamed() -> None:
    assert is_misnamed(Link(OVERVIEW, "steps/scanner.py", "jarvis_workers/sec/scanner.py", ""))
    assert not is_misnamed(Link(OVERVIEW, "sec/scanner.py", "jarvis_workers/sec/scanner.py", ""))


def test_every_moved_file_is_where_the_table_of_moves_says() -> None:
    rows = [line.split("\t") for line in MOVES.read_text().splitlines() if not line.startswith("#")]

    assert len(rows) > 900
    assert [new for _, new in rows if new != "-" and not (ROOT / new).exists()] == []


def test_architecture_is_short_and_fits_the_screen() -> None:
    lines = OVERVIEW.read_text().splitlines()

    assert len(lines) <= LINES_MAX
    assert [line for line in lines if len(line) > WIDTH_MAX] == []


def test_every_package_stands_in_the_map_once() -> None:
    rows = [name for group in GROUPS for name in map_rows(group)]

    assert sorted(rows) == sorted(package_names())


def test_every_folder_of_a_package_stands_in_the_map() -> None:
    folders = {file.parent.relative_to(WORKERS).as_posix() for file in WORKERS.glob("*/*/__init__.py")}
    parts = {f"{domain}/{part}" for domain in map_rows("Domains") for part in PART.findall(section("### Domains"))}
    described = {name.removesuffix("/") for name in FILE.findall(section("## Map"))}

    assert folders - parts - described == set()


def test_every_module_beside_the_packages_stands_in_the_map() -> None:
    modules = {file.stem for file in WORKERS.glob("*.py")} - {"__init__"}

    assert modules == set(re.findall(r"`(\w+)`", section("### Values"))) - {"api"}


def test_the_order_of_packages_is_that_of_the_layers_of_imports() -> None:
    order = section("## Map").partition("in this order:")[2].partition("> values.")[0]

    assert [set(re.findall(r"`([\w/]+)`", layer)) for layer in order.split(">")] == layers()


@pytest.mark.parametrize("group", GROUPS)
def test_the_map_follows_the_layers_of_imports(group: str) -> None:
    ordered = [level(name) for name in map_rows(group)]

    assert ordered == sorted(ordered)


@pytest.mark.parametrize("package", all_map_rows())
def test_a_package_imports_what_the_map_allows(package: str) -> None:
    singly, together = may_import(all_map_rows()[package])

    assert imports(package) - together == singly


@pytest.mark.parametrize("package", all_map_rows())
def test_the_map_allows_imports_of_lower_layers_only(package: str) -> None:
    singly, together = may_import(all_map_rows()[package])

    assert [name for name in singly | together if level(name) <= level(package)] == []


def test_the_parts_of_a_page_are_read() -> None:
    assert imports_of(parse("from jarvis_cli import main")).__next__() == COMMANDS
    assert imports_of(parse("from jarvis_cli.kit import exits")).__next__() == KIT
    assert may_import("store, sandbox and below") == ({"store"}, {"sandbox", "source", "toolchain"})


def test_every_invariant_names_its_test() -> None:
    invariants = re.findall(r"^\d+\. .+(?:\n   .+)*$", section("## Invariants"), re.MULTILINE)

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


def test_every_way_to_extend_has_places_and_an_example() -> None:
    rows = extensions()

    assert len(rows) >= 20
    assert [row for row in rows if len(row) != 3 or not EXAMPLE.fullmatch(row[2])] == []
    assert [row for row in rows if not FILE.search(row[1])] == []


def test_every_example_is_a_commit() -> None:
    subjects = history()
    if not subjects:
        pytest.skip("the history of commits is not here")
    examples = [EXAMPLE.findall(row[2])[0] for row in extensions()]

    assert [(name, subject) for name, subject in examples if subjects.get(name) != subject] == []
