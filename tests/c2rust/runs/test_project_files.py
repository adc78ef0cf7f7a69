"""The files of a project: what is read from them, and how they are written."""

import json
from pathlib import Path

import pytest

from jarvis_workers.c2rust.graph import link_units
from jarvis_workers.c2rust.library_plan import LibraryPlan
from jarvis_workers.c2rust.order import translation_order
from jarvis_workers.c2rust.runs.project_files import delayed_entries, directory_of, read_project, write_project
from jarvis_workers.c2rust.runs.stated_plans import libraries_of
from jarvis_workers.errors import UsageError
from jarvis_workers.runs.jarvis_directory import make_directory
from tests.c2rust.projects import calls, symbol, unit

MAIN, HELPER = symbol("main", line=1), symbol("helper", "dir/b\udcff.c", 2)
GRAPH = link_units([unit("a.c", [MAIN, HELPER], calls(MAIN, HELPER))])
STEPS = tuple(translation_order(GRAPH))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_project(tmp_path, GRAPH, STEPS)
    return tmp_path


def change(root: Path, name: str, text: str) -> None:
    (directory_of(root) / name).write_text(text)


def test_what_is_written_is_read_back(root: Path) -> None:
    project = read_project(root)

    assert (project.graph, project.order, project.warnings) == (GRAPH, (STEPS, ""), ())
    assert sorted(path.name for path in directory_of(root).iterdir()) == [
        "symbols.jsonl",
        "symbols_raw.jsonl",
        "translation_order.jsonl",
    ]
    lines = (directory_of(root) / "symbols.jsonl").read_text().splitlines()
    assert [json.loads(line)["file"] for line in lines] == ["a.c", r"dir/b\xff.c"]


def test_line_ends_and_a_byte_order_mark_of_editors_are_read(root: Path) -> None:
    path = directory_of(root) / "symbols.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))

    assert read_project(root).graph == GRAPH


def test_without_symbols_the_scan_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no symbols in .*; scan the project first: jarvis c2rust scan -p "):
        read_project(tmp_path)


def test_raw_symbols_count_where_there_are_no_others(root: Path) -> None:
    (directory_of(root) / "symbols.jsonl").unlink()

    assert read_project(root).graph == GRAPH


@pytest.mark.parametrize(
    ("text", "reason"), [("", "is empty"), ('{"ids": [9], "items": []}', "contains ids of unknown symbols")]
)
def test_an_order_that_does_not_fit_is_computed_anew_with_a_line(root: Path, text: str, reason: str) -> None:
    change(root, "translation_order.jsonl", text)
    project = read_project(root)

    assert project.order.steps == STEPS
    assert len(project.warnings) == 1
    assert f"translation_order.jsonl {reason}" in project.warnings[0]
    assert project.warnings[0].endswith(": the order was recomputed")


def test_a_missing_order_is_computed_with_a_line(root: Path) -> None:
    (directory_of(root) / "translation_order.jsonl").unlink()
    project = read_project(root)

    assert project.order.steps == STEPS
    assert project.warnings[0].endswith("translation_order.jsonl is missing: the order was recomputed")


@pytest.mark.parametrize("text", [b"\xff\n", b'{"id": 1, "name": "f"}\n{"id": 1, "name": "g"}\n'])
def test_symbols_that_cannot_be_understood_are_one_error(root: Path, text: bytes) -> None:
    (directory_of(root) / "symbols.jsonl").write_bytes(text)

    with pytest.raises(UsageError, match=r"symbols\.jsonl:? ?(2: id 1|not UTF-8 at byte 0)"):
        read_project(root)


@pytest.mark.parametrize(
    "variable", ["JARVIS_C2RUST_DELAY_ENTRY_SYMBOLS", "JARVIS_C2RUST_DELAY_ENTRIES", "C2RUST_DELAY_ENTRIES"]
)
def test_entries_are_delayed_by_the_environment(root: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    (directory_of(root) / "translation_order.jsonl").unlink()
    monkeypatch.setenv(variable, " helper;unknown,,other ")

    assert delayed_entries() == {"helper", "unknown", "other"}
    assert [step.ids for step in read_project(root, delayed=["helper"]).order.steps] == [(2,), (1,)]


def test_git_tracks_the_files_of_c2rust(tmp_path: Path) -> None:
    make_directory(tmp_path / ".jarvis" / "c2rust", own=True)
    patterns = (tmp_path / ".jarvis" / ".gitignore").read_text().splitlines()

    assert patterns[0] == "*"
    assert {"!triage.yaml", "!rules/**", "!c2rust", "!c2rust/**", "!memory/**", "!skills/**", "!methodologies/**"} <= {
        *patterns
    }


@pytest.mark.parametrize("older", ["*\n", "*\n!triage.yaml\n!rules\n!rules/**\n"])
def test_an_older_gitignore_is_extended_after_a_line_that_says_so(tmp_path: Path, older: str) -> None:
    directory, path = tmp_path / ".jarvis" / "c2rust", tmp_path / ".jarvis" / ".gitignore"
    path.parent.mkdir()
    path.write_text(older)
    make_directory(directory, own=True)
    assert path.read_text() == older

    seen = []
    make_directory(directory, own=True, say=lambda line: seen.append((line, path.read_text())))

    assert [text for _, text in seen] == [older]
    assert "!c2rust/**" in path.read_text()


def test_a_gitignore_of_the_user_is_left_alone(tmp_path: Path) -> None:
    directory, path = tmp_path / ".jarvis" / "c2rust", tmp_path / ".jarvis" / ".gitignore"
    path.parent.mkdir()
    path.write_text("*\n!mine\n")
    make_directory(directory, own=True, say=pytest.fail)

    assert path.read_text() == "*\n!mine\n"


def test_a_link_in_place_of_the_directory_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".jarvis").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UsageError, match="symbolic links"):
        write_project(tmp_path, GRAPH, STEPS)


def test_functions_that_a_person_removes_are_not_for_the_model(root: Path) -> None:
    path = directory_of(root) / "symbols.jsonl"
    assert libraries_of(root) == b""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if json.loads(line)["name"] != "helper"))

    plan = LibraryPlan.model_validate_json(libraries_of(root))
    assert plan == LibraryPlan(aside=frozenset([HELPER.key]))
